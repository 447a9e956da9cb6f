// Over openai::Message, once for every program: base/compiled_types.hpp.
#include "whittle/adapter/openai.hpp"

#include "whittle/compaction/compaction.hpp"
#include "whittle/compaction/pruning.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/replay/replay.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"

namespace whittle::inline v0 {

template class Conversation<openai::Message>;
template class Transaction<openai::Message>;
template class Chain<openai::Message>;
template class AgentLoop<openai::Message>;
template class Reduction<openai::Message>;
template class Summarization<openai::Message>;
template class Pruning<openai::Message>;
template class Compaction<openai::Message>;
template class TokenSaving<openai::Message>;
template class detail::Replayer<openai::Message>;

}  // namespace whittle::inline v0
