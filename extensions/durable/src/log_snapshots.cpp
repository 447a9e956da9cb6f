#include "log_snapshots.hpp"

#include "log_reader.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// Entries [first, last] that a branch needs; `first` is a snapshot's number, or 1.
struct KeptEntries {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// A branch whose log begins with a snapshot reads nothing from its origin any more.
bool begins_with_snapshot(Storage& storage, const LogPlace& branch) {
    return !snapshots_of(storage, branch).empty() && !storage.get(branch.entry(1), 0, 1);
}

std::vector<KeptEntries> kept_for_branches(Storage& storage, std::string_view root, const LogState& state,
                                           const std::vector<std::uint64_t>& snapshots) {
    std::vector<KeptEntries> kept;
    for (const LogFork& fork : state.forks) {
        if (begins_with_snapshot(storage, LogPlace(root, fork.child))) continue;
        const auto base = std::ranges::find_if(snapshots, [&](std::uint64_t number) { return number <= fork.number; });
        kept.push_back({base == snapshots.end() ? 1 : *base, fork.number});
    }
    return kept;
}

std::vector<std::uint64_t> numbers_below(Storage& storage, const std::string& prefix, std::uint64_t end) {
    std::vector<std::uint64_t> numbers;
    storage.list(prefix, [&](const ObjectInfo& object) {
        const std::uint64_t number = number_of_key(object.key, prefix);
        if (number > 0 && number < end) numbers.push_back(number);
        return number < end;
    });
    return numbers;
}

}  // namespace

std::int64_t place_snapshot(Storage& storage, const LogPlace& place, const LogState& state,
                            const SavedDocument& document) {
    const std::string key = place.snapshot(state.number);
    try {
        storage.put_verbatim(key, write_log_snapshot(state, document));
    } catch (const Error& error) {
        if (error.errc() != Errc::already_exists) throw;
    }
    const std::optional<std::string> stored = storage.get(key);
    // Absent: another has written a newer one by now, and removed this one.
    if (stored) (void)read_log_snapshot(*stored, key);
    return stored ? static_cast<std::int64_t>(stored->size()) : 0;
}

void shorten_log(Storage& storage, std::string_view root, const LogPlace& place, const LogState& state,
                 std::uint64_t number) {
    const std::vector<std::uint64_t> snapshots = snapshots_of(storage, place, number);
    const std::vector<KeptEntries> kept = kept_for_branches(storage, root, state, snapshots);
    const auto is_base = [&](std::uint64_t old) {
        return std::ranges::find(kept, old, &KeptEntries::first) != kept.end();
    };
    const auto is_kept = [&](std::uint64_t old) {
        return std::ranges::any_of(kept, [&](const KeptEntries& k) { return k.first <= old && old <= k.last; });
    };
    try {
        for (const std::uint64_t old : snapshots) {
            if (old < number && !is_base(old)) storage.remove(place.snapshot(old));
        }
        for (const std::uint64_t old : numbers_below(storage, place.entries(), number)) {
            if (!is_kept(old)) storage.remove(place.entry(old));
        }
    } catch (const Error& error) {
        if (error.errc() != Errc::not_offered) throw;
    }
}

std::uint64_t compact_log(Storage& storage, std::string_view root, std::string_view id) {
    const LogPlace place(root, id);
    const LoadedLog loaded = read_log(storage, root, id);
    const std::uint64_t number = loaded.state.number;
    if (!can_list(storage, place))
        throw Error(Errc::not_offered, fmt::format("compact the log of \"{}\": the store cannot list", id));
    if (number != loaded.state.snapshot) (void)place_snapshot(storage, place, loaded.state, loaded.document);
    shorten_log(storage, root, place, loaded.state, number);
    return number;
}

}  // namespace whittle::inline v0::detail
