// Over ChatMessage, once for every program: base/compiled_types.hpp.
#include "whittle/chain/chain.hpp"

namespace whittle::inline v0 {

template class Conversation<ChatMessage>;
template class Transaction<ChatMessage>;
template class Chain<ChatMessage>;

}  // namespace whittle::inline v0
