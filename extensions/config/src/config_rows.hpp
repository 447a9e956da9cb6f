#pragma once

#include "config_fields.hpp"

#include <any>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The names of rows, as an error lists them.
template <typename RowType>
[[nodiscard]] std::vector<std::string_view> names_of(const SharedRows<RowType>& rows) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.push_back(row->name);
    return names;
}

/// `"a" or "b"`
[[nodiscard]] std::string one_of(const std::vector<std::string_view>& names);

/// The index of the name that the member `key` of the object `at` has; nullopt with a problem.
[[nodiscard]] std::optional<std::size_t> read_choice(ConfigReader& reader, NodeId at, std::string_view key,
                                                     std::string_view what, const std::vector<std::string_view>& names);

/// The row of that name. Null with a problem.
template <typename RowType>
[[nodiscard]] std::shared_ptr<const RowType> choose_row(ConfigReader& reader, NodeId at, std::string_view key,
                                                        std::string_view what, const SharedRows<RowType>& rows) {
    const auto index = read_choice(reader, at, key, what, names_of(rows));
    return index ? rows[*index] : nullptr;
}

/// Keys of an object that its row does not have.
struct OtherKeys {
    std::vector<std::string_view> names{};
    /// False: that is none of them.
    std::function<bool(NodeId at, std::string_view key)> read{};
    /// Other types that have that key, as an error tells: "only for ..."; empty: none.
    std::function<std::string(std::string_view key)> only_for_type{};
};

/// Reads the object `at` into `config`.
void read_row(ConfigReader& reader, NodeId at, const Row& row, std::any& config, const FieldRefs& refs,
              const OtherKeys& others);

/// `only for {what} "a" or "b"`: the rows that have that key; empty: none has.
template <typename RowType>
[[nodiscard]] std::string names_of_rows_with(const SharedRows<RowType>& rows, std::string_view what,
                                             std::string_view key) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) {
        std::any config = row->defaults();
        if (find_field(row->bind(config), key) != nullptr) names.push_back(row->name);
    }
    return names.empty() ? std::string() : "only for " + std::string(what) + " " + one_of(names);
}

/// Adds the key that chooses a row, and the keys of each.
template <typename RowType>
void add_row_keys(std::vector<ConfigKey>& keys, const std::string& prefix, const std::string& key,
                  const std::string& fallback, const SharedRows<RowType>& rows) {
    std::string meaning;
    for (const auto& row : rows) meaning += (meaning.empty() ? "`" : ", `") + row->name + "`";
    keys.push_back({prefix + key, "string", fallback, meaning});
    for (const auto& row : rows) {
        std::set<TypeId> listed;
        std::any config = row->defaults();
        std::vector<ConfigKey> own;
        add_field_keys(own, prefix, row->bind(config), listed);
        for (ConfigKey& field : own) {
            field.only_for_type = row->name;
            field.meaning = "`" + row->name + "`: " + field.meaning;
            keys.push_back(std::move(field));
        }
    }
}

}  // namespace whittle::inline v0::detail
