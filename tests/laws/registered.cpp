// Middlewares held to every law on every message type: one line adds one. Others have theirs in tests of their own.
#include "support/laws.hpp"
#include "support/laws_random_editor.hpp"
#include "whittle/reduction/reduction.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

ReductionConfig clearing(std::int64_t above) { return {.skip_truncation = true, .max_tokens_for_clear = above}; }

ReductionConfig clearing_to(std::int64_t above, std::int64_t target, std::int64_t at_least) {
    ReductionConfig config = clearing(above);
    config.clear_target_tokens = target;
    config.clear_at_least_tokens = at_least;
    return config;
}

ReductionConfig clearing_but(std::int64_t above, int rounds) {
    ReductionConfig config = clearing(above);
    config.clear_retention_suffix_limit = rounds;
    config.clear_exclude_tools = {"grep"};
    return config;
}

ReductionConfig everything(std::int64_t bytes, std::int64_t above) {
    ReductionConfig config{.max_length_for_trunc = bytes, .max_tokens_for_clear = above};
    config.clear_tool_inputs = true;
    return config;
}

ReductionConfig thinking_and_failed() {
    ReductionConfig config = clearing(100);
    config.clear_thinking_keep_turns = 1;
    config.clear_thinking_keep_tokens = 100;
    config.clear_failed_inputs = true;
    return config;
}

/// Rewrites each old round into one short user message.
template <typename M>
ReductionCallbacks<M> to_reminders() {
    ReductionCallbacks<M> callbacks;
    callbacks.clear_message_rewriter = [](const CallbackContext&, const M&, std::span<const M> results) {
        return std::vector{message_traits<M>::make(Role::user, std::to_string(results.size()) + " results")};
    };
    return callbacks;
}

/// Two that may edit the same messages, one after the other.
template <typename M>
Stages<M> clearing_and_random() {
    return {std::make_shared<Reduction<M>>(clearing(200)), std::make_shared<RandomEditor<M>>(5),
            std::make_shared<RandomEditor<M>>(6, "second editor")};
}

}  // namespace

WHITTLE_LAWS("clearing", [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing(200)}; })
// Where a text is cut follows its characters: L11 for notices is tests/reduction/truncation.cpp.
WHITTLE_LAWS("truncation and clearing, of arguments too",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{everything(400, 200)}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("truncation alone",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{everything(300, 1 << 30)}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("a rewriter of old rounds",
             [](auto type) {
                 using M = MessageOf<decltype(type)>;
                 return Reduction<M>{clearing(200), to_reminders<M>()};
             },
             {.keeps_protected_tools = false, .keeps_pins = false})
WHITTLE_LAWS("clearing without a store", [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing(200)}; },
             {.with_storage = false})
WHITTLE_LAWS("clearing down to a target",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing_to(900, 500, 100)}; })
WHITTLE_LAWS("clearing at a host's button",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing(100'000)}; }, {.compact_now_to = 300})
WHITTLE_LAWS("clearing of three rounds and one tool less",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing_but(100, 3)}; })
WHITTLE_LAWS("clearing of old thinking and of what failed calls were given",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{thinking_and_failed()}; })
WHITTLE_LAWS("clearing before a host that refuses every plan of an even number of messages",
             [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing(200)}; },
             {.before_commit = [](const CommitPlan& plan) { return plan.touched.size() % 2 == 1; }})
WHITTLE_LAWS("clearing in Chinese", [](auto type) { return Reduction<MessageOf<decltype(type)>>{clearing(100)}; },
             {.language = Language::chinese})
WHITTLE_LAWS("an editor that edits at random", [](auto type) { return RandomEditor<MessageOf<decltype(type)>>{1}; },
             {.keeps_protected_tools = false})
WHITTLE_LAWS("another one, without a store", [](auto type) { return RandomEditor<MessageOf<decltype(type)>>{2}; },
             {.with_storage = false, .keeps_protected_tools = false})
WHITTLE_LAWS("clearing and two random editors together",
             [](auto type) { return clearing_and_random<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false})
