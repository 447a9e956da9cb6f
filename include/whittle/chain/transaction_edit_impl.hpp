#pragma once

// The edits of Transaction<M>, and taking them back; included by transaction.hpp.

#include "whittle/base/saturating.hpp"
#include "whittle/chain/transaction.hpp"
#include "whittle/chain/transaction_detail.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Where the message stands that `edit` was made on. `shift`: how far such messages moved since, as a first guess.
template <AgentMessage M>
std::optional<std::size_t> Transaction<M>::find(const Edit& edit, std::ptrdiff_t& shift) const {
    if (edit.target == 0) return infos_.size();
    const auto guess = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(edit.at) + shift);
    if (guess < infos_.size() && infos_[guess]->serial == edit.target) return guess;
    const auto found = outline().index_of(edit.target);
    if (found) shift = static_cast<std::ptrdiff_t>(*found) - static_cast<std::ptrdiff_t>(edit.at);
    return found;
}

/// Whether taking `edit` back gives the conversation's own message again.
template <AgentMessage M>
bool Transaction<M>::is_alone(const Edit& edit, std::size_t at) const {
    return edit.kind != Edit::Kind::replace && base_[at] != inserted && owned_[at] != nullptr && !owned_[at]->is_shared;
}

template <AgentMessage M>
void Transaction<M>::revert(std::size_t at) {
    if (owned_[at] == nullptr) return;
    const MessageInfo& original = conversation_->side_.infos[base_[at]];
    after_ = add_saturating(sub_saturating(after_, owned_[at]->info.tokens[column_]), original.tokens[column_]);
    messages_[at] = &conversation_->messages_[base_[at]];
    infos_[at] = &original;
    owned_[at] = nullptr;
    open_loop_.reset();
}

template <AgentMessage M>
void Transaction<M>::drop_unit(Unit unit) {
    drop_units({unit});
}

template <AgentMessage M>
void Transaction<M>::drop_units(std::vector<Unit> units) {
    if (units.empty()) return;
    std::ranges::sort(units);
    const auto is_dropped = [&](const auto& item) { return std::ranges::binary_search(units, item.unit); };
    std::vector<std::size_t> places;
    std::ptrdiff_t shift = 0;
    bool is_plain = true;
    const auto first = std::ranges::lower_bound(edits_, units.front(), {}, &Edit::unit);  // in order of their units
    for (const Edit& edit : std::span(first, edits_.end())) {
        if (!is_dropped(edit)) continue;
        const auto at = find(edit, shift);
        is_plain = is_plain && at && *at < infos_.size() && is_alone(edit, *at);
        if (!is_plain) break;
        places.push_back(*at);
    }
    if (!is_plain) add_dependents(units);
    const auto first_offload = std::ranges::lower_bound(offloads_, units.front(), {}, &Offload::unit);
    edits_.erase(std::remove_if(first, edits_.end(), is_dropped), edits_.end());
    offloads_.erase(std::remove_if(first_offload, offloads_.end(), is_dropped), offloads_.end());
    if (is_plain) {
        for (const std::size_t at : places) revert(at);
        return;
    }
    while (const auto lost = replay()) {
        units = {*lost};
        add_dependents(units);
        std::erase_if(edits_, is_dropped);
        std::erase_if(offloads_, is_dropped);
    }
}

namespace detail {

/// What a walk over the edits has met: messages, and parts of which only the text was set.
class TouchedPlaces {
public:
    template <typename Edit>
    [[nodiscard]] bool concerns(const Edit& edit) const {
        if (sets_one_text(edit)) return whole_.contains(edit.target) || texts_.contains({edit.target, edit.part});
        return any_.contains(edit.target) ||
               std::ranges::any_of(edit.covered, [&](Serial serial) { return any_.contains(serial); });
    }

    template <typename Edit>
    void add(const Edit& edit) {
        if (sets_one_text(edit)) {
            any_.insert(edit.target);
            texts_.insert({edit.target, edit.part});
            return;
        }
        if (edit.kind != Edit::Kind::replace) add_whole(edit.target);
        for (const Serial serial : edit.covered) add_whole(serial);
        for (std::size_t i = 0; i < edit.messages.size(); ++i) add_whole(edit.first_serial + i);
    }

private:
    /// A part without text may vanish, and the parts behind it move up.
    template <typename Edit>
    [[nodiscard]] static bool sets_one_text(const Edit& edit) {
        return edit.kind == Edit::Kind::set_text && !edit.text.empty() && !edit.moves_parts;
    }
    void add_whole(Serial serial) {
        any_.insert(serial);
        whole_.insert(serial);
    }

    std::unordered_set<Serial> any_{};
    std::unordered_set<Serial> whole_{};
    std::set<std::pair<Serial, std::size_t>> texts_{};
};

}  // namespace detail

/// Adds the units that build on what `units` made: of the edits behind theirs, those of the same places. Sorted before
/// and after.
template <AgentMessage M>
void Transaction<M>::add_dependents(std::vector<Unit>& units) const {
    for (std::size_t known = 0; known != units.size();) {
        known = units.size();
        detail::TouchedPlaces touched;
        for (const Edit& edit : edits_) {
            const auto place = std::ranges::lower_bound(units, edit.unit);
            const bool is_known = place != units.end() && *place == edit.unit;
            if (!is_known && !touched.concerns(edit)) continue;
            if (!is_known) units.insert(place, edit.unit);
            touched.add(edit);
        }
    }
}

/// Messages, in order of their serials, of which the edits of their parts made nothing worse that a rule looks at:
/// those edits break none. Their group may be another, where somebody took their call.
template <AgentMessage M>
std::vector<Serial> Transaction<M>::harmlessly_edited() const {
    std::vector<Serial> found;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
        if (owned_[i] == nullptr || base_[i] == inserted) continue;
        const MessageInfo& before = conversation_->infos_[base_[i]];
        MessageInfo now = *infos_[i];
        now.group = before.group;
        if (keeps_rules(before, now)) found.push_back(now.serial);
    }
    std::ranges::sort(found);
    return found;
}

/// Those of `units`, in order of their numbers, whose edits made the messages that `made` names; if these are fewer
/// than `at_least`, the ones next to such messages too, those that can break no rule last. A rule on the whole list is
/// broken at its end.
template <AgentMessage M>
std::vector<Unit> Transaction<M>::units_nearest_to(const std::vector<Violation>& made, const std::vector<Unit>& units,
                                                   std::size_t at_least) const {
    std::vector<Serial> places;
    for (const Violation& violation : made) places.push_back(violation.serial != 0 ? violation.serial : next_serial_);
    std::ranges::sort(places);
    std::vector<std::pair<std::uint64_t, Unit>> nearest;
    for (const Unit unit : units) nearest.emplace_back(UINT64_MAX, unit);
    const auto see = [&](Unit unit, Serial first, Serial last) {
        const auto found = std::ranges::lower_bound(units, unit);
        if (found == units.end() || *found != unit) return;
        std::uint64_t& known = nearest[static_cast<std::size_t>(found - units.begin())].first;
        known = std::min(known, detail::distance_to(places, first, last));
    };
    const std::vector<Serial> harmless = harmlessly_edited();
    for (const Edit& edit : edits_) {
        if (edit.kind != Edit::Kind::replace && std::ranges::binary_search(harmless, edit.target)) continue;
        if (!edit.messages.empty()) see(edit.unit, edit.first_serial, edit.first_serial + edit.messages.size() - 1);
        if (edit.target != 0) see(edit.unit, edit.target, edit.covered.empty() ? edit.target : edit.covered.back());
    }
    std::ranges::sort(nearest);
    const auto makers = std::ranges::count(nearest, 0U, &std::pair<std::uint64_t, Unit>::first);
    nearest.resize(std::min(nearest.size(), std::max(static_cast<std::size_t>(makers), at_least)));
    std::vector<Unit> found;
    for (const auto& [distance, unit] : nearest) found.push_back(unit);
    std::ranges::sort(found);
    return found;
}

template <AgentMessage M>
std::vector<Unit> Transaction<M>::drop_rule_breakers(std::vector<Unit> units) {
    constexpr std::size_t one_by_one = 3;
    std::ranges::sort(units);
    std::vector<Unit> dropped;
    for (std::size_t look = 0; !units.empty(); ++look) {
        const std::vector<Violation> made = made_violations();
        if (made.empty()) break;
        const std::size_t at_least = look < one_by_one ? 1 : std::size_t{2} << (look - one_by_one);
        const std::vector<Unit> blamed = units_nearest_to(made, units, at_least);
        std::erase_if(units, [&](Unit unit) { return std::ranges::binary_search(blamed, unit); });
        dropped.insert(dropped.end(), blamed.begin(), blamed.end());
        drop_units(blamed);
    }
    return dropped;
}

/// Makes the overlay again from the edits that are left. Gives the unit of an edit that no longer finds what it was
/// made on.
template <AgentMessage M>
std::optional<Unit> Transaction<M>::replay() {
    is_open_ = false;
    open_loop_.reset();
    finders_.clear();
    copies_.clear();
    after_ = before_;
    open_overlay();
    std::ptrdiff_t shift = 0;
    for (const Edit& edit : edits_) {
        const auto at = find(edit, shift);
        if (!at || *at + edit.covered.size() > infos_.size()) return edit.unit;
        for (std::size_t i = 0; i < edit.covered.size(); ++i) {
            if (infos_[*at + i]->serial != edit.covered[i]) return edit.unit;
        }
        apply(edit, *at);
    }
    return std::nullopt;
}

template <AgentMessage M>
void Transaction<M>::require_current(std::string_view attempted) const {
    if (is_current()) return;
    throw Error(Errc::conflict, by_ + ": " + std::string(attempted) +
                                    ": the conversation changed since the edits were planned; plan again");
}

template <AgentMessage M>
void Transaction<M>::require(bool condition, std::string_view attempted, std::size_t message,
                             std::string_view rule) const {
    if (!condition)
        detail::throw_pinned(by_, attempted, message < outline().size() ? outline()[message].serial : 0, rule);
}

/// What keeps a message as it is; empty if nothing does.
template <AgentMessage M>
std::string_view Transaction<M>::rule_on(std::size_t message) const {
    if (allow_pinned_ || !is_protected(message)) return {};
    return "it is pinned, a system text, the newest user message or in the open round";
}

/// The same of a part, beside what keeps its message.
template <AgentMessage M>
std::string_view Transaction<M>::rule_on(std::size_t message, std::size_t part) const {
    if (allow_pinned_) return {};
    const MessageInfo& info = outline()[message];
    const Mark& mark = mark_of(info, part);
    if (origin_of(mark) != Origin::original && mark->by != by_) return "another middleware made this part";
    if (info.parts[part].kind == PartKind::thinking && is_in_open_loop(message))
        return "its thinking belongs to the open tool loop";
    return {};
}

template <AgentMessage M>
bool Transaction<M>::is_in_open_loop(std::size_t message) const {
    if (!open_loop_) open_loop_ = outline().open_loop().value_or(outline().size());
    return message >= *open_loop_;
}

template <AgentMessage M>
bool Transaction<M>::may_edit(std::size_t message) const {
    if (message >= outline().size() || !rule_on(message).empty()) return false;
    for (std::size_t p = 0; p < outline()[message].parts.size(); ++p) {
        if (!rule_on(message, p).empty()) return false;
    }
    return true;
}

template <AgentMessage M>
bool Transaction<M>::may_edit(std::size_t message, std::size_t part) const {
    return message < outline().size() && part < outline()[message].parts.size() && rule_on(message).empty() &&
           rule_on(message, part).empty();
}

template <AgentMessage M>
void Transaction<M>::require_editable(std::string_view attempted, std::size_t message) const {
    if (message >= outline().size()) {
        throw Error(Errc::invalid_argument, by_ + ": " + std::string(attempted) + " message " +
                                                std::to_string(message) + ": there are only " +
                                                std::to_string(outline().size()));
    }
    const std::string_view rule = rule_on(message);
    require(rule.empty(), attempted, message, rule);
}

template <AgentMessage M>
void Transaction<M>::require_own_part(std::string_view attempted, std::size_t message, std::size_t part) const {
    const MessageInfo& info = outline()[message];
    if (part >= info.parts.size()) {
        throw Error(Errc::invalid_argument, by_ + ": " + std::string(attempted) + " part " + std::to_string(part) +
                                                " of message " + std::to_string(info.serial) + ": it has " +
                                                std::to_string(info.parts.size()));
    }
    const std::string_view rule = rule_on(message, part);
    require(rule.empty(), attempted, message, rule);
}

/// `provenance` with the store references that stand in messages [first, last).
template <AgentMessage M>
Provenance Transaction<M>::keep_references(Provenance provenance, std::size_t first, std::size_t last) const {
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

template <AgentMessage M>
void Transaction<M>::set_text(std::size_t message, std::size_t part, std::string_view text, Provenance provenance) {
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

template <AgentMessage M>
void Transaction<M>::erase_parts(std::size_t message, std::vector<std::size_t> parts, Provenance provenance) {
    require_current("erase_part");
    open_overlay();
    require_editable("erase_part", message);
    for (const std::size_t part : parts) require_own_part("erase_part", message, part);
    if (parts.empty()) return;
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    stage_erase(message, std::move(parts), std::move(provenance));
}

/// `parts`: ascending, each once. What stays is what it was; the mark keeps the references.
template <AgentMessage M>
void Transaction<M>::stage_erase(std::size_t message, std::vector<std::size_t> parts, Provenance provenance) {
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

template <AgentMessage M>
void Transaction<M>::replace_range(std::size_t first, std::size_t last, std::vector<M> messages,
                                   Provenance provenance) {
    require_current("replace");
    open_overlay();
    if (first > last || last > outline().size()) {
        throw Error(Errc::invalid_argument, by_ + ": replace messages " + std::to_string(first) + " to " +
                                                std::to_string(last) + ": there are " +
                                                std::to_string(outline().size()));
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

template <AgentMessage M>
void Transaction<M>::insert(std::size_t at, M message, Provenance provenance) {
    std::vector<M> messages;
    messages.push_back(std::move(message));
    replace_range(at, at, std::move(messages), std::move(provenance));
}

template <AgentMessage M>
void Transaction<M>::mark(std::size_t message, Provenance provenance) {
    require_current("mark");
    open_overlay();
    require_editable("mark", message);
    stage({.kind = Edit::Kind::mark,
           .unit = unit_,
           .target = outline()[message].serial,
           .mark = seal(std::move(provenance))},
          message);
}

template <AgentMessage M>
void Transaction<M>::offload(std::string key, std::string content, std::optional<Original> original,
                             std::shared_ptr<Storage> storage) {
    auto target = storage ? std::move(storage) : env_.storage;
    if (!target) throw Error(Errc::invalid_argument, by_ + ": offload \"" + key + "\": there is no storage");
    require_valid_key("offload", key);
    detail::require_no_roots_key("offload", key);
    offloads_.push_back({unit_, std::move(key), std::move(content), original, std::move(target)});
}

/// The text of a part of the conversation's own message.
template <AgentMessage M>
std::string Transaction<M>::original_text(std::size_t base, std::size_t part) const {
    const M& message = conversation_->messages_[base];
    std::string text;
    finders_[&message].finder.visit(message, part, [&](const PartView& view) { text = view.text; });
    return text;
}

template <AgentMessage M>
void Transaction<M>::offload_text(std::string key, std::size_t message, std::size_t part,
                                  std::shared_ptr<Storage> storage) {
    require_current("offload");
    if (message >= outline().size() || part >= outline()[message].parts.size()) {
        throw Error(Errc::invalid_argument, by_ + ": offload part " + std::to_string(part) + " of message " +
                                                std::to_string(message) + ": there is none");
    }
    const std::size_t base = is_open_ ? base_[message] : message;
    const bool is_edited = is_open_ && owned_[message] != nullptr;
    std::string text = is_edited ? text_of_part(message, part) : std::string();
    if (is_edited && (base == inserted || text != original_text(base, part)))
        return offload(std::move(key), std::move(text), std::nullopt, std::move(storage));
    offload(std::move(key), {}, Original{outline()[message].serial, part}, std::move(storage));
    offloads_.back().source = base;
}

}  // namespace whittle::inline v0
