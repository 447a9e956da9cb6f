// Trimming, rule by rule, held to every law on every message type.
#include "support/generators_hostile.hpp"

#include "support/laws.hpp"
#include "whittle/trimming/trimming.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Whatever may go goes soon, however small it is.
TrimmingConfig eager() {
    return {.unit = TrimUnit::lines,
            .start_tokens = 0,
            .cold_start_tokens = 0,
            .first_calls = 0,
            .look_every_calls = 1,
            .min_result_bytes = 10,
            .min_argument_bytes = 10,
            .argument_age_calls = 1,
            .line_age_calls = 2,
            .rare_line_age_calls = 1,
            .plain_line_age_calls = 1,
            .pause_line_age_calls = 1,
            .pause_rare_line_age_calls = 1,
            .extract_bytes = 40,
            .extract_line_bytes = 30,
            .error_line_bytes = 30,
            .extract_age_calls = 2,
            .arrival_min_bytes = 20,
            .arrival_head_chars = 8};
}

TrimmingConfig eager_by_passages() {
    TrimmingConfig config = eager();
    config.unit = TrimUnit::passages;
    config.whole_calls = config.pause_whole_calls = config.most_whole_calls = 1;
    config.passage_lines = 2;
    config.passage_age_calls = config.written_age_calls = 2;
    return config;
}

TrimmingConfig eager_on_old_text() {
    TrimmingConfig config = eager();
    config.trim_on_arrival = false;
    return config;
}

}  // namespace

// Plans follow words, not sizes alone: L11 is in tests/trimming/trimming.cpp.
WHITTLE_LAWS("trimming of all there is", [](auto type) { return Trimming<MessageOf<decltype(type)>>{eager()}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("trimming by passages", [](auto type) { return Trimming<MessageOf<decltype(type)>>{eager_by_passages()}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("trimming by passages without a store",
             [](auto type) { return Trimming<MessageOf<decltype(type)>>{eager_by_passages()}; },
             {.with_storage = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("trimming of old text without a store",
             [](auto type) { return Trimming<MessageOf<decltype(type)>>{eager_on_old_text()}; },
             {.with_storage = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("trimming as it is made, in Chinese", [](auto type) { return Trimming<MessageOf<decltype(type)>>{}; },
             {.language = Language::chinese, .looks_at_sizes_only = false})

WHITTLE_LAWS("trimming that starts late",
             [](auto type) {
                 TrimmingConfig config = eager();
                 config.start_tokens = config.cold_start_tokens = config.arrival_start_tokens = 150;
                 return Trimming<MessageOf<decltype(type)>>{config};
             },
             {.looks_at_sizes_only = false})

TEST_CASE("trimming keeps the laws on histories of every hostile shape", "[laws]") {
    for_each_message_type([](auto type) {
        using M = MessageOf<decltype(type)>;
        const Subject<M> subject = subject_of<M>([](auto t) { return Trimming<MessageOf<decltype(t)>>{eager()}; },
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
