#pragma once

#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::retention {

/// Where a key of a log stands: `{root}/{id}/...`.
struct LogKey {
    std::string_view root{};
    std::string_view id{};
    std::uint64_t entry = 0;  ///< its number; 0: it is none. Entry 1 says whether the log is a branch
};

/// Nullopt for a key below none of `roots`.
[[nodiscard]] std::optional<LogKey> log_key_of(std::string_view key, const std::vector<std::string>& roots);

/// The log of a conversation.
struct Log {
    enum class State { live, purged, expired };
    std::string root{};
    std::int64_t newest = 0;  ///< when its newest object was stored; 0: not known
    bool is_time_known = true;
    bool has_first = false;
    State state = State::live;
    std::string needed_by{};  ///< a branch that lives and reads it

    [[nodiscard]] bool is_read() const noexcept { return state == State::live || !needed_by.empty(); }
    [[nodiscard]] std::string prefix(std::string_view id) const { return root + '/' + std::string(id) + '/'; }
};

/// By the conversation's id.
using Logs = std::map<std::string, Log, std::less<>>;

[[nodiscard]] std::string entry_key(std::string_view root, std::string_view id, std::uint64_t number);

void add_to(Logs& logs, const LogKey& key, const ObjectInfo& object);

/// The conversation that the log of `id` branches off, as its first entry says; empty: none. Throws Error(damaged) if
/// the entry cannot be read.
[[nodiscard]] std::string parent_of(Storage& storage, std::string_view id, const Log& log);

/// Finds the logs that branches read which live, and what these read in turn.
void note_branches(Storage& storage, Logs& logs);

}  // namespace whittle::inline v0::retention
