// A chain with everything on, over the recorded sessions: nothing breaks a rule, and nothing is lost.
#include "replay/replay.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/trajectory.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using Wire = openai::Message;

ReductionConfig all_of_reduction() {
    ReductionConfig config{.max_length_for_trunc = 12'000, .trunc_head_lines = 100, .max_tokens_for_clear = 15'000};
    config.trunc_tail_lines = 100;
    config.clear_tool_inputs = std::vector<std::string>{"write_file"};
    config.clear_failed_inputs = true;
    config.clear_thinking_keep_turns = 2;
    config.clear_retention_suffix_limit = 4;
    config.clear_target_tokens = 9'000;
    return config;
}

SummarizationConfig all_of_summarization() {
    SummarizationConfig config{.trigger = {.context_tokens = 14'000, .context_messages = 20, .needs_all = true},
                               .keep_recent_tokens = 3'000};
    config.rule_based_summary_tokens = 1'500;
    config.continue_message = true;
    return config;
}

SummarizationCallbacks<Wire> all_callbacks() {
    SummarizationCallbacks<Wire> callbacks;
    callbacks.attach_files = [](const auto&, std::span<const FileUse> files) {
        std::vector<AttachedFile> found;
        for (const FileUse& file : files) found.push_back({file.path, "as it is now"});
        return found;
    };
    callbacks.flush_memory = [](const CallbackContext&, const OriginalMessages<Wire>& messages) {
        CHECK_FALSE(messages.folded().empty());
    };
    return callbacks;
}

Chain<Wire> with_everything(ChainCallbacks<Wire> callbacks) {
    ChainConfig config;
    config.storage = memory_storage();
    config.repair = true;
    config.before_commit = [](const CommitPlan& plan) { return plan.touched.size() != 1 || plan.first_changed > 2; };
    TokenSavingConfig saving;
    saving.signals_fn = [](std::span<const Step> steps) { return trajectory_signals(steps); };
    const Chain<Wire>::Stages stages{
        std::make_shared<Condensing<Wire>>(), std::make_shared<Reduction<Wire>>(all_of_reduction()),
        std::make_shared<Pruning<Wire>>(PruningConfig{.skip_boundary_turns = 3}),
        std::make_shared<TokenSaving<Wire>>(saving),
        std::make_shared<Summarization<Wire>>(nullptr, all_of_summarization(), all_callbacks())};
    return Chain<Wire>(std::move(config), std::move(callbacks), stages);
}

}  // namespace

TEST_CASE("a chain with everything on breaks no rule and loses nothing of the recorded sessions", "[replay][data]") {
    const auto files = recorded_files();
    if (files.empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    std::size_t sessions = 0;
    std::size_t evicted = 0;
    std::int64_t commits = 0;
    for (const auto& file : files) {
        std::vector<std::string> bad;
        read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
            if (sessions++ % every(3) != 0) return;
            ChainCallbacks<Wire> callbacks;
            callbacks.on_evicted = [&](const EvictedResult& eviction) {
                evicted += eviction.conversation.empty() ? 0 : 1;
            };
            const Chain<Wire> chain = with_everything(std::move(callbacks));
            const ReplayTotals totals = replay<Wire>({trajectory.id, trajectory.system, trajectory.tools,
                                                      trajectory.messages, trajectory.seconds_since_first},
                                                     chain);
            commits += totals.commits;
            if (!totals.violations.empty() || totals.failed_hooks != 0 || totals.not_undone != 0 ||
                totals.restored_bytes != totals.changed_bytes)
                bad.push_back(trajectory.id);
        });
        CAPTURE(file.filename().string());
        CHECK(bad == std::vector<std::string>{});
    }
    CHECK(commits > 0);
    CHECK(evicted > 0);
}
