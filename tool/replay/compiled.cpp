// The replay over each message type, once.
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"

#include "replay.hpp"

namespace whittle::inline v0 {

template class detail::Replayer<ChatMessage>;
template class detail::Replayer<openai::Message>;
template class detail::Replayer<anthropic::Message>;

}  // namespace whittle::inline v0
