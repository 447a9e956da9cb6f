#include "whittle/sqlite/sqlite_store_type.hpp"

namespace whittle::inline v0 {

StoreType<SqliteStoreConfig> sqlite_store_type() {
    using C = SqliteStoreConfig;
    return {.type = "sqlite",
            .fields =
                {
                    {.name = "root",
                     .member = &C::root,
                     .meaning = "the file; a relative one is relative to the configuration file",
                     .fallback = "required"},
                    {.name = "root_env",
                     .member = &C::root_env,
                     .meaning = "instead of `root`: the name of an environment value that holds it",
                     .fallback = "none"},
                    {.name = "durability",
                     .member = word_member<C>(&C::durability, {Durability::none, Durability::data, Durability::full}),
                     .meaning = "what a finished write survives: `none`, `data`, `full` (extensions/sqlite/README.md)",
                     .words = {"none", "data", "full"}},
                    {"busy_timeout_ms", &C::busy_timeout_ms, "how long other writers are waited for"},
                    {"max_file_bytes", &C::max_file_bytes, "of the file without its log; 0: no limit"},
                    {"expire_after_seconds", &C::expire_after_seconds,
                     "objects that were stored longer ago are absent; 0: never"},
                },
            .open = [](const C& config, const ConfigContext&) { return sqlite_storage(config.root, config); },
            .place = [](const C& config) { return StorePlace{.path = config.root}; },
            .complete =
                [](C& config, ConfigEntry& entry) {
                    detail::complete_root(config.root, config.root_env, "the path of a file", entry);
                }};
}

}  // namespace whittle::inline v0
