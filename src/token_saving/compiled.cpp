// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/token_saving/token_saving.hpp"

namespace whittle::inline v0 {

template class TokenSaving<ChatMessage>;

#undef WHITTLE_DEFINES_TOKEN_SAVING

}  // namespace whittle::inline v0
