#include "whittle/conversation/detail/bound_thinking.hpp"

#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <functional>

namespace whittle::inline v0::detail {

namespace {

bool stands_in(std::span<const MessageInfo> infos, const MessageInfo& info) noexcept {
    const std::less<> is_in_front;
    return !is_in_front(&info, infos.data()) && is_in_front(&info, infos.data() + infos.size());
}

/// Whether thinking behind a message is void without it.
bool binds(const MessageInfo& removed, bool has_thinking_in_front) noexcept {
    const auto thinking = std::ranges::count(removed.parts, PartKind::thinking, &PartInfo::kind);
    const bool is_only_thinking = static_cast<std::size_t>(thinking) == removed.parts.size();
    return !is_only_thinking || (thinking > 0 && has_thinking_in_front);
}

}  // namespace

std::optional<std::size_t> first_void_thinking(
    std::span<const MessageInfo> before, const Outline& after, Serial since,
    FunctionRef<std::pair<BoundFingerprint, BoundFingerprint>(std::size_t old, std::size_t now)> prints) {
    Positions positions{Outline(before)};
    bool is_edited = false;  // what is in front
    bool has_kept = false;   // thinking there
    std::size_t next = 0;    // of `before`
    for (std::size_t i = 0; i < after.size(); ++i) {
        const MessageInfo& info = after[i];
        const bool is_untouched = stands_in(before, info);
        const auto old = is_untouched ? std::optional(static_cast<std::size_t>(&info - before.data()))
                                      : positions.find(info.serial, next);
        const bool is_new = !old || *old < next;
        for (; !is_new && next < *old; ++next) is_edited = is_edited || binds(before[next], has_kept);
        is_edited = is_edited || is_new;
        bool is_void = is_edited;
        if (!is_new && !is_untouched) {
            const auto [was, is] = prints(next, i);
            const bool is_same_rest = was.rest == is.rest;
            const bool is_same_front = was.up_to_thinking == is.up_to_thinking;
            const bool is_taken = is_same_rest && was.has_thinking && !is.has_thinking;
            is_void = is_void || !is_same_front;
            is_edited = is_edited || ((!is_same_rest || !is_same_front) && (!is_taken || has_kept));
        }
        const bool has_thinking = info.has(PartKind::thinking);
        if (has_thinking && is_void && info.serial >= since) return i;
        has_kept = has_kept || has_thinking;
        if (!is_new) ++next;
    }
    return std::nullopt;
}

}  // namespace whittle::inline v0::detail
