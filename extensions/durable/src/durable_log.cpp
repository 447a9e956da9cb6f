#include "whittle/durable/detail/durable_log.hpp"

#include "log_entry.hpp"
#include "log_reader.hpp"
#include "log_snapshots.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr int most_openings = 1'000;  // each after another writer was faster

/// Also if the store does not say: only what is surely absent may be tried again.
bool is_surely_absent(Storage& storage, const std::string& key) noexcept {
    try {
        return !storage.get(key, 0, 1);
    } catch (...) {
        return false;
    }
}

/// Whole in the store, and of a format that is known or not.
bool is_whole(Storage& storage, const std::string& key) {
    try {
        const auto bytes = storage.get(key);
        if (bytes) (void)read_entry(*bytes, key);
        return true;
    } catch (const Error& error) {
        if (error.errc() == Errc::damaged) return false;
        if (error.errc() == Errc::parse_failed) return true;
        throw;
    }
}

}  // namespace

DurableLog::DurableLog(std::shared_ptr<Storage> storage, std::string id, LogOptions options)
    : storage_(std::move(storage)), id_(std::move(id)), options_(std::move(options)) {}

SavedDocument DurableLog::open(bool take_over) {
    for (int i = 0; i < most_openings; ++i) {
        LoadedLog loaded = read_log_if_any(*storage_, options_.root, id_);
        const LogState& found = loaded.state;
        const bool is_held = found.number > 0 && !found.released && found.until > options_.clock->now() &&
                             found.writer != options_.writer;
        if (is_held && !take_over) {
            throw Error(Errc::conflict, fmt::format("open conversation \"{}\": \"{}\" holds it until {}", id_,
                                                    found.writer, to_iso8601(found.until)));
        }
        state_ = found;
        cut_ = found.cut;
        ++state_.token;
        if (put({.kind = state_.number == 0 ? LogEntryKind::create : LogEntryKind::open}))
            return std::move(loaded.document);
    }
    throw Error(Errc::conflict, fmt::format("open conversation \"{}\": other writers were always faster", id_));
}

void DurableLog::create_fork(std::string_view parent, std::uint64_t number) {
    state_ = {.token = 1};
    const bool is_new = put({.kind = LogEntryKind::create, .other = std::string(parent), .other_number = number});
    if (!is_new) throw Error(Errc::already_exists, fmt::format("fork to \"{}\": there is such a conversation", id_));
}

std::uint64_t DurableLog::append(SavedEdit edit) {
    put_or_throw({.kind = LogEntryKind::commit, .edit = std::move(edit)}, "save");
    return state_.number;
}

void DurableLog::renew() { put_or_throw({.kind = LogEntryKind::renew}, "renew"); }

void DurableLog::release() {
    put_or_throw({.kind = LogEntryKind::release}, "release");
    end(Errc::conflict, "it was released");
}

std::uint64_t DurableLog::note_fork(std::string_view child) {
    put_or_throw({.kind = LogEntryKind::fork, .other = std::string(child)}, "fork");
    return state_.number;
}

void DurableLog::write_snapshot(const SavedDocument& document) {
    const LogPlace place(options_.root, id_);
    if (!can_list(*storage_, place)) return;  // nobody would find it
    state_.snapshot_after_bytes = place_snapshot(*storage_, place, state_, document);
    state_.snapshot = state_.number;
    state_.bytes_since = 0;
    shorten_log(*storage_, options_.root, place, state_, state_.number);
}

bool DurableLog::is_half_over() const { return options_.clock->now() >= state_.until - options_.lease_ms / 2; }

/// The one place where a log grows. False: the number was another writer's.
bool DurableLog::put(LogEntry entry) {
    const LogPlace place(options_.root, id_);
    entry.writer = options_.writer;
    entry.token = state_.token;
    entry.when = options_.clock->now();
    entry.until = entry.when + options_.lease_ms;
    entry.previous = state_.number;
    entry.previous_sha256 = state_.sha256;
    const std::uint64_t first = state_.next;
    for (;; ++state_.next) {
        if (state_.next - state_.number == most_half_written) {
            throw Error(
                Errc::damaged,
                fmt::format("put {}: the store calls this key and all behind it up to {} taken, and has no whole "
                            "entry under any of them; nothing was written: check the store",
                            place.entry(first), place.entry(std::exchange(state_.next, first) - 1)));
        }
        entry.number = state_.next;
        entry.attempt = options_.ids->next();
        const std::string bytes = write_entry(entry);
        const std::string key = place.entry(entry.number);
        try {
            storage_->put_verbatim(key, bytes);
        } catch (const Error& error) {
            if (error.errc() == Errc::already_exists) {
                if (is_whole(*storage_, key)) return false;
                continue;  // half-written by a writer that is dead: this entry, one further, cuts it
            }
            if (!is_surely_absent(*storage_, key))
                end(error.errc(),
                    fmt::format("whether {} is stored is not known ({}): open it again", key, error.what()));
            throw;
        } catch (...) {
            end(Errc::storage_failed, fmt::format("whether {} is stored is not known: open it again", key));
            throw;
        }
        // A number is free again once it was removed: then a later snapshot is there, and this entry counts nowhere.
        const std::vector<std::uint64_t> snapshots = snapshots_of(*storage_, place);
        if (!snapshots.empty() && snapshots.front() > entry.number) return false;
        advance(state_, entry, bytes.size());
        return true;
    }
}

void DurableLog::put_or_throw(LogEntry entry, std::string_view operation) {
    require_open(operation);
    if (put(std::move(entry))) return;
    end(Errc::conflict, winner_text(state_.next));
    require_open(operation);
}

void DurableLog::require_open(std::string_view operation) const {
    if (!ended_.empty()) throw Error(ended_by_, fmt::format("{} conversation \"{}\": {}", operation, id_, ended_));
}

void DurableLog::end(Errc code, std::string reason) {
    ended_by_ = code;
    ended_ = std::move(reason);
}

std::string DurableLog::winner_text(std::uint64_t number) const {
    const LogPlace place(options_.root, id_);
    const std::string key = place.entry(number);
    try {
        const std::vector<std::uint64_t> snapshots = snapshots_of(*storage_, place);
        if (!snapshots.empty() && snapshots.front() > number)
            return fmt::format("others have taken the log from entry {} to {} or further", number, snapshots.front());
        if (const auto bytes = storage_->get(key)) {
            const LogEntry entry = read_entry(*bytes, key);
            return fmt::format("entry {} is \"{}\"'s, whose token is {}; ours is {}", number, entry.writer, entry.token,
                               state_.token);
        }
    } catch (const Error&) {
    }
    return fmt::format("entry {} is another writer's", number);
}

}  // namespace whittle::inline v0::detail
