// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/loop/agent_loop.hpp"

namespace whittle::inline v0 {

template class AgentLoop<ChatMessage>;

#undef WHITTLE_DEFINES_AGENT_LOOP

}  // namespace whittle::inline v0
