#include "config_json_reader.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace whittle::inline v0 {

namespace {

/// The opener of `library`, by the name of its function.
template <typename Opener>
const Opener& require_opener(const Opener& opener, std::string_view library, std::string_view wanted) {
    if (opener == nullptr)
        throw Error(Errc::not_offered,
                    fmt::format("open storage: {} needs whittle::{}: give ConfigSource::openers.{} open_configured_{}",
                                wanted, library, library, library));
    return opener;
}

std::shared_ptr<Storage> open_bare(const StorageSettings& settings) {
    switch (settings.type) {
        case StorageSettings::Type::memory: return memory_storage(settings.memory);
        case StorageSettings::Type::file: return file_storage(settings.root, settings.file);
        case StorageSettings::Type::sqlite:
            return require_opener(settings.openers.sqlite, "sqlite", "the type \"sqlite\"")(settings);
        case StorageSettings::Type::redis:
            return require_opener(settings.openers.redis, "redis", "the type \"redis\"")(settings);
        case StorageSettings::Type::none: break;
    }
    return nullptr;
}

}  // namespace

std::shared_ptr<Storage> open_storage(const StorageSettings& settings) {
    auto storage = open_bare(settings);
    if (storage == nullptr) return nullptr;
    if (!settings.sealing_key_env.empty())
        storage = require_opener(settings.openers.sealing, "sealing", "sealing_key_env")(std::move(storage), settings);
    if (settings.redaction)
        storage = require_opener(settings.openers.redaction, "redaction", "redaction")(std::move(storage), settings);
    return storage;
}

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

namespace {

using StorageType = StorageSettings::Type;

/// A key that is there, and the types that have it.
struct KeyOfTypes {
    NodeId at = JsonPositions::none;
    std::vector<StorageType> types{};
};

struct StorageDraft : StorageSettings {
    std::string root_env{};
    NodeId root_env_at = JsonPositions::none;
    NodeId durability_at = JsonPositions::none;
    std::size_t durability_word = 0;
    std::vector<KeyOfTypes> keys{};
};

constexpr std::array<std::string_view, 4> storage_types{"memory", "file", "sqlite", "redis"};
constexpr std::array type_values{StorageType::memory, StorageType::file, StorageType::sqlite, StorageType::redis};
constexpr std::array<std::string_view, 3> durabilities{"none", "data", "full"};
constexpr std::array durability_values{Durability::none, Durability::data, Durability::full};
constexpr std::array<std::string_view, 6> all_durabilities{"none",  "data",        "full",
                                                           "reply", "one_replica", "all_replicas"};
constexpr std::array<std::string_view, 3> topologies{"single", "sentinel", "cluster"};

void read_type(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    if (const auto found = reader.read_word(at, "storage", storage_types)) storage.type = type_values[*found];
}

void read_root(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::file, StorageType::sqlite}});
    if (!reader.read_text(at, storage.root)) return;
    if (storage.root.empty() || storage.root.find('\0') != std::string::npos) reader.unexpected(at, "a path");
}

void read_root_env(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::file, StorageType::sqlite}});
    storage.root_env_at = at;
    if (!reader.read_text(at, storage.root_env)) return;
    const auto& lookup = reader.source().lookup;
    const std::optional<std::string> value = lookup ? lookup(storage.root_env) : std::nullopt;
    if (!value || value->empty())
        return reader.problem(at, fmt::format("the environment has no value \"{}\"", storage.root_env));
    storage.root = *value;
}

void read_durability(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::file, StorageType::sqlite, StorageType::redis}});
    const auto found = reader.read_word(at, "durability", all_durabilities);
    if (!found) return;
    storage.durability_at = at;
    storage.durability_word = *found;
}

void read_max_age(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::file}});
    read_integer<&FileStorageOptions::temporary_max_age_seconds, 0>(reader, at, storage.file);
}

void read_shown_root(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::file}});
    reader.read_text(at, storage.file.shown_root);
}

void read_max_bytes(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::memory}});
    read_integer<&MemoryStorageOptions::max_bytes, 0>(reader, at, storage.memory);
}

void read_topology(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::redis}});
    if (const auto found = reader.read_word(at, "topology", topologies)) storage.topology = topologies[*found];
}

/// Of one type or two.
template <auto Member, StorageType... Types>
void read_count_of(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {Types...}});
    read_integer<Member, 0>(reader, at, storage);
}
template <auto Member>
void read_redis_value(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.keys.push_back({at, {StorageType::redis}});
    read_value<Member>(reader, at, storage);
}

template <auto Member>
std::string shown_of(const StorageDraft& draft) {
    return shown<Member>(static_cast<const StorageSettings&>(draft));
}

constexpr std::array storage_fields{
    Field<StorageDraft>{"type", "string", "required", "`memory`, `file`, `sqlite` or `redis`", &read_type},
    Field<StorageDraft>{
        "root", "string", "required for `file` and `sqlite`",
        "`file`: the directory; `sqlite`: the file. A relative one is relative to the configuration file", &read_root},
    Field<StorageDraft>{"root_env", "string", "none",
                        "instead of `root`: the name of an environment value that holds it", &read_root_env},
    Field<StorageDraft>{
        "durability", "string",
        +[](const StorageDraft& d) { return word_of(d.file.durability, durability_values, durabilities); },
        "what a finished write survives. `file`, `sqlite`: `none`, `data`, `full`; `redis`: `reply` (the default), "
        "`one_replica`, `all_replicas`; see docs/storage.md",
        &read_durability},
    Field<StorageDraft>{
        "temporary_max_age_seconds", "integer",
        +[](const StorageDraft& d) { return shown<&FileStorageOptions::temporary_max_age_seconds>(d.file); },
        "`file`: older temporary files are removed on opening", &read_max_age},
    Field<StorageDraft>{"shown_root", "string", "the root's path",
                        "`file`: what references to objects begin with, where the agent's own file "
                        "tool finds the directory elsewhere",
                        &read_shown_root},
    Field<StorageDraft>{"max_bytes", "integer",
                        +[](const StorageDraft& d) { return shown<&MemoryStorageOptions::max_bytes>(d.memory); },
                        "`memory`: sum of all contents; 0: no limit", &read_max_bytes},
    Field<StorageDraft>{"busy_timeout_ms", "integer", &shown_of<&StorageSettings::busy_timeout_ms>,
                        "`sqlite`: how long other writers are waited for",
                        &read_count_of<&StorageSettings::busy_timeout_ms, StorageType::sqlite>},
    Field<StorageDraft>{"max_file_bytes", "integer", &shown_of<&StorageSettings::max_file_bytes>,
                        "`sqlite`: of the file without its log; 0: no limit",
                        &read_count_of<&StorageSettings::max_file_bytes, StorageType::sqlite>},
    Field<StorageDraft>{
        "expire_after_seconds", "integer", &shown_of<&StorageSettings::expire_after_seconds>,
        "`sqlite`, `redis`: objects that were stored longer ago are absent; 0: never",
        &read_count_of<&StorageSettings::expire_after_seconds, StorageType::sqlite, StorageType::redis>},
    Field<StorageDraft>{"addresses", "array of strings", R"(["127.0.0.1:6379"])",
                        "`redis`: `host:port`, `[v6]:port` or `unix:/path`",
                        &read_redis_value<&StorageSettings::addresses>},
    Field<StorageDraft>{"topology", "string", &shown_of<&StorageSettings::topology>,
                        "`redis`: what the addresses are: `single`, `sentinel`, `cluster`", &read_topology},
    Field<StorageDraft>{"sentinel_primary", "string", "none", "`redis`: the name that sentinels know the primary by",
                        &read_redis_value<&StorageSettings::sentinel_primary>},
    Field<StorageDraft>{"key_prefix", "string", &shown_of<&StorageSettings::key_prefix>,
                        "`redis`: of all keys: stores with different ones do not meet",
                        &read_redis_value<&StorageSettings::key_prefix>},
    Field<StorageDraft>{"user", "string", "the default one", "`redis`: who we are",
                        &read_redis_value<&StorageSettings::user>},
    Field<StorageDraft>{"password_env", "string", "none",
                        "`redis`: the name of an environment value that holds the password; no file holds it",
                        &read_redis_value<&StorageSettings::password_env>},
    Field<StorageDraft>{"redaction", "boolean", &shown_of<&StorageSettings::redaction>,
                        "mask what looks like a secret before it is stored; see extensions/redaction/README.md",
                        &read_value<&StorageSettings::redaction>},
    Field<StorageDraft>{
        "sealing_key_env", "string", "not sealed",
        "encrypt what is stored: the name of an environment value that holds the keys, each a line of an "
        "id, a space and 64 hexadecimal digits; the last one writes",
        &read_value<&StorageSettings::sealing_key_env>},
};

std::string_view name_of(StorageType type) noexcept {
    const auto found = std::ranges::find(type_values, type);
    return found == type_values.end() ? "" : storage_types[static_cast<std::size_t>(found - type_values.begin())];
}

void refuse_keys_of_others(ConfigReader& reader, const StorageDraft& draft) {
    for (const KeyOfTypes& key : draft.keys) {
        if (std::ranges::find(key.types, draft.type) != key.types.end()) continue;
        std::string names;
        for (const StorageType type : key.types)
            names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", name_of(type));
        reader.problem(key.at, fmt::format("only for storage of type {}", names));
    }
}

void require_root(ConfigReader& reader, NodeId at, const StorageDraft& draft) {
    const NodeId root = reader.json().member(at, "root");
    if (root != JsonPositions::none && draft.root_env_at != JsonPositions::none) {
        reader.problem(draft.root_env_at, "stands beside \"root\"; only one of them can be given");
    } else if (root == JsonPositions::none && draft.root_env_at == JsonPositions::none) {
        const bool is_file = draft.type == StorageType::file;
        reader.missing(at, "root", is_file ? "the path of a directory" : "the path of a file");
    }
}

/// The words of one type are not those of another.
void take_durability(ConfigReader& reader, StorageDraft& draft) {
    if (draft.durability_at == JsonPositions::none) return;
    const bool is_of_redis = draft.durability_word >= durabilities.size();
    if (draft.type == StorageType::memory) return;
    if (is_of_redis != (draft.type == StorageType::redis))
        return reader.unexpected(draft.durability_at, is_of_redis ? R"(one of "none", "data", "full")"
                                                                  : R"(one of "reply", "one_replica", "all_replicas")");
    if (is_of_redis) {
        draft.redis_durability = all_durabilities[draft.durability_word];
    } else {
        draft.file.durability = durability_values[draft.durability_word];
    }
}

std::string resolve(const std::string& root, const std::string& base_dir) {
    const std::filesystem::path path(root);
    if (root.empty() || base_dir.empty() || path.is_absolute()) return root;
    return (std::filesystem::path(base_dir) / path).lexically_normal().string();
}

}  // namespace

void read_storage(ConfigReader& reader, NodeId at, StorageSettings& storage) {
    StorageDraft draft;
    read_object<StorageDraft>(reader, at, draft, storage_fields);
    if (reader.json()[at].kind != JsonPositions::Kind::object) return;
    if (reader.json().member(at, "type") == JsonPositions::none)
        return reader.missing(at, "type", "\"memory\", \"file\", \"sqlite\" or \"redis\"");
    if (draft.type == StorageType::none) return;  // told already
    refuse_keys_of_others(reader, draft);
    if (draft.type == StorageType::file || draft.type == StorageType::sqlite) require_root(reader, at, draft);
    take_durability(reader, draft);
    draft.root = resolve(draft.root, reader.source().base_dir);
    draft.lookup = reader.source().lookup;
    draft.openers = reader.source().openers;
    storage = draft;
}

void add_storage_keys(std::vector<ConfigKey>& keys) { add_keys<StorageDraft>(keys, "storage.", storage_fields); }

}  // namespace whittle::inline v0::detail
