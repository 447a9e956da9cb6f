// The laws on histories that hold thousands of what a session usually has a few of: one id for all calls, calls that
// nobody answers, results that nobody asked for.
#include "support/generators_hostile.hpp"

#include "support/laws.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Not L9, which fails at every single allocation and write of a history.
constexpr std::array<std::string_view, 7> laws_for_many{"L1", "L2", "L3", "L4", "L5", "L6", "L7"};

template <AgentMessage M>
void check_many(const Subject<M>& subject, const HostileShape& shape, std::size_t n) {
    const History history = shape.make(n);
    for (const std::string_view id : laws_for_many) {
        INFO(Builder<M>::name << ", " << shape.name << ", " << id);
        const Failures failures = law<M>(id).check(subject, history);
        CHECK(failures == Failures{});
    }
}

ReductionConfig clearing_and_arguments() {
    ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 50};
    config.clear_tool_inputs = true;
    return config;
}

}  // namespace

TEST_CASE("the laws hold on histories of every hostile shape", "[laws]") {
    for_each_message_type([](auto type) {
        using M = MessageOf<decltype(type)>;
        const Subject<M> subject =
            subject_of<M>([](auto t) { return Reduction<MessageOf<decltype(t)>>{clearing_and_arguments()}; });
        for (const HostileShape& shape : hostile_shapes()) check_many<M>(subject, shape, 12);
    });
}

TEST_CASE("the laws hold where hundreds and thousands of calls and results have one id, or none", "[laws]") {
    const Subject<ChatMessage> subject = subject_of<ChatMessage>([](auto) {
        return Reduction<ChatMessage>{ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 50}};
    });
    for (const HostileShape& shape : hostile_shapes()) {
        constexpr std::array<std::string_view, 4> many{"open_calls_same_id", "orphans_same_id", "orphans_no_id",
                                                       "answered_again"};
        if (std::ranges::find(many, shape.name) != many.end())
            check_many<ChatMessage>(subject, shape, is_soak() ? 2'000 : 500);
    }
}
