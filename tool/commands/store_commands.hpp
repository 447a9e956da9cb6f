#pragma once

#include "commands.hpp"
#include "whittle/storage/storage.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace whittle::cli {

struct StoreCommand {
    enum class Action { list, show, verify, collect };
    Action action = Action::list;
    std::string root{};  ///< directory of a file store, or the file of one in SQLite
    std::string prefix{};
    std::string key{};
    std::string key_file{};           ///< encryption keys, a line each: id, space, 64 hexadecimal digits; empty: none
    bool raw = false;                 ///< show: the bytes as they are
    std::vector<std::string> live{};  ///< gc: files that say what is still referred to
    std::vector<std::string> conversations{};  ///< gc: ids of those that go
    std::int64_t older_than_hours = 24;
    std::int64_t conversations_older_than_hours = 0;  ///< gc: 0: none goes for its age
    std::int64_t max_bytes = 0;                       ///< gc: 0: no limit
    bool yes = false;
    bool dry_run = false;
};

/// `store` with its commands.
CLI::App* add_store(CLI::App& app, StoreCommand& command, CommonOptions& common);
[[nodiscard]] ExitCode run_store(const StoreCommand& command, const CommonOptions& common);

/// An object of a store, and when it was written.
struct StoredObject {
    std::string key{};
    std::int64_t bytes = 0;
    std::int64_t age_seconds = 0;  ///< 0 if the store does not know, or says a time to come
};

/// A store that is there already, as its bytes lie there: none is made. Throws Error(not_found), and what
/// `file_storage` or `sqlite_storage` throws.
[[nodiscard]] std::shared_ptr<Storage> open_bare_store(const std::string& root);
/// The same, opened with the keys of a file if one is given; what is not encrypted is read as it is. Throws
/// Error(parse_failed) for a file that holds none.
[[nodiscard]] std::shared_ptr<Storage> open_store(const std::string& root, const std::string& key_file);
/// In byte order of the keys.
[[nodiscard]] std::vector<StoredObject> objects_in(Storage& storage, std::string_view prefix = {});
[[nodiscard]] std::int64_t age_of(std::int64_t stored_at_seconds);
/// The part of a key before the first slash: a conversation's id, or its short root.
[[nodiscard]] std::string root_of(std::string_view key);
/// "3 d", "5 h", "12 min", "40 s": whole, rounded down.
[[nodiscard]] std::string age_text(std::int64_t seconds);

/// `store gc`.
void add_store_gc(CLI::App& store, StoreCommand& command, CommonOptions& common);
[[nodiscard]] ExitCode run_store_gc(const StoreCommand& command, const CommonOptions& common);

/// A command of `store` with what all of them take.
CLI::App* add_store_action(CLI::App& store, StoreCommand& command, StoreCommand::Action action, const char* name,
                           const char* meaning);

}  // namespace whittle::cli
