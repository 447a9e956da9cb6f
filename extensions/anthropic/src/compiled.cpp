// Over anthropic::Message, once for every program.
#include "whittle/anthropic/anthropic.hpp"

#include "whittle/loop/agent_loop.hpp"
#include "whittle/preset/core_types.hpp"

#define WHITTLE_COMPILES anthropic::Message
#include "whittle/base/detail/compiled_types.hpp"
#undef WHITTLE_COMPILES
