// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/conversation/detail/repair.hpp"
#include "whittle/conversation/transaction.hpp"

namespace whittle::inline v0 {

template class Conversation<ChatMessage>;
template class Transaction<ChatMessage>;

#undef WHITTLE_DEFINES_CONVERSATION
#undef WHITTLE_DEFINES_TRANSACTION

}  // namespace whittle::inline v0
