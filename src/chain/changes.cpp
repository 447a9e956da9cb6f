#include "whittle/chain/changes.hpp"

#include <algorithm>

namespace whittle::inline v0 {

void ChangeLog::add(std::uint64_t version, std::size_t first, std::size_t removed, std::size_t inserted) {
    entries_.push_back({version, first, removed, inserted});
}

namespace {

/// Composes one more replacement into `changes`: [first, first + removed) are positions of the list as it is so far.
void compose(Changes& changes, std::size_t first, std::size_t removed, std::size_t inserted) {
    const std::size_t last = first + removed;
    std::ptrdiff_t shift_before = 0;  // new - old in front of `first`
    Change merged;
    bool has_merged = false;
    Changes result;
    std::size_t begin = first;
    std::size_t end = last;
    std::ptrdiff_t shift_inside = 0;
    for (const Change& c : changes) {
        const auto growth = static_cast<std::ptrdiff_t>(c.new_count) - static_cast<std::ptrdiff_t>(c.old_count);
        if (c.new_first + c.new_count < first) {
            result.push_back(c);
            shift_before += growth;
        } else if (c.new_first <= last) {
            begin = std::min(begin, c.new_first);
            end = std::max(end, c.new_first + c.new_count);
            shift_inside += growth;
            has_merged = true;
        }
    }
    const auto signed_begin = static_cast<std::ptrdiff_t>(begin);
    merged.old_first = static_cast<std::size_t>(signed_begin - shift_before);
    merged.old_count =
        static_cast<std::size_t>(static_cast<std::ptrdiff_t>(end - begin) - (has_merged ? shift_inside : 0));
    merged.new_first = begin;
    merged.new_count = end - begin - removed + inserted;
    result.push_back(merged);
    for (Change c : changes) {
        if (c.new_first <= last) continue;
        c.new_first = c.new_first - removed + inserted;
        result.push_back(c);
    }
    changes = std::move(result);
}

}  // namespace

Changes ChangeLog::since(std::uint64_t version) const {
    Changes changes;
    for (const Entry& entry : entries_) {
        if (entry.version > version) compose(changes, entry.first, entry.removed, entry.inserted);
    }
    return changes;
}

}  // namespace whittle::inline v0
