#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// A value in a JSON text: where it stands, and what is around it.
struct JsonNode {
    enum class Kind : std::uint8_t { object, array, string, other };
    static constexpr std::uint32_t none = UINT32_MAX;

    Kind kind = Kind::other;
    bool has_new_key = false;  ///< a name of a member comes up in it for the first time
    std::uint32_t begin = 0;   ///< of its literal, quotes and brackets included
    std::uint32_t end = 0;
    std::uint32_t key_begin = 0;  ///< of the name that it has as a member, quotes included
    std::uint32_t key_end = 0;    ///< 0: it is no member
    std::uint32_t first_child = none;
    std::uint32_t next = none;  ///< sibling
    std::uint32_t children = 0;
    std::uint64_t keys = 0;       ///< of an object: a hash of its names, in order
    std::uint64_t deep_keys = 0;  ///< the same, with those of the objects that its members are
};

/// A JSON text as nodes, each behind the one around it; the first one is the whole.
class JsonNodes {
public:
    /// `text` has to be valid, or lines of valid JSON (`are_lines`), which become the elements of an array. Nullopt
    /// for more than a million values. Linear, without recursion. Views of the text.
    static std::optional<JsonNodes> of(std::string_view text, bool are_lines);

    [[nodiscard]] const JsonNode& operator[](std::uint32_t node) const noexcept { return nodes_[node]; }
    [[nodiscard]] std::string_view text(std::uint32_t node) const noexcept {
        return text_.substr(nodes_[node].begin, nodes_[node].end - nodes_[node].begin);
    }
    /// With its quotes.
    [[nodiscard]] std::string_view key(std::uint32_t node) const noexcept {
        return text_.substr(nodes_[node].key_begin, nodes_[node].key_end - nodes_[node].key_begin);
    }
    [[nodiscard]] bool has_key(std::string_view with_quotes) const noexcept;
    [[nodiscard]] bool has_fields(std::uint32_t node) const noexcept {
        return nodes_[node].kind == JsonNode::Kind::object && nodes_[node].children > 0;
    }

private:
    explicit JsonNodes(std::string_view text) : text_(text) {}
    friend class JsonNodeReader;

    std::string_view text_;
    std::vector<JsonNode> nodes_{};
};

}  // namespace whittle::inline v0::detail
