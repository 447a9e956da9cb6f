// A chain with everything on, held to every law on every message type.
#include "laws/summarizer.hpp"
#include "support/laws.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/release_context/release_context.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <AgentMessage M>
Stages<M> everything_on() {
    ReductionConfig reduction{.max_length_for_trunc = 2'000, .max_tokens_for_clear = 300};
    reduction.clear_failed_inputs = true;
    reduction.clear_thinking_keep_turns = 1;
    PruningConfig pruning{.skip_boundary_turns = 2};
    pruning.partial = true;
    TokenSavingConfig saving;
    saving.compress_threshold_chars = 200;
    saving.head_keep_chars = 80;
    saving.tail_keep_chars = 40;
    saving.batch_calls = 2;
    SummarizationConfig summary{.trigger = {.context_tokens = 400}, .keep_recent_tokens = 100};
    summary.rule_based_summary_tokens = 100;
    summary.continue_message = true;
    SummarizationCallbacks<M> callbacks;
    callbacks.attach_files = [](const auto&, std::span<const FileUse> files) {
        std::vector<AttachedFile> found;
        for (const FileUse& file : files) found.push_back({file.path, "now"});
        return found;
    };
    return {std::make_shared<Condensing<M>>(CondensingConfig{.min_bytes = 300}),
            std::make_shared<Reduction<M>>(std::move(reduction)),
            std::make_shared<Pruning<M>>(std::move(pruning)),
            std::make_shared<ReleaseContext<M>>(ReleaseContextConfig{.tool_name = "run"}),
            std::make_shared<TokenSaving<M>>(std::move(saving)),
            std::make_shared<Summarization<M>>(summarizer<M>(), std::move(summary), std::move(callbacks))};
}

}  // namespace

// Plans follow words, not sizes alone: no L11. What a summary folds, it carries otherwise: no protected tools.
WHITTLE_LAWS("a chain with everything on", [](auto type) { return everything_on<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false, .looks_at_sizes_only = false})
