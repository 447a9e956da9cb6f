// Over anthropic::Message, once for every program.
#include "whittle/anthropic/anthropic.hpp"

#include "whittle/provider/detail/compile.hpp"

namespace whittle::inline v0 {

WHITTLE_COMPILE_FOR(anthropic::Message)

}  // namespace whittle::inline v0
