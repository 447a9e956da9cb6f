// Over openai::Message, once for every program.
#include "whittle/openai/openai.hpp"

#include "whittle/loop/agent_loop.hpp"
#include "whittle/preset/core_types.hpp"

#define WHITTLE_COMPILES openai::Message
#include "whittle/base/detail/compiled_types.hpp"
#undef WHITTLE_COMPILES
