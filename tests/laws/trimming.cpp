// Trimming, rule by rule, held to every law on every message type.
#include "support/generators_hostile.hpp"

#include "support/laws.hpp"
#include "support/tuned_trimming.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

TrimmingSettings eager() { return eager_trimming(TrimUnit::lines); }

TrimmingSettings eager_by_passages() { return eager_trimming(TrimUnit::passages); }

TrimmingSettings eager_on_old_text() {
    TrimmingSettings settings = eager();
    settings.config.drop_known_lines_on_arrival = false;
    return settings;
}

}  // namespace

// Plans follow words, not sizes alone: L11 is in tests/trimming/trimming.cpp.
WHITTLE_LAWS("trimming of all there is", [](auto type) { return TunedTrimming<MessageOf<decltype(type)>>{eager()}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("trimming by passages",
             [](auto type) { return TunedTrimming<MessageOf<decltype(type)>>{eager_by_passages()}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("trimming by passages without a store",
             [](auto type) { return TunedTrimming<MessageOf<decltype(type)>>{eager_by_passages()}; },
             {.with_storage = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("trimming of old text without a store",
             [](auto type) { return TunedTrimming<MessageOf<decltype(type)>>{eager_on_old_text()}; },
             {.with_storage = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("trimming as it is made, in Chinese", [](auto type) { return Trimming<MessageOf<decltype(type)>>{}; },
             {.language = Language::chinese, .looks_at_sizes_only = false})

WHITTLE_LAWS("trimming that starts late",
             [](auto type) {
                 TrimmingSettings settings = eager();
                 settings.config.start_tokens = 150;
                 return TunedTrimming<MessageOf<decltype(type)>>{settings};
             },
             {.looks_at_sizes_only = false})

TEST_CASE("trimming keeps the laws on histories of every hostile shape", "[laws]") {
    for_each_message_type([](auto type) {
        using M = MessageOf<decltype(type)>;
        const Subject<M> subject = subject_of<M>([](auto t) { return TunedTrimming<MessageOf<decltype(t)>>{eager()}; },
                                                 {.looks_at_sizes_only = false});
        for (const HostileShape& shape : hostile_shapes()) {
            const History history = shape.make(12);
            for (const std::string_view id : {"L1", "L2", "L3", "L4", "L5", "L6", "L7"}) {
                INFO(Builder<M>::name << ", " << shape.name << ", " << id);
                const Failures failures = law<M>(id).check(subject, history);
                CHECK(failures == Failures{});
            }
        }
    });
}
