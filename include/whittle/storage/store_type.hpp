#pragma once

#include "whittle/fields/config_entry.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/storage/storage.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Where a store is; nothing: in the process.
struct StorePlace {
    std::string path{};     ///< on this machine's disk
    std::string address{};  ///< of a server

    friend bool operator==(const StorePlace&, const StorePlace&) = default;
};

/// A type of store, as configurations write it. Beside `fields` its object has "type", and the keys of stores around
/// it.
template <typename Config>
struct StoreType {
    std::string type{};  ///< a to z, 0 to 9 and _
    /// The keys of its object.
    ConfigFields<Config> fields{};
    /// Makes the store. What it throws gets out.
    std::function<std::shared_ptr<Storage>(const Config&, const ConfigContext&)> open{};
    std::function<StorePlace(const Config&)> place{};  ///< empty: in the process
    /// Called once the keys are read: what several of them say together, or the environment. Empty: nothing.
    std::function<void(Config&, ConfigEntry&)> after_fields_read{};
};

/// Which of two stores around one is the outer one: what is masked has to be masked before it is encrypted.
enum class StoreLayer { encrypts, masks };

/// A store around another one, which the keys of that ask for.
template <typename Config>
struct StoreWrapper {
    std::string type{};                       ///< a to z, 0 to 9 and _; no file has it
    StoreLayer layer = StoreLayer::encrypts;  ///< which of two wrappers is the outer one
    /// Its keys, which stand in the inner store's object.
    ConfigFields<Config> fields{};
    /// The inner store itself, where the keys do not ask for another.
    std::function<std::shared_ptr<Storage>(std::shared_ptr<Storage>, const Config&, const ConfigContext&)> wrap{};
};

/// A directory as a configuration names it.
struct FileStoreConfig : FileStorageOptions {
    std::string root{};      ///< the directory; a relative one is relative to the configuration file
    std::string root_env{};  ///< instead of `root`: the environment variable that holds it
};

/// Type "memory": `memory_storage`.
[[nodiscard]] StoreType<MemoryStorageOptions> memory_store_type();
/// Type "file": `file_storage`.
[[nodiscard]] StoreType<FileStoreConfig> file_store_type();

namespace detail {
/// Calls `visit(type)` for each store of the core.
template <typename Visit>
void visit_core_stores(const Visit& visit) {
    visit(memory_store_type());
    visit(file_store_type());
}
}  // namespace detail

namespace detail {
/// The keys of every store on disk, of a `Config` with `root`, `root_env` and `durability`.
template <typename Config>
[[nodiscard]] ConfigFields<Config> disk_store_fields(std::string root_meaning, std::string durability_meaning) {
    using C = Config;
    return {
        {.name = "root", .member = &C::root, .meaning = std::move(root_meaning), .documented_default = "required"},
        {.name = "root_env",
         .member = &C::root_env,
         .meaning = "instead of `root`: the environment variable that holds it",
         .documented_default = "none"},
        {.name = "durability",
         .member = word_member<C>(&C::durability, {Durability::none, Durability::data, Durability::full}),
         .meaning = std::move(durability_meaning),
         .words = {"none", "data", "full"}},
    };
}

/// For `StoreType::after_fields_read`: `root` is what the keys "root" and "root_env" say. `expected`: "the path of a
/// directory".
void complete_root(std::string& root, const std::string& root_env, std::string_view expected, ConfigEntry& entry);
}  // namespace detail

}  // namespace whittle::inline v0
