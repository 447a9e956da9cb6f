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
    if (mark)
        provenance.stored_keys.insert(provenance.stored_keys.end(), mark->stored_keys.begin(), mark->stored_keys.end());
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

Mark EditPlan::freeze(Provenance&& provenance) const {
    provenance.by = context_.by;
    provenance.when = context_.env.clock->now();
    return std::make_shared<const Provenance>(std::move(provenance));
}

std::vector<std::size_t> EditPlan::stage(Edit&& edit, std::size_t at) {
    grow(edits_, 1);
    edit.edit_group = edit_group_;
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
        sort_unique(provenance.stored_keys);
    }
    char* const room = static_cast<char*>(texts_.allocate(text.size(), 1));
    const std::string_view kept(room, text.copy(room, text.size()));
    stage({.kind = Edit::Kind::set_text,
           .target = info.serial,
           .part = part,
           .text = kept,
           .mark = freeze(std::move(provenance))},
          message);
}

std::vector<std::size_t> EditPlan::erase(std::size_t message, std::vector<std::size_t> parts, Provenance&& provenance) {
    const MessageInfo& info = overlay_.outline()[message];
    Provenance rest = info.mark ? *info.mark : Provenance{};
    rest.reason = std::move(provenance.reason);
    rest.stored_keys.insert(rest.stored_keys.end(), provenance.stored_keys.begin(), provenance.stored_keys.end());
    for (const std::size_t part : parts) keep_references(rest, info.parts[part].mark);
    sort_unique(rest.stored_keys);
    return stage({.kind = Edit::Kind::erase_parts,
                  .target = info.serial,
                  .parts = std::move(parts),
                  .mark = freeze(std::move(rest))},
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
    sort_unique(provenance.stored_keys);
    if (first < outline.size()) edit.target = outline[first].serial;
    if (provenance.covers.empty() && count > 0) provenance.covers = edit.covered;
    edit.mark = freeze(std::move(provenance));
    stage(std::move(edit), first);
    next_serial_ += count;
}

void EditPlan::mark(std::size_t message, Provenance&& provenance) {
    stage({.kind = Edit::Kind::erase_parts,
           .target = overlay_.outline()[message].serial,
           .mark = freeze(std::move(provenance))},
          message);
}

void EditPlan::offload(Offload&& offload) {
    if (!offload.storage) offload.storage = context_.env.storage;
    if (!offload.storage) {
        throw Error(Errc::invalid_argument,
                    fmt::format("{}: store \"{}\": there is no storage", context_.by, offload.key));
    }
    require_valid_key("store_on_commit", offload.key);
    require_no_roots_key("store_on_commit", offload.key);
    offload.edit_group = edit_group_;
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

/// Where the edits of `edit_groups` stand, which are sorted; nothing if one of them did more than edit a message by
/// itself.
std::optional<std::vector<std::size_t>> EditPlan::places_alone(std::span<const EditGroup> edit_groups) const {
    std::vector<std::size_t> places;
    std::ptrdiff_t shift = 0;
    const auto first = std::ranges::lower_bound(edits_, edit_groups.front(), {}, &Edit::edit_group);
    for (const Edit& edit : std::span(first, edits_.end())) {
        if (!std::ranges::binary_search(edit_groups, edit.edit_group)) continue;
        const auto at = overlay_.find(edit, shift);
        if (!at || !overlay_.is_alone(edit, *at)) return std::nullopt;
        places.push_back(*at);
    }
    return places;
}

void EditPlan::erase_edit_groups(std::span<const EditGroup> edit_groups) {
    const auto erase_from = [&](auto& items, auto edit_group) {
        const auto first = std::ranges::lower_bound(items, edit_groups.front(), {}, edit_group);
        const auto is_dropped = [&](const auto& item) {
            return std::ranges::binary_search(edit_groups, item.edit_group);
        };
        items.erase(std::remove_if(first, items.end(), is_dropped), items.end());
    };
    erase_from(edits_, &Edit::edit_group);
    erase_from(offloads_, &Offload::edit_group);
}

void EditPlan::drop_edit_groups(std::vector<EditGroup> edit_groups) {
    if (edit_groups.empty()) return;
    std::ranges::sort(edit_groups);
    const auto places = places_alone(edit_groups);
    if (!places) add_dependents(edit_groups);
    erase_edit_groups(edit_groups);
    if (places) {
        for (const std::size_t at : *places) overlay_.revert(at);
        return;
    }
    while (const auto lost = overlay_.rebuild(edits_)) {
        edit_groups = {*lost};
        add_dependents(edit_groups);
        erase_edit_groups(edit_groups);
    }
}

/// Adds the edit groups that build on what `edit_groups` made: of the edits behind theirs, those of the same places.
/// Sorted before and after.
void EditPlan::add_dependents(std::vector<EditGroup>& edit_groups) const {
    for (std::size_t known = 0; known != edit_groups.size();) {
        known = edit_groups.size();
        TouchedPlaces touched;
        for (const Edit& edit : edits_) {
            const auto place = std::ranges::lower_bound(edit_groups, edit.edit_group);
            const bool is_known = place != edit_groups.end() && *place == edit.edit_group;
            if (!is_known && !touched.concerns(edit)) continue;
            if (!is_known) edit_groups.insert(place, edit.edit_group);
            touched.add(edit);
        }
    }
}

/// Those of `edit_groups`, in order of their numbers, whose edits made the messages that `made` names; if these are
/// fewer than `at_least`, the ones next to such messages too, those that can break no rule last. A rule on the whole
/// list is broken at its end.
std::vector<EditGroup> EditPlan::edit_groups_nearest_to(std::span<const Violation> made,
                                                        std::span<const EditGroup> edit_groups,
                                                        std::size_t at_least) const {
    std::vector<Serial> places;
    for (const Violation& violation : made) places.push_back(violation.serial != 0 ? violation.serial : next_serial_);
    std::ranges::sort(places);
    std::vector<std::pair<std::uint64_t, EditGroup>> nearest;
    for (const EditGroup edit_group : edit_groups) nearest.emplace_back(UINT64_MAX, edit_group);
    const auto see = [&](EditGroup edit_group, Serial first, Serial last) {
        const auto found = std::ranges::lower_bound(edit_groups, edit_group);
        if (found == edit_groups.end() || *found != edit_group) return;
        std::uint64_t& known = nearest[static_cast<std::size_t>(found - edit_groups.begin())].first;
        known = std::min(known, distance_to(places, first, last));
    };
    const std::vector<Serial> harmless = overlay_.harmlessly_edited();
    for (const Edit& edit : edits_) {
        if (edit.kind != Edit::Kind::replace && std::ranges::binary_search(harmless, edit.target)) continue;
        if (!edit.messages.empty())
            see(edit.edit_group, edit.first_serial, edit.first_serial + edit.messages.size() - 1);
        if (edit.target != 0)
            see(edit.edit_group, edit.target, edit.covered.empty() ? edit.target : edit.covered.back());
    }
    std::ranges::sort(nearest);
    const auto makers = std::ranges::count(nearest, 0U, &std::pair<std::uint64_t, EditGroup>::first);
    nearest.resize(std::min(nearest.size(), std::max(static_cast<std::size_t>(makers), at_least)));
    std::vector<EditGroup> found;
    for (const auto& [distance, edit_group] : nearest) found.push_back(edit_group);
    std::ranges::sort(found);
    return found;
}

std::vector<EditGroup> EditPlan::drop_invalid_edit_groups(std::vector<EditGroup> edit_groups) {
    constexpr std::size_t one_by_one = 3;
    std::ranges::sort(edit_groups);
    std::vector<EditGroup> dropped;
    for (std::size_t look = 0; !edit_groups.empty(); ++look) {
        const std::vector<Violation> made = overlay_.introduced_violations(context_.env.validity);
        if (made.empty()) break;
        const std::size_t at_least = look < one_by_one ? 1 : std::size_t{2} << (look - one_by_one);
        const std::vector<EditGroup> blamed = edit_groups_nearest_to(made, edit_groups, at_least);
        std::erase_if(edit_groups,
                      [&](EditGroup edit_group) { return std::ranges::binary_search(blamed, edit_group); });
        dropped.insert(dropped.end(), blamed.begin(), blamed.end());
        drop_edit_groups(blamed);
    }
    return dropped;
}

}  // namespace whittle::inline v0::detail
