#include "whittle/durable/detail/saved_edit.hpp"

#include "whittle/saved/detail/side_table_json.hpp"

#include <fmt/format.h>

#include <iterator>

namespace whittle::inline v0::detail {

namespace {

/// Exchanges the stretches of one list, in linear time; in place where that will do.
template <typename T, typename Taken>
void exchange_stretches(std::vector<T>& list, std::vector<SavedRange>& ranges, Taken taken) {
    if (ranges.size() == 1 && ranges[0].first == list.size()) {
        std::ranges::move(ranges[0].*taken, std::back_inserter(list));
        return;
    }
    std::vector<T> result;
    result.reserve(list.size());
    std::size_t done = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; done < end; ++done) result.push_back(std::move(list[done]));
    };
    for (SavedRange& range : ranges) {
        keep_until(range.first);
        std::ranges::move(range.*taken, std::back_inserter(result));
        done = range.first + range.count;
    }
    keep_until(list.size());
    list = std::move(result);
}

void require_fit(const SavedDocument& document, const SavedEdit& edit) {
    std::size_t end = 0;
    for (const SavedRange& range : edit.ranges) {
        const std::size_t size = document.messages.size();
        const bool fits = range.first >= end && range.first <= size && range.count <= size - range.first &&
                          range.messages.size() == range.infos.size();
        if (!fits) fail_side_table("edit", "replaces messages that are not there");
        end = range.first + range.count;
    }
    if (edit.journal_kept > document.saved.journal.size())
        fail_side_table("edit", "keeps journal entries that are not there");
}

}  // namespace

void apply_edit(SavedDocument& document, SavedEdit edit) {
    require_fit(document, edit);
    SavedConversation& saved = document.saved;
    if (!edit.ranges.empty()) {
        exchange_stretches(document.messages, edit.ranges, &SavedRange::messages);
        exchange_stretches(saved.infos, edit.ranges, &SavedRange::infos);
    }
    for (SavedPatch& patch : edit.patches) {
        if (patch.at >= saved.infos.size()) fail_side_table("edit", "names a message that is not there");
        saved.infos[patch.at] = std::move(patch.info);
    }
    saved.journal.resize(edit.journal_kept);
    std::ranges::move(edit.journal, std::back_inserter(saved.journal));
    for (const auto& [key, note] : edit.notes.all()) saved.notes.set(key.first, key.second, note);
    for (const auto& [by, name] : edit.notes_erased) saved.notes.erase(by, name);
    saved.counters = edit.counters;
    if (edit.calibrations) saved.calibrations = *std::move(edit.calibrations);
}

bool SavedBase::plan(SavedEdit& edit, const Outline& outline, const Changes& changes) const {
    std::size_t kept = known_.size();
    std::size_t replaced = 0;
    const auto add = [&](std::size_t first, std::size_t count, std::size_t now, std::size_t fresh) {
        SavedRange& range = edit.ranges.emplace_back(SavedRange{first, count, now, {}, {}});
        for (std::size_t i = 0; i < fresh; ++i) range.infos.push_back(outline[now + i]);
    };
    for (const Change& change : changes) {
        add(change.old_first, change.old_count, change.new_first, change.new_count);
        kept -= change.old_count;
        replaced += change.new_count;
    }
    const std::size_t appended = outline.size() - (kept + replaced);
    if (appended > 0) add(known_.size(), 0, outline.size() - appended, appended);
    // Every version of its own appended a message: nobody pinned or marked one.
    if (changes.empty() && edit.counters.version - counters_.version == appended) return appended > 0;
    std::size_t old = 0;
    std::size_t now = 0;
    const auto look_until = [&](std::size_t end) {
        for (; old < end; ++old, ++now) {
            const bool is_same = known_[old].pinned == outline[now].pinned && known_[old].mark == outline[now].mark;
            if (!is_same) edit.patches.push_back({now, outline[now]});
        }
    };
    for (const Change& change : changes) {
        look_until(change.old_first);
        old += change.old_count;
        now += change.new_count;
    }
    look_until(known_.size());
    return !edit.ranges.empty() || !edit.patches.empty();
}

bool SavedBase::plan_notes(SavedEdit& edit, const NoteBook& notes) const {
    if (&notes.all() == &notes_.all()) return false;
    for (const auto& [key, note] : notes.all()) {
        const Note* const before = notes_.find(key.first, key.second);
        if (before == nullptr || !(*before == note)) edit.notes.set(key.first, key.second, note);
    }
    for (const auto& [key, note] : notes_.all()) {
        if (notes.find(key.first, key.second) == nullptr) edit.notes_erased.push_back(key);
    }
    return !edit.notes.all().empty() || !edit.notes_erased.empty();
}

void SavedBase::take_list(const Outline& outline, const Changes& changes, std::uint64_t version) {
    const bool only_appended = changes.empty() && outline.size() - known_.size() == version - counters_.version;
    const std::size_t first = only_appended ? known_.size() : 0;
    known_.resize(outline.size());
    for (std::size_t i = first; i < outline.size(); ++i) {
        known_[i].pinned = outline[i].pinned;
        if (known_[i].mark != outline[i].mark) known_[i].mark = outline[i].mark;  // counting is dear, looking is not
    }
}

}  // namespace whittle::inline v0::detail
