// Over anthropic::Message, once for every program: base/compiled_types.hpp.
#include "whittle/adapter/anthropic.hpp"

#include "whittle/compaction/compaction.hpp"
#include "whittle/compaction/pruning.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/replay/replay.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"

namespace whittle::inline v0 {

template class Conversation<anthropic::Message>;
template class Transaction<anthropic::Message>;
template class Chain<anthropic::Message>;
template class AgentLoop<anthropic::Message>;
template class Reduction<anthropic::Message>;
template class Summarization<anthropic::Message>;
template class Pruning<anthropic::Message>;
template class Compaction<anthropic::Message>;
template class TokenSaving<anthropic::Message>;
template class detail::Replayer<anthropic::Message>;

}  // namespace whittle::inline v0
