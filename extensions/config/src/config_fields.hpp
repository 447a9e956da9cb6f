#pragma once

#include "config_reader.hpp"
#include "whittle/base/detail/type_id.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// Where what fields only name is put, by dotted key.
struct FieldRefs {
    std::map<std::string, StorageSettings, std::less<>>& storages;
    std::map<std::string, std::string, std::less<>>& models;
    std::string prefix{};  ///< of keys: "" or "failover."

    [[nodiscard]] FieldRefs below(const std::string& key) const { return {storages, models, prefix + key + "."}; }
};

/// The field of that name; null: there is none.
[[nodiscard]] const BoundField* find_field(const BoundFields& fields, std::string_view name);
void read_field(ConfigReader& reader, NodeId at, const BoundField& field, const FieldRefs& refs);
/// Reports the keys that the object `at` must have and has not.
void check_required(ConfigReader& reader, NodeId at, const BoundFields& fields);

/// What a value may be, as the documentation writes it.
[[nodiscard]] std::string_view type_text(const FieldValue& value);
/// The default of a key, of an object that has its defaults.
[[nodiscard]] std::string default_text(const BoundField& field);

void add_own_key(std::vector<ConfigKey>& keys, const std::string& prefix, const BoundField& field);
/// Adds the keys, and behind them those of the objects in them whose type is not in `listed` yet.
void add_field_keys(std::vector<ConfigKey>& keys, const std::string& prefix, const BoundFields& fields,
                    std::set<TypeId>& listed);
/// What differs from `defaults`, as members of a JSON object: `"name": value` each. `models`: names by dotted key.
[[nodiscard]] std::vector<std::string> changed_members(const BoundFields& fields, const BoundFields& defaults,
                                                       const std::map<std::string, std::string, std::less<>>& models);

/// Calls `visit(key, storage)` for each storage, with its dotted key.
void for_each_storage(const BoundFields& fields, const std::string& prefix,
                      const std::function<void(const std::string&, std::shared_ptr<Storage>&)>& visit);

/// Whether a configuration has that section or key.
[[nodiscard]] bool is_top_level_key(std::string_view name);

// What fields name.

void read_storage(ConfigReader& reader, NodeId at, StorageSettings& storage);
void read_counter(ConfigReader& reader, NodeId at, std::shared_ptr<const TokenCounter>& counter);

}  // namespace whittle::inline v0::detail
