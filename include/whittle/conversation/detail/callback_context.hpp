#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"

#include <span>
#include <string_view>

namespace whittle::inline v0 {

/// Where a user's function is called, and how it is told to end: its first argument, or the base of that. Views: valid
/// during the call.
struct CallbackContext {
    std::string_view conversation_id{};  ///< empty: there is none
    std::string_view
        key_safe_call_id{};             ///< of the tool call at hand: unique in the conversation, safe in a storage key
    Serial round_serial = 0;            ///< of the message with that call, or with the conversation's newest; 0: none
    std::span<const ToolSpec> tools{};  ///< of the request; empty where none is at hand
    StopToken stop{};                   ///< of the hook or the call: what takes long looks at it
};

}  // namespace whittle::inline v0
