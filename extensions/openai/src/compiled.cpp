// Over openai::Message, once for every program.
#include "whittle/adapter/openai.hpp"

#include "compile.hpp"

namespace whittle::inline v0 {

WHITTLE_COMPILE_FOR(openai::Message)

}  // namespace whittle::inline v0
