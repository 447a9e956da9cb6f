#pragma once

#include "commands.hpp"
#include "whittle/port/storage.hpp"

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
    std::string root{};  ///< directory of a file store
    std::string prefix{};
    std::string key{};
    bool raw = false;                 ///< show: the bytes as they are
    bool no_mask = false;             ///< show: secrets as they are
    std::vector<std::string> live{};  ///< gc: files that say what is still referred to
    std::int64_t older_than_hours = 24;
    bool yes = false;
    bool dry_run = false;
};

/// `store` with its commands.
CLI::App* add_store(CLI::App& app, StoreCommand& command, CommonOptions& common);
[[nodiscard]] ExitCode run_store(const StoreCommand& command, const CommonOptions& common);

/// An object of a file store, and when it was written.
struct StoredObject {
    std::string key{};
    std::int64_t bytes = 0;
    std::int64_t age_seconds = 0;  ///< 0 if the file has no time, or one to come
};

/// A file store that is there already: none is made. Throws Error(not_found), and what `file_storage` throws.
[[nodiscard]] std::shared_ptr<Storage> open_store(const std::string& root);
/// In byte order of the keys.
[[nodiscard]] std::vector<StoredObject> objects_in(Storage& storage, const std::string& root,
                                                   std::string_view prefix = {});
/// The part of a key before the first slash: a conversation's id, or its short root.
[[nodiscard]] std::string root_of(std::string_view key);
/// "3 d", "5 h", "12 min", "40 s": whole, rounded down.
[[nodiscard]] std::string age_text(std::int64_t seconds);

[[nodiscard]] ExitCode run_store_gc(const StoreCommand& command, const CommonOptions& common);

}  // namespace whittle::cli
