// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/chain/chain.hpp"

namespace whittle::inline v0 {

template class Chain<ChatMessage>;

#undef WHITTLE_DEFINES_CHAIN

}  // namespace whittle::inline v0
