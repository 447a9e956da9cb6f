#include "log_reader.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr int most_restarts = 100;           // each after another snapshot, or entry, has come
constexpr std::size_t most_levels = 10'000;  // branches of branches that never had a snapshot

/// An object that may be there, absent, or broken.
template <typename T>
struct Found {
    std::optional<T> value{};
    std::string damage{};
    std::size_t bytes = 0;

    [[nodiscard]] bool is_absent() const noexcept { return !value && damage.empty(); }
};

template <typename T>
Found<T> look_up(Storage& storage, const std::string& key, T (*read)(std::string_view, std::string_view)) {
    Found<T> found;
    try {
        const std::optional<std::string> bytes = storage.get(key);
        if (!bytes) return found;
        found.bytes = bytes->size();
        found.value = read(*bytes, key);
    } catch (const Error& error) {
        if (error.errc() != Errc::damaged) throw;
        found.damage = error.what();
    }
    return found;
}

/// One attempt to read a level; another is needed where a newer snapshot has come and entries have gone meanwhile.
class LevelReader {
public:
    LevelReader(Storage& storage, const LogPlace& place, std::uint64_t upto)
        : storage_(storage), place_(place), upto_(upto) {}

    /// Nullopt: begin again.
    [[nodiscard]] std::optional<LogLevel> read() {
        if (!find_base()) return std::nullopt;
        for (std::uint64_t number = level_.state.number + 1; number <= upto_; ++number) {
            Found<LogEntry> found = look_up<LogEntry>(storage_, place_.entry(number), read_entry);
            if (found.is_absent()) {
                if (has_newer_snapshot()) return std::nullopt;
                if (is_hole(number)) {
                    --number;  // it has come meanwhile
                    continue;
                }
                level_.state.next = number;
                break;
            }
            if (!found.damage.empty()) {
                level_.state.cut.push_back(number);
                damage_ = found.damage;
                if (number - level_.state.number == most_half_written) fail_everywhere();
            } else if (follows(*found.value, number)) {
                advance(level_.state, *found.value, found.bytes);
                level_.entries.push_back(*std::move(found.value));
            } else {
                if (has_newer_snapshot()) return std::nullopt;
                fail_in_the_middle(*found.value, number);
            }
        }
        return std::move(level_);
    }

private:
    bool find_base() {
        for (const std::uint64_t number : snapshots_of(storage_, place_, upto_)) {
            Found<LogSnapshot> found = look_up<LogSnapshot>(storage_, place_.snapshot(number), read_log_snapshot);
            if (found.is_absent()) return false;
            if (!found.value) {
                broken_snapshots_.push_back(number);
                continue;
            }
            level_.state = found.value->state;
            level_.base = std::move(found.value);
            break;
        }
        return true;
    }

    [[nodiscard]] bool follows(const LogEntry& entry, std::uint64_t number) const {
        const LogState& state = level_.state;
        return entry.number == number && entry.previous == state.number && entry.previous_sha256 == state.sha256 &&
               entry.token >= state.token && (entry.kind == LogEntryKind::create) == (state.number == 0);
    }

    [[nodiscard]] bool has_newer_snapshot() const {
        for (const std::uint64_t number : snapshots_of(storage_, place_, upto_)) {
            if (number <= level_.state.snapshot) return false;
            if (std::ranges::find(broken_snapshots_, number) == broken_snapshots_.end()) return true;
        }
        return false;
    }

    /// Whether `number`, which was absent, is there after all. Throws if it is not, but entries behind it are.
    [[nodiscard]] bool is_hole(std::uint64_t number) {
        std::uint64_t behind = 0;
        try {
            storage_.list(place_.entries(), [&](const ObjectInfo& object) {
                behind = std::max(behind, number_of_key(object.key, place_.entries()));
                return behind <= number;
            });
        } catch (const Error& error) {
            if (error.errc() != Errc::not_offered) throw;
        }
        if (behind < number) return false;
        const bool may_be_there = storage_.get(place_.entry(number), 0, 1) || has_newer_snapshot();
        if (may_be_there && ++late_looks_ <= most_restarts) return true;  // look again
        throw Error(Errc::damaged, fmt::format("read the log of \"{}\": entry {} is missing, entry {} is there{}",
                                               place_.id(), number, behind, listed_snapshots()));
    }

    [[noreturn]] void fail_in_the_middle(const LogEntry& entry, std::uint64_t number) const {
        const auto& cut = level_.state.cut;
        if (std::ranges::find(cut, entry.previous) != cut.end()) {
            throw Error(Errc::damaged,
                        fmt::format("read the log of \"{}\": entry {}, which entry {} follows, is damaged: {}",
                                    place_.id(), entry.previous, number, damage_));
        }
        throw Error(Errc::damaged,
                    fmt::format("read the log of \"{}\": entry {} follows entry {}, not the entry {} "
                                "that stands before it{}",
                                place_.id(), number, entry.previous, level_.state.number, listed_snapshots()));
    }

    [[noreturn]] void fail_everywhere() const {
        throw Error(Errc::damaged,
                    fmt::format("read the log of \"{}\": all {} entries behind entry {} are damaged, the last one: {}",
                                place_.id(), most_half_written, level_.state.number, damage_));
    }

    [[nodiscard]] std::string listed_snapshots() const {
        return broken_snapshots_.empty() ? std::string()
                                         : fmt::format("; snapshot {} is damaged", broken_snapshots_.front());
    }

    Storage& storage_;
    const LogPlace& place_;
    std::uint64_t upto_;
    LogLevel level_{};
    std::vector<std::uint64_t> broken_snapshots_{};
    std::string damage_{};  // of the last broken entry
    int late_looks_ = 0;    // at entries that were absent and there after all
};

/// The logs that a conversation consists of, its own first: each begins where it branched off the next.
std::vector<LogLevel> read_levels(Storage& storage, std::string_view root, std::string_view id) {
    std::vector<LogLevel> levels;
    std::string next(id);
    std::uint64_t upto = UINT64_MAX;
    while (!next.empty()) {
        if (levels.size() == most_levels)
            throw Error(Errc::damaged, fmt::format("read the log of \"{}\": its branches have no beginning", id));
        const LogPlace place(root, next);
        const LogLevel& level = levels.emplace_back(read_level(storage, place, upto));
        const bool is_whole = upto == UINT64_MAX || level.state.number == upto;
        if (!is_whole) {
            throw Error(Errc::damaged, fmt::format("read the log of \"{}\": it branches off entry {} of \"{}\", which "
                                                   "is not there",
                                                   id, upto, next));
        }
        next.clear();
        if (!level.base && !level.entries.empty()) {
            next = level.entries.front().other;
            upto = level.entries.front().other_number;
        }
    }
    return levels;
}

}  // namespace

std::vector<std::uint64_t> snapshots_of(Storage& storage, const LogPlace& place, std::uint64_t upto) {
    std::vector<std::uint64_t> numbers;
    try {
        storage.list(place.snapshots(), [&](const ObjectInfo& object) {
            const std::uint64_t number = number_of_key(object.key, place.snapshots());
            if (number > 0 && number <= upto) numbers.push_back(number);
            return true;
        });
    } catch (const Error& error) {
        if (error.errc() != Errc::not_offered) throw;
    }
    std::ranges::reverse(numbers);
    return numbers;
}

bool can_list(Storage& storage, const LogPlace& place) {
    try {
        storage.list(place.snapshots(), [](const ObjectInfo&) { return false; });
        return true;
    } catch (const Error& error) {
        if (error.errc() != Errc::not_offered) throw;
        return false;
    }
}

void advance(LogState& state, const LogEntry& entry, std::size_t bytes) {
    state.number = entry.number;
    state.sha256 = entry.sha256;
    state.next = entry.number + 1;
    state.writer = entry.writer;
    state.token = entry.token;
    state.until = entry.until;
    state.released = entry.kind == LogEntryKind::release;
    if (entry.kind == LogEntryKind::fork) state.forks.push_back({entry.other, entry.number});
    state.bytes_since += static_cast<std::int64_t>(bytes);
    state.cut.clear();
}

LogLevel read_level(Storage& storage, const LogPlace& place, std::uint64_t upto) {
    for (int i = 0; i < most_restarts; ++i) {
        if (std::optional<LogLevel> level = LevelReader(storage, place, upto).read()) return *std::move(level);
    }
    throw Error(Errc::conflict,
                fmt::format("read the log of \"{}\": it is shortened faster than it can be read", place.id()));
}

LoadedLog read_log_if_any(Storage& storage, std::string_view root, std::string_view id) {
    std::vector<LogLevel> levels = read_levels(storage, root, id);
    LoadedLog loaded{.document = {}, .state = std::move(levels.front().state)};
    for (; !levels.empty(); levels.pop_back()) {
        LogLevel& level = levels.back();
        if (level.base) loaded.document = std::move(level.base->document);
        for (LogEntry& entry : level.entries) {
            if (entry.edit) apply_edit(loaded.document, *std::move(entry.edit));
        }
    }
    loaded.document.saved.id = id;
    check_message_count(loaded.document.saved, loaded.document.messages.size());
    check_saved(loaded.document.saved);
    return loaded;
}

LoadedLog read_log(Storage& storage, std::string_view root, std::string_view id) {
    LoadedLog loaded = read_log_if_any(storage, root, id);
    if (loaded.state.number == 0)
        throw Error(Errc::not_found, fmt::format("read the log of \"{}\": there is none", id));
    return loaded;
}

}  // namespace whittle::inline v0::detail
