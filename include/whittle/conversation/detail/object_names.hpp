#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {

/// Gives tool calls names that are safe as a component of a storage key and unique in a conversation, compared without
/// case. Never gives a name twice, so that no original overwrites another.
class ObjectNames {
public:
    /// `call_id` itself if it is safe and free; else a safe form of it, with a number if that is taken too.
    [[nodiscard]] SharedString assign(const SharedString& call_id);

    /// Names the calls of a message, and those results in it whose call is not known; calls of one tool share its name,
    /// as long as there are no more than 256 tools. Strong guarantee.
    void assign_to(MessageInfo& info);

    /// Gives back the names that `assign_to` gave: the message never came.
    void release(const MessageInfo& info) noexcept;

    /// A name that is in use already, as when a saved conversation is loaded.
    void take(const SharedString& name);

private:
    struct CaselessHash {
        /// Not noexcept: libstdc++ would then hash again at every step of a search.
        [[nodiscard]] std::size_t operator()(const SharedString& name) const;
    };
    struct CaselessEqual {
        [[nodiscard]] bool operator()(const SharedString& a, const SharedString& b) const noexcept;
    };

    void assign_each(MessageInfo& info);
    void share_tool(SharedString& tool);

    std::unordered_map<SharedString, int, CaselessHash, CaselessEqual> taken_{};  // -> next number to try
    std::unordered_set<SharedString> tools_{};
};

}  // namespace whittle::inline v0
