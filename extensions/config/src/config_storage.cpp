#include "config_rows.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

std::shared_ptr<Storage> open_storage(const StorageSettings& settings) {
    if (settings.type.empty()) return nullptr;
    const detail::ConfigRows& own = detail::rows_of(settings.types);
    const auto row = detail::find_row(&detail::ConfigRows::stores, own, settings.type);
    if (!row) detail::fail_unknown("store", settings.type);
    const ConfigContext context{.lookup = settings.lookup};
    auto storage = row->open(settings.config, context);
    if (!storage) detail::fail_made("store", settings.type, settings.type, {});
    for (const StoreLayer layer : {StoreLayer::encrypts, StoreLayer::masks}) {
        for (const auto& around : own.around) {
            const auto given = settings.wrapper_configs.find(around->name);
            if (around->layer == layer && given != settings.wrapper_configs.end())
                storage = around->wrap(std::move(storage), given->second, context);
            if (!storage) detail::fail_made("store", around->name, settings.type, {});
        }
    }
    for (const auto& [name, config] : settings.wrapper_configs) {
        if (!detail::find_row(own.around, name)) detail::fail_unknown("store around others", name);
    }
    return storage;
}

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

namespace {

/// Reads a key of a store around; false: none has it.
bool read_around(ConfigReader& reader, NodeId at, std::string_view key, StorageSettings& storage,
                 const FieldRefs& refs) {
    for (const auto& row : reader.rows().around) {
        std::any config = row->defaults();
        if (find_field(row->bind(config), key) == nullptr) continue;
        std::any& given = storage.wrapper_configs.try_emplace(row->name, std::move(config)).first->second;
        read_field(reader, at, *find_field(row->bind(given), key), refs);
        return true;
    }
    return false;
}

std::vector<std::string> names_of_keys_around(const ConfigRows& rows) {
    std::vector<std::string> names;
    for (const auto& row : rows.around) {
        std::any config = row->defaults();
        for (const BoundField& field : row->bind(config).all) names.push_back(field.info->name);
    }
    return names;
}

}  // namespace

void read_storage(ConfigReader& reader, NodeId at, StorageSettings& storage) {
    const ConfigRows& rows = reader.rows();
    const auto row = choose_row(reader, at, "type", "storage", rows.stores);
    if (!row) return;
    StorageSettings read{
        .type = row->name, .config = row->defaults(), .lookup = reader.source().lookup, .types = reader.source().types};
    StageSettings none;
    const FieldRefs refs{none.storages, none.models_by_key};
    const std::vector<std::string> around = names_of_keys_around(rows);
    OtherKeys others{
        .names = {"type"},
        .read = [&](NodeId child,
                    std::string_view key) { return key == "type" || read_around(reader, child, key, read, refs); },
        .only_for_type = [&](std::string_view key) { return names_of_rows_with(rows.stores, "storage of type", key); }};
    others.names.insert(others.names.end(), around.begin(), around.end());
    read_row(reader, at, *row, read.config, refs, others);
    read.place = row->place(read.config);
    storage = std::move(read);
}

}  // namespace whittle::inline v0::detail
