#include "openhands_view.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

constexpr std::string_view root_of_events = "__root__";  // the parent of an event that begins anew

}  // namespace

void OpenHandsView::move_to(const ordered_json& event, LogNotes& notes) {
    const std::string parent(text_at(event, "parent_id"));
    if (parent.empty() || (!path_.empty() && parent == path_.back().event)) return;
    if (parent == root_of_events) return go_back_to(0);
    const auto known = step_of_.find(parent);
    if (known != step_of_.end()) return go_back_to(known->second + 1);
    ++notes.unknown["parent_id that is not in front"];
}

/// The first `steps` events stay.
void OpenHandsView::go_back_to(std::size_t steps) {
    while (!condensed_.empty() && condensed_.back().step >= steps) {
        if (condensed_.back().view) restore(*condensed_.back().view);
        condensed_.pop_back();
        entries_.undo_compaction();
    }
    for (std::size_t i = steps; i < path_.size(); ++i) step_of_.erase(path_[i].event);
    path_.resize(steps);
    const std::size_t size = path_.empty() ? 0 : path_.back().entries;
    for (std::size_t i = size; i < entries_.size(); ++i) {
        if (const auto call = std::exchange(entries_[i].call, std::nullopt)) taken_back_.push_back(call->id);
    }
    entries_.truncate(size);
    while (!by_step_.empty() && by_step_.rbegin()->first >= steps) erase(by_step_.rbegin()->second);
}

void OpenHandsView::insert(Items::iterator place, Item item) {
    const auto at = view_.insert(place, std::move(item));
    by_step_.insert_or_assign(at->step, at);
    by_event_[at->event].push_back(at);
}

void OpenHandsView::erase(Items::iterator item) {
    by_step_.erase(item->step);
    const auto same = by_event_.find(item->event);
    if (same->second.back() == item) {
        same->second.pop_back();
    } else {
        std::erase(same->second, item);
    }
    if (same->second.empty()) by_event_.erase(same);
    view_.erase(item);
}

void OpenHandsView::restore(const std::vector<Item>& view) {
    view_.clear();
    by_step_.clear();
    by_event_.clear();
    for (const Item& item : view) insert(view_.end(), item);
}

void OpenHandsView::forget(const ordered_json& ids) {
    for (const ordered_json& id : ids) {
        const auto known = id.is_string() ? by_event_.find(id.get_ref<const std::string&>()) : by_event_.end();
        if (known == by_event_.end()) continue;
        const std::vector<Items::iterator> items = known->second;
        std::for_each(items.rbegin(), items.rend(), [&](Items::iterator item) { erase(item); });
    }
}

/// In front of the item that so many are in front of; from the nearer end. Anywhere where no view is copied any more:
/// nothing tells the order then.
OpenHandsView::Items::iterator OpenHandsView::place_at(std::size_t offset) {
    if (copies_.is_spent()) return view_.end();
    if (offset <= view_.size() / 2) return std::next(view_.begin(), static_cast<std::ptrdiff_t>(offset));
    return std::prev(view_.end(), static_cast<std::ptrdiff_t>(view_.size() - std::min(offset, view_.size())));
}

void OpenHandsView::walk(const ordered_json& event) {
    std::string id(text_at(event, "id"));
    if (!id.empty()) step_of_.insert_or_assign(id, path_.size());
    path_.push_back({std::move(id), entries_.size()});
}

void OpenHandsView::put(const ordered_json& event, Item item) {
    item.event = text_at(event, "id");
    item.step = path_.size();
    insert(view_.end(), std::move(item));
    walk(event);
}

void OpenHandsView::add(const ordered_json& event, Entry entry) {
    const std::size_t at = entries_.add(std::move(entry));
    put(event, {.entry = at});
}

Entry* OpenHandsView::open_reply(std::string_view response) {
    if (response.empty() || entries_.empty()) return nullptr;
    Entry& newest = entries_[entries_.size() - 1];
    const bool is_open = newest.call && newest.call->id == response && newest.message.contains("tool_calls");
    return is_open ? &newest : nullptr;
}

void OpenHandsView::join(const ordered_json& event) { put(event, {.entry = entries_.size() - 1}); }

bool OpenHandsView::may_copy_view() {
    if (copies_.is_spent()) return false;
    std::size_t bytes = 0;
    for (const Item& item : view_) bytes += sizeof(Item) + item.event.size() + item.summary.size();
    return copies_.take(bytes);
}

bool OpenHandsView::may_copy_messages() {
    if (copies_.is_spent()) return false;
    std::size_t bytes = 0;
    std::optional<std::size_t> last;
    for (const Item& item : view_) {
        bytes += sizeof(Item) + item.summary.size();
        if (item.entry && item.entry != last) bytes += memory_of(entries_[*item.entry].message);
        last = item.entry;
    }
    return copies_.take(bytes);
}

void OpenHandsView::condense(const ordered_json& condensation, LogNotes& notes) {
    condensed_.push_back(
        {path_.size(), may_copy_view() ? std::optional(std::vector<Item>(view_.begin(), view_.end())) : std::nullopt});
    if (const ordered_json* ids = tree_at(condensation, "forgotten_event_ids")) forget(*ids);
    const ordered_json* offset = detail::find_member(condensation, "summary_offset");
    if (const std::string_view summary = text_at(condensation, "summary");
        !summary.empty() && offset != nullptr && offset->is_number_integer()) {
        insert(place_at(static_cast<std::size_t>(count_at(condensation, "summary_offset"))),
               {.event = std::string(text_at(condensation, "id")) + "-summary",
                .step = path_.size(),
                .entry = std::nullopt,
                .summary = std::string(summary)});
    }
    Compaction& compaction = entries_.compact();
    if (may_copy_messages()) {
        compaction.kept = messages();
    } else {
        ++notes.unknown["compaction that keeps more than is copied"];
    }
    walk(condensation);
}

/// Events of one message follow each other.
std::vector<ordered_json> OpenHandsView::messages() const {
    std::vector<ordered_json> list;
    std::optional<std::size_t> last;
    for (const Item& item : view_) {
        if (!item.summary.empty()) list.push_back({{"role", "user"}, {"content", item.summary}});
        if (item.entry && item.entry != last) list.push_back(entries_[*item.entry].message);
        last = item.entry;
    }
    return list;
}

}  // namespace whittle::inline v0::logs
