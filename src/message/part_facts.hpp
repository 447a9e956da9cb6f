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
    return is_result_part(part) || (may_be_inside && (!part.call_id.empty() || part.starts_new_result));
}

/// Whether the media of a message are those that one of its own shows beside a result: copies of what the result could
/// not hold, no results themselves.
[[nodiscard]] inline bool holds_copies_of_results(const MessageInfo& info) noexcept {
    return origin_of(info.mark) == Origin::repair && !info.has(PartKind::tool_result);
}

/// Content of its own beside the results of a message.
[[nodiscard]] inline bool is_beside_results(const MessageInfo& info, const PartInfo& part) noexcept {
    return info.role != Role::tool && !is_in_result(part);
}

/// A tool message, or a message of another role that holds results.
[[nodiscard]] inline bool is_result_message(const MessageInfo& info) noexcept {
    return info.role == Role::tool || (info.role != Role::assistant && info.has(PartKind::tool_result));
}

/// The first part that says something: opaque ones, such as a compaction block, may stand in front of thinking.
[[nodiscard]] inline bool starts_with_thinking(const MessageInfo& info) noexcept {
    const auto first = std::ranges::find_if(info.parts, [](const PartInfo& p) { return p.kind != PartKind::other; });
    return first != info.parts.end() && first->kind == PartKind::thinking;
}

}  // namespace whittle::inline v0
