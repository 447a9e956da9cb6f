#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

// How a draft treats thinking.

namespace whittle::inline v0 {

namespace {

[[noreturn]] void throw_split_thinking(std::string_view by, Serial serial) {
    throw Error(Errc::invalid_history,
                fmt::format("{}: commit: message {} would keep only some of its thinking; erase all of it or none", by,
                            serial));
}

}  // namespace

/// Of each edited message either all thinking is left or none.
void Draft::require_whole_thinking() const {
    const auto is_thinking = [](const PartInfo& part) { return part.kind == PartKind::thinking; };
    for (std::size_t i = 0; i < base_.size() && is_open_; ++i) {
        if (owned_[i] == nullptr || base_[i] == inserted) continue;
        const auto left = std::ranges::count_if(infos_[i]->parts, is_thinking);
        if (left == 0 || left == std::ranges::count_if(side_->infos[base_[i]].parts, is_thinking)) continue;
        throw_split_thinking(by_, infos_[i]->serial);
    }
}

/// Messages that take the place of others may carry their thinking over, whole, and no other.
void Draft::require_own_thinking(std::size_t first, std::size_t last, std::span<const void* const> messages) const {
    std::vector<Hash128> known;
    for (const void* const message : messages) {
        const detail::BoundPrint print = bound_print_of(message);
        if (!print.has_thinking) continue;
        for (std::size_t i = first; i < last && known.size() < last - first; ++i)
            known.push_back(bound_print_of(messages_[i]).thinking);
        require(std::ranges::find(known, print.thinking) != known.end(), "replace", first,
                "a new message has thinking that none of the replaced ones has");
    }
}

/// Index in the projection of the first kept thinking whose prefix the edits change.
std::optional<std::size_t> Draft::first_void_thinking() const {
    if (!is_open_) return std::nullopt;
    detail::PrefixWalk walk;
    std::size_t base = 0;
    for (std::size_t i = 0; i < base_.size(); ++i) {
        if (base_[i] == inserted) {
            walk.insert(*infos_[i]);
            continue;
        }
        for (; base < base_[i]; ++base) walk.remove(side_->infos[base]);
        if (owned_[i] == nullptr) {
            walk.keep(*infos_[i]);
        } else {
            walk.change(bound_print_of(own_message(base)), bound_print_of(messages_[i]), infos_[i]->serial);
        }
        ++base;
    }
    return walk.first_void();
}

/// With `OnPrefixEdit::drop`: thinking that the edits make void goes with them, in the open tool loop too unless that
/// breaks a rule of the provider.
void Draft::drop_void_thinking() {
    if (env_.on_prefix_edit != OnPrefixEdit::drop) return;
    if (const auto first = first_void_thinking()) drop_thinking_from(*first);
}

void Draft::drop_thinking_from(std::size_t first) {
    require_current("drop_thinking");
    open_overlay();
    for (const bool open : {false, true}) {
        const Unit unit = begin_unit();
        const std::int64_t dropped = thinking_dropped_;
        erase_thinking(first, open);
        if (thinking_dropped_ == dropped || made_violations().empty()) continue;
        drop_unit(unit);
        thinking_dropped_ = dropped;
    }
}

/// All thinking from message `first` on: of the open tool loop, or of those before it.
void Draft::erase_thinking(std::size_t first, bool open) {
    const std::size_t loop = outline().open_loop().value_or(infos_.size());
    for (std::size_t i = infos_.size(); i-- > first;) {
        const MessageInfo& info = *infos_[i];
        if (!info.has(PartKind::thinking) || (i >= loop) != open) continue;
        const auto count = std::ranges::count(info.parts, PartKind::thinking, &PartInfo::kind);
        thinking_dropped_ += count;
        if (static_cast<std::size_t>(count) == info.parts.size()) {
            Edit edit{.kind = Edit::Kind::replace, .unit = unit_, .target = info.serial, .first_serial = next_serial_};
            edit.covered.push_back(info.serial);
            edit.mark = seal(keep_references({.reason = "prefix_edit"}, i, i + 1));
            stage(std::move(edit), i);
            continue;
        }
        std::vector<std::size_t> thinking;
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (info.parts[p].kind == PartKind::thinking) thinking.push_back(p);
        }
        stage_erase(i, std::move(thinking), {.reason = "prefix_edit"});
    }
}

}  // namespace whittle::inline v0
