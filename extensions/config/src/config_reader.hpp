#pragma once

#include "json_positions.hpp"
#include "whittle/config/config_json.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

using NodeId = JsonPositions::NodeId;

/// Reads values out of a JSON text and collects what is wrong, each with its place. A value that is wrong leaves its
/// target as it was.
class ConfigReader {
public:
    ConfigReader(const JsonPositions& json, const ConfigSource& source)
        : json_(json), source_(source), rows_(with_core(rows_of(source.types))) {}

    [[nodiscard]] const JsonPositions& json() const noexcept { return json_; }
    [[nodiscard]] const ConfigSource& source() const noexcept { return source_; }
    /// What the configuration may name.
    [[nodiscard]] const ConfigRows& rows() const noexcept { return rows_; }

    /// "{place}: {path}: {text}". At most 100 are kept.
    void problem(NodeId at, const std::string& path, std::string_view text);
    void problem(NodeId at, std::string_view text);
    /// The object `at` has no member `key`.
    void missing(NodeId at, std::string_view key, std::string_view expected);
    /// "found {raw value}, expected {expected}"
    void unexpected(NodeId at, std::string_view expected);
    void warning(NodeId at, const std::string& path, std::string_view text);

    /// An unknown word: what is allowed, and the most similar of it.
    void unknown(NodeId at, std::string_view what, std::string_view word, std::span<const std::string_view> allowed);

    [[nodiscard]] std::size_t problem_count() const noexcept { return problems_.size() + left_out_; }
    [[nodiscard]] bool has_problem_at(const std::string& path) const { return at_fault_.contains(path); }
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::move(warnings_); }
    void throw_if_problems() const;

    // Each is false, with a problem, if the value is of another type.
    bool read_flag(NodeId at, bool& value);
    bool read_integer(NodeId at, std::int64_t lowest, std::int64_t highest, std::int64_t& value);
    bool read_real(NodeId at, double lowest, double highest, double& value);
    bool read_text(NodeId at, std::string& value);
    bool read_texts(NodeId at, std::vector<std::string>& values);
    /// The index of the word in `words`.
    std::optional<std::size_t> read_word(NodeId at, std::string_view what, std::span<const std::string_view> words);
    /// Whether it is an object whose member names are all different; each duplicate is a problem.
    bool check_object(NodeId at);
    bool check_array(NodeId at, std::string_view expected);
    /// Calls `read` for each member of an object, once for each name.
    void read_members(NodeId at, const std::function<void(NodeId, const std::string& key)>& read);

    [[nodiscard]] std::string found(NodeId at) const;

private:
    [[nodiscard]] std::string line(NodeId at, const std::string& path, std::string_view text) const;

    const JsonPositions& json_;
    const ConfigSource& source_;
    ConfigRows rows_;
    std::vector<std::string> problems_{};
    std::vector<std::string> warnings_{};
    std::set<std::string> at_fault_{};
    std::size_t left_out_ = 0;
};

[[nodiscard]] std::string allowed_integers(std::int64_t lowest, std::int64_t highest);
/// `highest`: the largest double for no limit.
[[nodiscard]] std::string allowed_reals(double lowest, double highest);

/// `text` as a string of JSON.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace whittle::inline v0::detail
