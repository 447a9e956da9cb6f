#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/conversation/draft.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0 {

/// `provenance` with the store references that stand in messages [first, last).
Provenance Draft::keep_references(Provenance provenance, std::size_t first, std::size_t last) const {
    const auto keep = [&](const Mark& mark) {
        if (mark) provenance.stored.insert(provenance.stored.end(), mark->stored.begin(), mark->stored.end());
    };
    for (std::size_t i = first; i < last; ++i) {
        keep(outline()[i].mark);
        for (const PartInfo& part : outline()[i].parts) keep(part.mark);
    }
    detail::sort_unique(provenance.stored);
    return provenance;
}

void Draft::set_text(std::size_t message, std::size_t part, std::string_view text, Provenance provenance) {
    require_current("set_text");
    open_overlay();
    require_editable("set_text", message);
    require_own_part("set_text", message, part);
    require(outline()[message].parts[part].kind != PartKind::thinking, "set_text", message,
            "thinking is never edited; erase all thinking of the message");
    if (const Mark& old = mark_of(outline()[message], part)) {
        provenance.stored.insert(provenance.stored.begin(), old->stored.begin(), old->stored.end());
        detail::sort_unique(provenance.stored);
    }
    stage({.kind = Edit::Kind::set_text,
           .unit = unit_,
           .target = outline()[message].serial,
           .part = part,
           .text = texts_.keep(text),
           .mark = seal(std::move(provenance))},
          message);
}

std::vector<std::size_t> Draft::erase_parts(std::size_t message, std::vector<std::size_t> parts,
                                            Provenance provenance) {
    require_current("erase_part");
    open_overlay();
    require_editable("erase_part", message);
    for (const std::size_t part : parts) require_own_part("erase_part", message, part);
    if (parts.empty()) return {};
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    stage_erase(message, std::move(parts), std::move(provenance));
    return std::exchange(gone_, {});
}

/// `parts`: ascending, each once. What stays is what it was; the mark keeps the references.
void Draft::stage_erase(std::size_t message, std::vector<std::size_t> parts, Provenance provenance) {
    const MessageInfo& info = outline()[message];
    Provenance rest = info.mark ? *info.mark : Provenance{};
    const auto keep = [&](const std::vector<std::string>& stored) {
        rest.stored.insert(rest.stored.end(), stored.begin(), stored.end());
    };
    rest.reason = std::move(provenance.reason);
    keep(provenance.stored);
    for (const std::size_t part : parts) {
        if (const Mark& old = info.parts[part].mark) keep(old->stored);
    }
    detail::sort_unique(rest.stored);
    stage({.kind = Edit::Kind::erase_parts,
           .unit = unit_,
           .target = info.serial,
           .parts = std::move(parts),
           .mark = seal(std::move(rest))},
          message);
}

void Draft::replace(std::size_t first, std::size_t last, std::vector<const void*> messages, Provenance provenance) {
    require_current("replace");
    open_overlay();
    if (first > last || last > outline().size()) {
        throw Error(Errc::invalid_argument,
                    fmt::format("{}: replace messages {} to {}: there are {}", by_, first, last, outline().size()));
    }
    Edit edit{.kind = Edit::Kind::replace, .unit = unit_, .first_serial = next_serial_};
    for (std::size_t i = first; i < last; ++i) {
        require_editable("replace", i);
        edit.covered.push_back(outline()[i].serial);
    }
    require_own_thinking(first, last, messages);
    if (first < outline().size()) edit.target = outline()[first].serial;
    if (provenance.covers.empty() && !messages.empty()) provenance.covers = edit.covered;
    edit.mark = seal(keep_references(std::move(provenance), first, last));
    edit.messages = std::move(messages);
    const std::size_t count = edit.messages.size();
    stage(std::move(edit), first);
    next_serial_ += count;
}

void Draft::replace_with_text(std::size_t first, std::size_t last, Role role, std::string_view text,
                              Provenance provenance) {
    replace(first, last, {make_new(role, text)}, std::move(provenance));
}

void Draft::mark(std::size_t message, Provenance provenance) {
    require_current("mark");
    open_overlay();
    require_editable("mark", message);
    stage({.kind = Edit::Kind::mark,
           .unit = unit_,
           .target = outline()[message].serial,
           .mark = seal(std::move(provenance))},
          message);
}

void Draft::offload(std::string key, std::string content, std::optional<Original> original,
                    std::shared_ptr<Storage> storage) {
    auto target = storage ? std::move(storage) : env_.storage;
    if (!target) throw Error(Errc::invalid_argument, by_ + ": offload \"" + key + "\": there is no storage");
    require_valid_key("offload", key);
    detail::require_no_roots_key("offload", key);
    offloads_.push_back({unit_, std::move(key), std::move(content), original, std::move(target)});
}

/// Of the conversation's own message.
void Draft::read_original(std::size_t base, std::size_t part, FunctionRef<void(const PartView&)> visit) const {
    read_part(own_message(base), part, has_many_parts(side_->infos[base]), visit);
}

void Draft::offload_text(std::string key, std::size_t message, std::size_t part, std::shared_ptr<Storage> storage) {
    require_current("offload");
    if (message >= outline().size() || part >= outline()[message].parts.size()) {
        throw Error(Errc::invalid_argument, by_ + ": offload part " + std::to_string(part) + " of message " +
                                                std::to_string(message) + ": there is none");
    }
    const std::size_t base = is_open_ ? base_[message] : message;
    const bool is_edited = is_open_ && owned_[message] != nullptr;
    std::string text = is_edited ? text_of_part(message, part) : std::string();
    bool is_original = !is_edited;
    if (is_edited && base != inserted)
        read_original(base, part, [&](const PartView& view) { is_original = view.text == text; });
    if (!is_original) return offload(std::move(key), std::move(text), std::nullopt, std::move(storage));
    offload(std::move(key), {}, Original{outline()[message].serial, part}, std::move(storage));
    offloads_.back().source = base;
}

}  // namespace whittle::inline v0
