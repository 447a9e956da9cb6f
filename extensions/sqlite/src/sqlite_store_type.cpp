#include "whittle/sqlite/sqlite_store_type.hpp"

#include <utility>

namespace whittle::inline v0 {

StoreType<SqliteStoreConfig> sqlite_store_type() {
    using C = SqliteStoreConfig;
    ConfigFields<C> fields = detail::disk_store_fields<C>(
        "the file; a relative one is relative to the configuration file",
        "what a finished write survives: `none`, `data`, `full` (extensions/sqlite/README.md)");
    fields.insert(
        fields.end(),
        {
            {"busy_timeout_ms", &C::busy_timeout_ms, "milliseconds that other writers are waited for; 0: not at all"},
            {"max_file_bytes", &C::max_file_bytes, "bytes of the file without its log; 0: no limit"},
            {"expire_after_seconds", &C::expire_after_seconds,
             "objects that were stored longer ago are absent; 0: never"},
        });
    return {.type = "sqlite",
            .fields = std::move(fields),
            .open = [](const C& config, const ConfigContext&) { return sqlite_storage(config.root, config); },
            .place = [](const C& config) { return StorePlace{.path = config.root}; },
            .complete =
                [](C& config, ConfigEntry& entry) {
                    detail::complete_root(config.root, config.root_env, "the path of a file", entry);
                }};
}

}  // namespace whittle::inline v0
