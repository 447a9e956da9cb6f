#include "whittle/sqlite/sqlite_store_type.hpp"

#include <utility>

namespace whittle::inline v0 {

StoreType<SqliteStoreConfig> sqlite_store_type() {
    using C = SqliteStoreConfig;
    ConfigFields<C> fields = detail::disk_store_fields<C>(
        "the file; a relative one is relative to the configuration file",
        "what a power failure can cost: the whole file (`none`), the newest objects (`data`), nothing (`full`)");
    fields.insert(fields.end(),
                  {
                      {"busy_timeout_ms", &C::busy_timeout_ms, "milliseconds to wait for other writers; 0: not at all"},
                      {"max_file_bytes", &C::max_file_bytes, "most bytes of the file, without its log; 0: no limit"},
                      {"expire_after_seconds", &C::expire_after_seconds,
                       "seconds after which a stored object is absent; 0: never"},
                  });
    return {.type = "sqlite",
            .fields = std::move(fields),
            .open = [](const C& config, const ConfigContext&) { return sqlite_storage(config.root, config); },
            .place = [](const C& config) { return StorePlace{.path = config.root}; },
            .after_fields_read =
                [](C& config, ConfigEntry& entry) {
                    detail::complete_root(config.root, config.root_env, "the path of a file", entry);
                }};
}

}  // namespace whittle::inline v0
