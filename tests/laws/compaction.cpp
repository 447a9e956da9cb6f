// The ladder, held to every law on every message type, with a summarizer that always says the same.
#include "whittle/compaction/compaction.hpp"

#include "summarizer.hpp"
#include "support/laws.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

/// All three stages come to their turn.
template <AgentMessage M>
Compaction<M> ladder() {
    CompactionConfig config;
    config.threshold_tokens = 400;
    config.target_tokens = 250;
    config.summary_size_tokens = 60;
    config.current_turn_keep_rounds = 1;
    config.pruning->skip_boundary_turns = 1;
    return Compaction<M>(summarizer<M>(), config);
}

}  // namespace

WHITTLE_LAWS("compaction", [](auto type) { return ladder<MessageOf<decltype(type)>>(); },
             {.keeps_protected_tools = false, .looks_at_sizes_only = false})
