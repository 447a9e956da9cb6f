#include "config_json_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace whittle::inline v0 {

std::shared_ptr<Storage> open_storage(const StorageSettings& settings) {
    switch (settings.type) {
        case StorageSettings::Type::memory: return memory_storage(settings.memory);
        case StorageSettings::Type::file: return file_storage(settings.root, settings.file);
        case StorageSettings::Type::none: break;
    }
    return nullptr;
}

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

namespace {

struct StorageDraft : StorageSettings {
    std::string root_env{};
    NodeId root_env_at = JsonPositions::none;
    std::vector<NodeId> file_only{};
    std::vector<NodeId> memory_only{};
};

constexpr std::array<std::string_view, 4> types{"memory", "file", "sqlite", "redis"};
constexpr std::array<std::string_view, 3> durabilities{"none", "data", "full"};

void read_type(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    const auto found = reader.read_word(at, "storage", types);
    if (!found) return;
    if (*found > 1)
        return reader.unexpected(at, "\"memory\" or \"file\": this backend is not built yet in this version");
    storage.type = *found == 0 ? StorageSettings::Type::memory : StorageSettings::Type::file;
}

void read_root(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.file_only.push_back(at);
    if (!reader.read_text(at, storage.root)) return;
    if (storage.root.empty() || storage.root.find('\0') != std::string::npos)
        reader.unexpected(at, "the path of a directory");
}

void read_root_env(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.file_only.push_back(at);
    storage.root_env_at = at;
    if (!reader.read_text(at, storage.root_env)) return;
    const auto& lookup = reader.source().lookup;
    const std::optional<std::string> value = lookup ? lookup(storage.root_env) : std::nullopt;
    if (!value || value->empty())
        return reader.problem(at, fmt::format("the environment has no value \"{}\"", storage.root_env));
    storage.root = *value;
}

constexpr std::array durability_values{Durability::none, Durability::data, Durability::full};

void read_durability(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.file_only.push_back(at);
    if (const auto found = reader.read_word(at, "durability", durabilities))
        storage.file.durability = durability_values[*found];
}

void read_max_age(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.file_only.push_back(at);
    read_integer<&FileStorageOptions::temporary_max_age_seconds, 0>(reader, at, storage.file);
}

void read_shown_root(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.file_only.push_back(at);
    reader.read_text(at, storage.file.shown_root);
}

void read_max_bytes(ConfigReader& reader, NodeId at, StorageDraft& storage) {
    storage.memory_only.push_back(at);
    read_integer<&MemoryStorageOptions::max_bytes, 0>(reader, at, storage.memory);
}

constexpr std::array<Field<StorageDraft>, 7> storage_fields{{
    {"type", "string", "required", "`memory` or `file`", &read_type},
    {"root", "string", "required for `file`", "directory; a relative one is relative to the configuration file",
     &read_root},
    {"root_env", "string", "none", "instead of `root`: the name of an environment value that holds it", &read_root_env},
    {"durability", "string",
     +[](const StorageDraft& d) { return word_of(d.file.durability, durability_values, durabilities); },
     "`file`: what a finished write survives: `none`, `data`, `full`; see docs/storage.md", &read_durability},
    {"temporary_max_age_seconds", "integer",
     +[](const StorageDraft& d) { return shown<&FileStorageOptions::temporary_max_age_seconds>(d.file); },
     "`file`: older temporary files are removed on opening", &read_max_age},
    {"shown_root", "string", "the root's path",
     "`file`: what references to objects begin with, where the agent's own file "
     "tool finds the directory elsewhere",
     &read_shown_root},
    {"max_bytes", "integer", +[](const StorageDraft& d) { return shown<&MemoryStorageOptions::max_bytes>(d.memory); },
     "`memory`: sum of all contents; 0: no limit", &read_max_bytes},
}};

void refuse_all(ConfigReader& reader, const std::vector<NodeId>& nodes, std::string_view type) {
    for (const NodeId node : nodes) reader.problem(node, fmt::format("only for storage of type \"{}\"", type));
}

void check_file(ConfigReader& reader, NodeId at, const StorageDraft& draft) {
    refuse_all(reader, draft.memory_only, "memory");
    const NodeId root = reader.json().member(at, "root");
    if (root != JsonPositions::none && draft.root_env_at != JsonPositions::none) {
        reader.problem(draft.root_env_at, "stands beside \"root\"; only one of them can be given");
    } else if (root == JsonPositions::none && draft.root_env_at == JsonPositions::none) {
        reader.missing(at, "root", "the path of a directory");
    }
}

std::string resolve(const std::string& root, const std::string& base_dir) {
    const std::filesystem::path path(root);
    if (base_dir.empty() || path.is_absolute()) return root;
    return (std::filesystem::path(base_dir) / path).lexically_normal().string();
}

}  // namespace

void read_storage(ConfigReader& reader, NodeId at, StorageSettings& storage) {
    StorageDraft draft;
    read_object<StorageDraft>(reader, at, draft, storage_fields);
    if (reader.json()[at].kind != JsonPositions::Kind::object) return;
    if (reader.json().member(at, "type") == JsonPositions::none)
        return reader.missing(at, "type", "\"memory\" or \"file\"");
    if (draft.type == StorageSettings::Type::file) check_file(reader, at, draft);
    if (draft.type == StorageSettings::Type::memory) refuse_all(reader, draft.file_only, "file");
    draft.root = resolve(draft.root, reader.source().base_dir);
    storage = draft;
}

void add_storage_keys(std::vector<ConfigKey>& keys) { add_keys<StorageDraft>(keys, "storage.", storage_fields); }

}  // namespace whittle::inline v0::detail
