#include "whittle/conversation/detail/part_changes.hpp"

namespace whittle::inline v0::detail {

std::size_t find_gone(std::span<const PartInfo> old, std::size_t now, std::size_t edited, bool is_text_set) {
    if (now >= old.size()) return old.size();
    if (!is_text_set || old[edited].kind != PartKind::media) return edited;
    for (std::size_t p = edited + 1; p < old.size(); ++p) {
        const PartInfo& part = old[p];
        if (part.kind == PartKind::tool_result && part.bytes == 0 && part.call_id == old[edited].call_id) return p;
    }
    return edited;
}

namespace {

void keep_known(PartInfo& part, const PartInfo& old) {
    part.mark = old.mark;
    part.object_name = old.object_name;
    if (part.tool.empty()) part.tool = old.tool;
    part.tool.share_if_equal(old.tool);
    part.call_id.share_if_equal(old.call_id);
}

}  // namespace

void describe_anew(PartInfo& part, const PartView& shown) {
    PartInfo fresh = describe(shown);
    keep_known(fresh, part);
    part = std::move(fresh);
}

void keep_known(MessageInfo& info, const MessageInfo& old, std::span<const std::size_t> gone) {
    info.serial = old.serial;
    info.role = old.role;
    info.group = old.group;
    info.turn = old.turn;
    info.call_index = old.call_index;
    info.pinned = old.pinned;
    info.mark = old.mark;
    auto next = gone.begin();
    std::size_t was = 0;
    for (PartInfo& part : info.parts) {
        for (; next != gone.end() && *next == was; ++next) ++was;
        if (was >= old.parts.size()) break;
        keep_known(part, old.parts[was++]);
    }
}

}  // namespace whittle::inline v0::detail
