#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// A place in a text, from 1. Columns count characters.
struct TextPlace {
    std::size_t line = 1;
    std::size_t column = 1;
};

[[nodiscard]] TextPlace place_of(std::string_view text, std::size_t offset) noexcept;

/// A JSON text as nodes that know where they stand, which nlohmann's values do not. Duplicate keys are kept. Views into
/// the text: it must outlive this.
class JsonPositions {
public:
    using NodeId = std::uint32_t;
    static constexpr NodeId root = 0;
    static constexpr NodeId none = UINT32_MAX;

    enum class Kind : std::uint8_t { object, array, string, number, literal };

    struct Node {
        Kind kind = Kind::literal;
        NodeId parent = none;
        NodeId first_child = none;
        NodeId next = none;
        std::uint32_t offset = 0;  ///< of the value
        std::uint32_t size = 0;
        std::uint32_t key_offset = 0;  ///< of a member's name, at its quote
        std::uint32_t key_size = 0;    ///< with quotes; 0: no member
    };

    /// `text` must be valid JSON, below 4 GiB. Does not recurse.
    explicit JsonPositions(std::string_view text);

    [[nodiscard]] const Node& operator[](NodeId id) const noexcept { return nodes_[id]; }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    /// The value as it is written.
    [[nodiscard]] std::string_view raw(NodeId id) const noexcept {
        return text_.substr(nodes_[id].offset, nodes_[id].size);
    }
    /// The member's name, unescaped; empty for elements.
    [[nodiscard]] std::string key(NodeId id) const;
    /// Of a string, unescaped.
    [[nodiscard]] std::string text(NodeId id) const;
    /// The first member with that name, or `none`.
    [[nodiscard]] NodeId member(NodeId object, std::string_view key) const;
    /// "middlewares[0].tool_config.read"; empty for the root.
    [[nodiscard]] std::string path(NodeId id) const;
    [[nodiscard]] TextPlace place(NodeId id) const noexcept { return place_of(text_, nodes_[id].offset); }
    /// Of the name where there is one, else of the value.
    [[nodiscard]] TextPlace place_of_key(NodeId id) const noexcept;

private:
    std::string_view text_;
    std::vector<Node> nodes_{};
};

}  // namespace whittle::inline v0::detail
