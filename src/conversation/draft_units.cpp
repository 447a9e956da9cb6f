#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/draft.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>
#include <utility>

// How a draft takes units of edits back.

namespace whittle::inline v0 {

namespace {

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

/// How far the serials [first, last] are from the nearest of `places`, which are sorted and not empty: 0 where they
/// hold one; else the more the farther, and of two that are as far the one in front is nearer.
std::uint64_t distance_to(std::span<const Serial> places, Serial first, Serial last) noexcept {
    const auto next = std::ranges::lower_bound(places, first);
    if (next != places.end() && *next <= last) return 0;
    std::uint64_t distance = UINT64_MAX;
    if (next != places.end()) distance = 2 * (*next - last);
    if (next != places.begin()) distance = std::min(distance, 2 * (first - *std::prev(next)) + 1);
    return distance;
}

}  // namespace

/// Where the message stands that `edit` was made on. `shift`: how far such messages moved since, as a first guess.
std::optional<std::size_t> Draft::find(const Edit& edit, std::ptrdiff_t& shift) const {
    if (edit.target == 0) return infos_.size();
    const auto guess = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(edit.at) + shift);
    if (guess < infos_.size() && infos_[guess]->serial == edit.target) return guess;
    const auto found = outline().index_of(edit.target);
    if (found) shift = static_cast<std::ptrdiff_t>(*found) - static_cast<std::ptrdiff_t>(edit.at);
    return found;
}

/// Whether taking `edit` back gives the conversation's own message again.
bool Draft::is_alone(const Edit& edit, std::size_t at) const {
    return edit.kind != Edit::Kind::replace && base_[at] != inserted && owned_[at] != nullptr && !owned_[at]->is_shared;
}

void Draft::revert(std::size_t at) {
    if (owned_[at] == nullptr) return;
    const MessageInfo& original = side_->infos[base_[at]];
    after_ = add_saturating(sub_saturating(after_, owned_[at]->info.tokens[column_]), original.tokens[column_]);
    messages_[at] = own_message(base_[at]);
    infos_[at] = &original;
    owned_[at] = nullptr;
    open_loop_.reset();
}

void Draft::drop_unit(Unit unit) { drop_units({unit}); }

void Draft::drop_units(std::vector<Unit> units) {
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

/// Adds the units that build on what `units` made: of the edits behind theirs, those of the same places. Sorted before
/// and after.
void Draft::add_dependents(std::vector<Unit>& units) const {
    for (std::size_t known = 0; known != units.size();) {
        known = units.size();
        TouchedPlaces touched;
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
std::vector<Serial> Draft::harmlessly_edited() const {
    std::vector<Serial> found;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
        if (owned_[i] == nullptr || base_[i] == inserted) continue;
        const MessageInfo& before = side_->infos[base_[i]];
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
std::vector<Unit> Draft::units_nearest_to(const std::vector<Violation>& made, const std::vector<Unit>& units,
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
        known = std::min(known, distance_to(places, first, last));
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

std::vector<Unit> Draft::drop_rule_breakers(std::vector<Unit> units) {
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
std::optional<Unit> Draft::replay() {
    open_loop_.reset();
    forget_overlay();
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

}  // namespace whittle::inline v0
