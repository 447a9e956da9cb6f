// Summarization, held to every law on every message type, with a summarizer that always says the same; and L10.
#include "whittle/summarization/summarization.hpp"

#include "summarizer.hpp"
#include "support/laws.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

SummarizationConfig due_above(std::int64_t tokens, std::int64_t keep = 0) {
    return {.trigger = {.context_tokens = tokens}, .keep_recent_tokens = keep, .retained_facts_tokens = 60};
}

template <AgentMessage M>
std::shared_ptr<Middleware<M>> folding(std::shared_ptr<Model<M>> model, const SummarizationConfig& config) {
    return std::make_shared<Summarization<M>>(std::move(model), config);
}

template <AgentMessage M>
Stages<M> folding_alone() {
    const SummarizationConfig config = due_above(400);
    return {folding<M>(summarizer<M>(), config)};
}

/// With all that stands beside a summary or behind it.
template <AgentMessage M>
Stages<M> folding_with_all() {
    SummarizationConfig config = due_above(500);
    config.continue_message = true;
    config.check_sections = true;
    config.preserve_work.plan_tools = {"read_file"};
    config.preserve_work.subagent_tools = {"grep"};
    config.attach_files = {.max_files = 2, .max_tokens_per_file = 20, .max_tokens = 60};
    SummarizationCallbacks<M> callbacks;
    callbacks.attach_files = [](const auto&, std::span<const FileUse> files) {
        std::vector<AttachedFile> found;
        for (const FileUse& file : files) found.push_back({file.path, "as it is now"});
        return found;
    };
    return {std::make_shared<Summarization<M>>(summarizer<M>(), config, callbacks)};
}

template <AgentMessage M>
Stages<M> folding_by_rule() {
    SummarizationConfig config = due_above(400);
    config.rule_based_summary_tokens = 120;
    return {folding<M>(nullptr, config)};
}

template <AgentMessage M>
Stages<M> folding_in_levels() {
    SummarizationConfig config = due_above(400);
    config.rule_based_summary_tokens = 60;
    config.summaries_per_level = 2;
    return {folding<M>(nullptr, config)};
}

template <AgentMessage M>
Stages<M> clearing_and_folding() {
    return {std::make_shared<Reduction<M>>(ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 300}),
            folding<M>(summarizer<M>(), due_above(500, 100))};
}

/// What one summarizer was asked.
struct Asked {
    int calls = 0;
    std::int64_t largest = 0;  ///< tokens
};

template <AgentMessage M>
std::shared_ptr<Model<M>> counting_summarizer(const std::shared_ptr<Asked>& asked) {
    return std::make_shared<ScriptedModel<M>>([asked](const ModelRequest<M>& request) {
        std::int64_t tokens = count_overhead(request.system, request.tools, *chars_counter());
        for (const M& m : request.messages) tokens += count_message(m, *chars_counter());
        ++asked->calls;
        asked->largest = std::max(asked->largest, tokens);
        return same_summary(request);
    });
}

template <AgentMessage M>
Failures check_bounded(std::uint64_t seed, int& calls) {
    constexpr std::int64_t most_tokens = 1'900;
    const auto asked = std::make_shared<Asked>();
    SummarizationConfig config = due_above(400);
    config.max_input_tokens = most_tokens;
    config.retry = RetryConfig{};
    const Subject<M> subject{
        [&] { return Stages<M>{std::make_shared<Summarization<M>>(counting_summarizer<M>(asked), config)}; }};
    World<M> world(subject);
    Failures failures;
    const int most_calls = world.chain.config().limits.model_calls;
    world.drive(generate_history(seed, {.turns = 8}), [&] {
        const int before = asked->calls;
        world.ask();
        if (asked->calls - before > most_calls) failures.push_back("more model calls than a hook may make");
    });
    calls += asked->calls;
    if (asked->largest > most_tokens) failures.push_back("a request of " + std::to_string(asked->largest) + " tokens");
    return failures;
}

}  // namespace

WHITTLE_LAWS("a summary with all that stands beside it",
             [](auto type) { return folding_with_all<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("summarization", [](auto type) { return folding_alone<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("summarization without a model", [](auto type) { return folding_by_rule<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("summaries in levels", [](auto type) { return folding_in_levels<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("clearing and summarization together, in Chinese",
             [](auto type) { return clearing_and_folding<MessageOf<decltype(type)>>(); },
             {.language = Language::chinese, .keeps_protected_tools = false, .looks_at_sizes_only = false})

TEST_CASE("L10: no request to a summarizer is larger than it may be, and a hook keeps to its model calls", "[laws]") {
    for_each_message_type([](auto type) {
        using M = MessageOf<decltype(type)>;
        INFO(Builder<M>::name);
        int calls = 0;
        for (std::uint64_t seed = 1'000; seed < 1'010; ++seed) CHECK(check_bounded<M>(seed, calls) == Failures{});
        CHECK(calls > 0);
    });
}
