// Over openai::Message, once for every program.
#include "whittle/openai/openai.hpp"

#include "whittle/provider/detail/compile.hpp"

namespace whittle::inline v0 {

WHITTLE_COMPILE_FOR(openai::Message)

}  // namespace whittle::inline v0
