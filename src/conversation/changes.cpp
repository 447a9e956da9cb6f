#include "whittle/conversation/detail/changes.hpp"

#include "whittle/base/error.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

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

/// What `first` and then `second` come to. Stretches that touch become one. Linear.
Changes compose(const Changes& first, const Changes& second) {
    const auto growth_of = [](const Change& c) {
        return static_cast<std::ptrdiff_t>(c.new_count) - static_cast<std::ptrdiff_t>(c.old_count);
    };
    const auto moved = [](std::size_t at, std::ptrdiff_t by) {
        return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at) + by);
    };
    Changes result;
    std::ptrdiff_t growth_before = 0;  // of `first` in front of what comes next; places are those between the two
    std::ptrdiff_t growth_behind = 0;  // of `second`
    auto a = first.begin();
    auto b = second.begin();
    while (a != first.end() || b != second.end()) {
        const bool starts_with_a = b == second.end() || (a != first.end() && a->new_first < b->old_first);
        const std::size_t begin = starts_with_a ? a->new_first : b->old_first;
        std::size_t end = begin;
        std::ptrdiff_t growth_a = 0;
        std::ptrdiff_t growth_b = 0;
        for (;;) {
            if (a != first.end() && a->new_first <= end) {
                end = std::max(end, a->new_first + a->new_count);
                growth_a += growth_of(*a++);
            } else if (b != second.end() && b->old_first <= end) {
                end = std::max(end, b->old_first + b->old_count);
                growth_b += growth_of(*b++);
            } else {
                break;
            }
        }
        result.push_back({moved(begin, -growth_before), moved(end - begin, -growth_a), moved(begin, growth_behind),
                          moved(end - begin, growth_b)});
        growth_before += growth_a;
        growth_behind += growth_b;
    }
    return result;
}

/// Pairs of neighbours, then pairs of these: each change is looked at once per doubling.
Changes compose_all(std::vector<Changes> commits) {
    for (std::size_t step = 1; step < commits.size(); step *= 2) {
        for (std::size_t i = 0; i + step < commits.size(); i += 2 * step)
            commits[i] = compose(commits[i], std::exchange(commits[i + step], {}));
    }
    return commits.empty() ? Changes() : std::move(commits.front());
}

}  // namespace

Changes ChangeLog::since(std::uint64_t version) const {
    if (version < first_version_) {
        throw Error(Errc::invalid_argument, "changes since version " + std::to_string(version) +
                                                ": the conversation was loaded at version " +
                                                std::to_string(first_version_));
    }
    std::vector<Changes> commits;
    std::uint64_t newest = version;
    std::ptrdiff_t growth = 0;  // of the commit at hand: its places are of the list as it is so far
    for (auto entry = std::ranges::upper_bound(entries_, version, {}, &Entry::version); entry != entries_.end();
         ++entry) {
        if (entry->removed + entry->inserted == 0) continue;
        const auto at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(entry->first) - growth);
        const bool is_next = entry->version == newest && !commits.empty() &&
                             at >= commits.back().back().old_first + commits.back().back().old_count;
        if (!is_next) {
            commits.emplace_back();
            newest = entry->version;
            growth = 0;
        }
        commits.back().push_back({is_next ? at : entry->first, entry->removed, entry->first, entry->inserted});
        growth += static_cast<std::ptrdiff_t>(entry->inserted) - static_cast<std::ptrdiff_t>(entry->removed);
    }
    Changes changes = compose_all(std::move(commits));
    const std::size_t size = size_at(version);  // what came later is not replaced but new
    std::erase_if(changes, [&](const Change& c) { return c.old_first >= size; });
    if (!changes.empty())
        changes.back().old_count = std::min(changes.back().old_count, size - changes.back().old_first);
    return changes;
}

Changes ChangeLog::since(std::uint64_t version, std::size_t old_size, std::size_t new_size) const {
    Changes changes = since(version);
    if (const std::size_t size = size_at(version); old_size != size) {
        throw Error(Errc::invalid_argument, "apply_to: the host's list has " + std::to_string(old_size) +
                                                " messages, but had " + std::to_string(size) + " at version " +
                                                std::to_string(version));
    }
    std::size_t end = old_size;
    for (const Change& c : changes) end = end + c.new_count - c.old_count;
    changes.push_back({old_size, 0, end, new_size - end});
    return changes;
}

}  // namespace whittle::inline v0
