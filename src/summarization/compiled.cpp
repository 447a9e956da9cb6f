// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/summarization/summarization.hpp"

namespace whittle::inline v0 {

template class Summarization<ChatMessage>;

#undef WHITTLE_DEFINES_SUMMARIZATION

}  // namespace whittle::inline v0
