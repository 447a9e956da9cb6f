#pragma once

#include "whittle/message/outline.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace whittle::inline v0 {

/// Gives tool calls names that are safe as a component of a storage key and unique in a conversation, compared without
/// case. Never gives a name twice, so that no original overwrites another.
class ObjectNames {
public:
    /// `call_id` itself if it is safe and free; else a safe form of it, with a number if that is taken too.
    [[nodiscard]] std::string assign(std::string_view call_id);

    /// Names the calls of a message, and those results in it whose call is not known. Strong guarantee.
    void assign_to(MessageInfo& info);

    /// Gives back the names that `assign_to` gave: the message never came.
    void release(const MessageInfo& info) noexcept;

    /// A name that is in use already, as when a saved conversation is loaded.
    void take(std::string_view name);

private:
    void assign_each(MessageInfo& info);

    std::unordered_map<std::string, int> taken_{};  // lower case -> next number to try
};

}  // namespace whittle::inline v0
