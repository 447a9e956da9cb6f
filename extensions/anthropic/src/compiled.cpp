// Over anthropic::Message, once for every program.
#include "whittle/adapter/anthropic.hpp"

#include "compile.hpp"

namespace whittle::inline v0 {

WHITTLE_COMPILE_FOR(anthropic::Message)

}  // namespace whittle::inline v0
