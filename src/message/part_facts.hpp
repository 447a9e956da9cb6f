#pragma once

#include "whittle/message/outline.hpp"

#include <algorithm>

namespace whittle::inline v0 {

/// A part that says something about a tool's result: opaque items do not.
[[nodiscard]] inline bool is_result_part(const PartInfo& part) noexcept {
    return part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
}

/// A part that stands inside a tool's result, opaque items and media without an id too.
[[nodiscard]] inline bool is_in_result(const PartInfo& part) noexcept {
    const bool may_be_inside = part.kind == PartKind::media || part.kind == PartKind::other;
    return is_result_part(part) || (may_be_inside && (!part.call_id.empty() || part.starts_result));
}

/// Media that a message of its own shows beside a result: a copy of what the result could not hold, no result itself.
[[nodiscard]] inline bool is_copy_of_result(const MessageInfo& info, const PartInfo& part) noexcept {
    return part.kind == PartKind::media && origin_of(info.mark) == Origin::repair && !info.has(PartKind::tool_result);
}

/// Content of its own beside the results of a message.
[[nodiscard]] inline bool is_beside_results(const MessageInfo& info, const PartInfo& part) noexcept {
    return info.role != Role::tool && !is_in_result(part);
}

/// A tool message, or a message of another role that holds results.
[[nodiscard]] inline bool is_result_message(const MessageInfo& info) noexcept {
    return info.role == Role::tool || (info.role != Role::assistant && info.has(PartKind::tool_result));
}

}  // namespace whittle::inline v0
