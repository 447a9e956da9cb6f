#include "whittle/chain/changes.hpp"

#include "whittle/base/error.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace whittle::inline v0 {

void ChangeLog::reserve_more(std::size_t count) {
    const std::size_t needed = entries_.size() + count;
    if (needed > entries_.capacity()) entries_.reserve(std::max(needed, 2 * entries_.capacity()));
}

void ChangeLog::add(std::uint64_t version, std::size_t first, std::size_t removed, std::size_t inserted,
                    std::size_t size) {
    entries_.push_back({version, first, removed, inserted, size});
}

void ChangeLog::start_at(std::uint64_t version, std::size_t size) noexcept {
    entries_.clear();
    first_version_ = version;
    first_size_ = size;
}

std::size_t ChangeLog::size_at(std::uint64_t version) const noexcept {
    const auto after = std::ranges::upper_bound(entries_, version, {}, &Entry::version);
    if (after == entries_.begin()) return first_size_ + static_cast<std::size_t>(version - first_version_);
    const Entry& last = *std::prev(after);
    return last.size + static_cast<std::size_t>(version - last.version);
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
    if (version < first_version_) {
        throw Error(Errc::invalid_argument, "changes since version " + std::to_string(version) +
                                                ": the conversation was loaded at version " +
                                                std::to_string(first_version_));
    }
    Changes changes;
    for (auto entry = std::ranges::upper_bound(entries_, version, {}, &Entry::version); entry != entries_.end();
         ++entry) {
        if (entry->removed + entry->inserted > 0) compose(changes, entry->first, entry->removed, entry->inserted);
    }
    const std::size_t size = size_at(version);  // what came later is not replaced but new
    std::erase_if(changes, [&](const Change& c) { return c.old_first >= size; });
    if (!changes.empty())
        changes.back().old_count = std::min(changes.back().old_count, size - changes.back().old_first);
    return changes;
}

}  // namespace whittle::inline v0
