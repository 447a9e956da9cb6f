#include "draft_state.hpp"

#include "whittle/base/error.hpp"
#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

void keep_references(Provenance& provenance, const Mark& mark) {
    if (mark) provenance.stored.insert(provenance.stored.end(), mark->stored.begin(), mark->stored.end());
}

}  // namespace

EditPlan::EditPlan(const DraftContext& context, Overlay& overlay) noexcept
    : context_(context), overlay_(overlay), next_serial_(context.side.counters.next_serial) {}

void EditPlan::clear() noexcept {
    edits_.clear();
    texts_.release();
    offloads_.clear();
    next_serial_ = context_.side.counters.next_serial;
}

Mark EditPlan::seal(Provenance&& provenance) const {
    provenance.by = context_.by;
    provenance.when = context_.env.clock->now();
    return std::make_shared<const Provenance>(std::move(provenance));
}

std::vector<std::size_t> EditPlan::stage(Edit&& edit, std::size_t at) {
    grow(edits_, 1);
    edit.unit = unit_;
    edit.at = at;
    std::vector<std::size_t> gone;
    const std::size_t parts = edit.kind == Edit::Kind::set_text ? overlay_.outline()[at].parts.size() : 0;
    try {
        gone = overlay_.apply(edit, at);
    } catch (...) {
        mend();
        throw;
    }
    edit.moves_parts = edit.kind == Edit::Kind::set_text && overlay_.outline()[at].parts.size() != parts;
    edits_.push_back(std::move(edit));
    return gone;
}

void EditPlan::mend() {
    if (overlay_.is_torn()) static_cast<void>(overlay_.rebuild(edits_));
}

void EditPlan::set_text(std::size_t message, std::size_t part, std::string_view text, Provenance&& provenance) {
    const MessageInfo& info = overlay_.outline()[message];
    if (const Mark& old = mark_of(info, part)) {
        keep_references(provenance, old);
        sort_unique(provenance.stored);
    }
    char* const room = static_cast<char*>(texts_.allocate(text.size(), 1));
    const std::string_view kept(room, text.copy(room, text.size()));
    stage({.kind = Edit::Kind::set_text,
           .target = info.serial,
           .part = part,
           .text = kept,
           .mark = seal(std::move(provenance))},
          message);
}

std::vector<std::size_t> EditPlan::erase(std::size_t message, std::vector<std::size_t> parts, Provenance&& provenance) {
    const MessageInfo& info = overlay_.outline()[message];
    Provenance rest = info.mark ? *info.mark : Provenance{};
    rest.reason = std::move(provenance.reason);
    rest.stored.insert(rest.stored.end(), provenance.stored.begin(), provenance.stored.end());
    for (const std::size_t part : parts) keep_references(rest, info.parts[part].mark);
    sort_unique(rest.stored);
    return stage({.kind = Edit::Kind::erase_parts,
                  .target = info.serial,
                  .parts = std::move(parts),
                  .mark = seal(std::move(rest))},
                 message);
}

void EditPlan::replace(std::size_t first, std::size_t last, std::vector<AnyMessage> messages, Provenance&& provenance) {
    const Outline outline = overlay_.outline();
    const std::size_t count = messages.size();
    Edit edit{.kind = Edit::Kind::replace, .messages = std::move(messages), .first_serial = next_serial_};
    for (std::size_t i = first; i < last; ++i) {
        edit.covered.push_back(outline[i].serial);
        keep_references(provenance, outline[i].mark);
        for (const PartInfo& part : outline[i].parts) keep_references(provenance, part.mark);
    }
    sort_unique(provenance.stored);
    if (first < outline.size()) edit.target = outline[first].serial;
    if (provenance.covers.empty() && count > 0) provenance.covers = edit.covered;
    edit.mark = seal(std::move(provenance));
    stage(std::move(edit), first);
    next_serial_ += count;
}

void EditPlan::mark(std::size_t message, Provenance&& provenance) {
    stage({.kind = Edit::Kind::erase_parts,
           .target = overlay_.outline()[message].serial,
           .mark = seal(std::move(provenance))},
          message);
}

void EditPlan::offload(Offload&& offload) {
    if (!offload.storage) offload.storage = context_.env.storage;
    if (!offload.storage) {
        throw Error(Errc::invalid_argument,
                    fmt::format("{}: offload \"{}\": there is no storage", context_.by, offload.key));
    }
    require_valid_key("offload", offload.key);
    require_no_roots_key("offload", offload.key);
    offload.unit = unit_;
    offloads_.push_back(std::move(offload));
}

namespace {

/// What a walk over the edits has met: by message the parts of which only the text was set, and `whole`.
class TouchedPlaces {
public:
    [[nodiscard]] bool concerns(const Edit& edit) const {
        const auto is_touched = [&](Serial serial) { return touched_.contains(serial); };
        if (!sets_one_text(edit)) return is_touched(edit.target) || std::ranges::any_of(edit.covered, is_touched);
        const auto found = touched_.find(edit.target);
        return found != touched_.end() && (found->second.contains(whole) || found->second.contains(edit.part));
    }

    void add(const Edit& edit) {
        if (edit.kind != Edit::Kind::replace) touched_[edit.target].insert(sets_one_text(edit) ? edit.part : whole);
        for (const Serial serial : edit.covered) touched_[serial].insert(whole);
        for (std::size_t i = 0; i < edit.messages.size(); ++i) touched_[edit.first_serial + i].insert(whole);
    }

private:
    static constexpr std::size_t whole = static_cast<std::size_t>(-1);

    /// A part without text may vanish, and the parts behind it move up.
    [[nodiscard]] static bool sets_one_text(const Edit& edit) {
        return edit.kind == Edit::Kind::set_text && !edit.text.empty() && !edit.moves_parts;
    }

    std::unordered_map<Serial, std::set<std::size_t>> touched_{};
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

/// Where the edits of `units` stand, which are sorted; nothing if one of them did more than edit a message by itself.
std::optional<std::vector<std::size_t>> EditPlan::places_alone(std::span<const Unit> units) const {
    std::vector<std::size_t> places;
    std::ptrdiff_t shift = 0;
    const auto first = std::ranges::lower_bound(edits_, units.front(), {}, &Edit::unit);
    for (const Edit& edit : std::span(first, edits_.end())) {
        if (!std::ranges::binary_search(units, edit.unit)) continue;
        const auto at = overlay_.find(edit, shift);
        if (!at || !overlay_.is_alone(edit, *at)) return std::nullopt;
        places.push_back(*at);
    }
    return places;
}

void EditPlan::erase_units(std::span<const Unit> units) {
    const auto erase_from = [&](auto& items, auto unit) {
        const auto first = std::ranges::lower_bound(items, units.front(), {}, unit);
        const auto is_dropped = [&](const auto& item) { return std::ranges::binary_search(units, item.unit); };
        items.erase(std::remove_if(first, items.end(), is_dropped), items.end());
    };
    erase_from(edits_, &Edit::unit);
    erase_from(offloads_, &Offload::unit);
}

void EditPlan::drop_units(std::vector<Unit> units) {
    if (units.empty()) return;
    std::ranges::sort(units);
    const auto places = places_alone(units);
    if (!places) add_dependents(units);
    erase_units(units);
    if (places) {
        for (const std::size_t at : *places) overlay_.revert(at);
        return;
    }
    while (const auto lost = overlay_.rebuild(edits_)) {
        units = {*lost};
        add_dependents(units);
        erase_units(units);
    }
}

/// Adds the units that build on what `units` made: of the edits behind theirs, those of the same places. Sorted before
/// and after.
void EditPlan::add_dependents(std::vector<Unit>& units) const {
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

/// Those of `units`, in order of their numbers, whose edits made the messages that `made` names; if these are fewer
/// than `at_least`, the ones next to such messages too, those that can break no rule last. A rule on the whole list is
/// broken at its end.
std::vector<Unit> EditPlan::units_nearest_to(std::span<const Violation> made, std::span<const Unit> units,
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
    const std::vector<Serial> harmless = overlay_.harmlessly_edited();
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

std::vector<Unit> EditPlan::drop_rule_breakers(std::vector<Unit> units) {
    constexpr std::size_t one_by_one = 3;
    std::ranges::sort(units);
    std::vector<Unit> dropped;
    for (std::size_t look = 0; !units.empty(); ++look) {
        const std::vector<Violation> made = overlay_.made_violations(context_.env.validity);
        if (made.empty()) break;
        const std::size_t at_least = look < one_by_one ? 1 : std::size_t{2} << (look - one_by_one);
        const std::vector<Unit> blamed = units_nearest_to(made, units, at_least);
        std::erase_if(units, [&](Unit unit) { return std::ranges::binary_search(blamed, unit); });
        dropped.insert(dropped.end(), blamed.begin(), blamed.end());
        drop_units(blamed);
    }
    return dropped;
}

}  // namespace whittle::inline v0::detail
