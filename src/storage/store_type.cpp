#include "whittle/storage/store_type.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace whittle::inline v0 {

StoreType<MemoryStorageOptions> memory_store_type() {
    return {.type = "memory",
            .fields = {{"max_bytes", &MemoryStorageOptions::max_bytes, "sum of all contents; 0: no limit"}},
            .open = [](const MemoryStorageOptions& options, const ConfigContext&) { return memory_storage(options); }};
}

StoreType<FileStoreConfig> file_store_type() {
    using C = FileStoreConfig;
    ConfigFields<C> fields =
        detail::disk_store_fields<C>("the directory; a relative one is relative to the configuration file",
                                     "what a finished write survives: `none`, `data`, `full`; see docs/storage.md");
    fields.insert(fields.end(),
                  {
                      {"temporary_max_age_seconds", &C::temporary_max_age_seconds,
                       "seconds; on opening, older temporary files that no writer holds are removed"},
                      {.name = "shown_root",
                       .member = &C::shown_root,
                       .meaning = "what references to objects begin with, where the agent's own file tool finds the "
                                  "directory elsewhere",
                       .documented_default = "the root's path"},
                  });
    return {.type = "file",
            .fields = std::move(fields),
            .open = [](const C& config, const ConfigContext&) { return file_storage(config.root, config); },
            .place = [](const C& config) { return StorePlace{.path = config.root}; },
            .after_fields_read =
                [](C& config, ConfigEntry& entry) {
                    detail::complete_root(config.root, config.root_env, "the path of a directory", entry);
                }};
}

namespace detail {

void complete_root(std::string& root, const std::string& root_env, std::string_view expected, ConfigEntry& entry) {
    const bool has_env = entry.gives("root_env");
    if (!entry.gives("root") && !has_env) return entry.missing("root", expected);
    if (entry.gives("root")) {
        if (has_env) entry.problem("root_env", "stands beside \"root\"; only one of them can be given");
        if (root.empty() || root.find('\0') != std::string::npos) return entry.unexpected("root", "a path");
    } else {
        const auto& lookup = entry.lookup();
        const std::optional<std::string> value = lookup ? lookup(root_env) : std::nullopt;
        if (!value || value->empty())
            return entry.problem("root_env", fmt::format("the environment has no value \"{}\"", root_env));
        root = *value;
    }
    root = entry.resolved(root);
}

}  // namespace detail

}  // namespace whittle::inline v0
