#pragma once

#include "json_positions.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
struct ConfigSource;
}

namespace whittle::inline v0::detail {

class ConfigReader;

/// What the reading functions ask of values, as JSON Schema (draft 2020-12). A `ConfigReader` with notes reads nothing:
/// each question becomes a schema of the value that was asked about, so that a schema can only say what the reader
/// does.
class SchemaNotes {
public:
    using NodeId = JsonPositions::NodeId;

    void flag(NodeId at);
    void integer(NodeId at, std::int64_t lowest, std::int64_t highest);
    void real(NodeId at, double lowest, double highest);
    void text(NodeId at);
    void texts(NodeId at);
    void words(NodeId at, std::span<const std::string_view> words);
    void array(NodeId at);
    void object(NodeId at);  ///< with any members
    /// An object with any names, all of whose values are as `child`, a member of it.
    void map(NodeId at, NodeId child);
    void missing(NodeId at, std::string_view key);
    void add(NodeId at, std::string schema);

    /// What a value may be; empty: nothing was asked about it.
    [[nodiscard]] std::vector<std::string> schemas_of(NodeId at) const;

private:
    std::map<NodeId, std::vector<std::string>> notes_{};
    std::map<NodeId, std::set<std::string, std::less<>>> required_{};
};

/// A key as its table has it.
struct SchemaKey {
    std::string_view name;
    std::string_view type;
    std::string fallback{};
    std::string_view meaning;
};

/// The schema of an object that a table of fields describes.
class ObjectSchema {
public:
    explicit ObjectSchema(const ConfigSource& source) : source_(source) {}

    /// `read` is called with a value of each kind, since what it asks may depend on that.
    void add(const SchemaKey& key, const std::function<void(ConfigReader&, JsonPositions::NodeId)>& read);
    /// No other members are allowed.
    [[nodiscard]] std::string text() const;

private:
    const ConfigSource& source_;
    std::string properties_{};
};

/// An object whose member "type" decides which of `schemas`, by name, it is.
[[nodiscard]] std::string schema_by_type(std::span<const std::pair<std::string_view, std::string>> schemas);

/// The whole: a title, and `middlewares` as a list of `stages`. Pretty.
[[nodiscard]] std::string whole_schema(const std::string& top, const std::string& stages);

}  // namespace whittle::inline v0::detail
