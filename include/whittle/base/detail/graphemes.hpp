#pragma once

#include "whittle/base/detail/grapheme_classes.hpp"
#include "whittle/base/version.hpp"

#include <cstddef>
#include <string_view>

namespace whittle::inline v0::detail {

/// How many code points a cut moves, at most, to stay out of a cluster. Stream-safe text (UAX #15) has no more
/// combining marks in a row; the longest emoji has 10 code points.
inline constexpr std::size_t most_of_cluster = 32;
/// How many regional indicators in a row are paired to flags: one each for all countries, and then some.
inline constexpr std::size_t most_regionals = 512;

/// Bytes in front of a place that say whether a cluster begins there, and at its end one more character.
inline constexpr std::size_t look_back_bytes = 4 * most_regionals + 3;
/// A cut that moves back moves by less.
inline constexpr std::size_t most_moved_bytes = 4 * (most_of_cluster + 1);

/// Where the extended grapheme clusters of a text begin: UAX #29 of Unicode 16. What would become one U+FFFD is one
/// character, as that.
class Clusters {
public:
    explicit Clusters(std::string_view text) noexcept : text_(text) {}

    /// The border of a cluster next to `at`, in front of it or behind it. `at` itself, between two characters, if that
    /// is a border, if the next one is further than `most_of_cluster` code points, and if nothing would be left of the
    /// text on the other side.
    [[nodiscard]] std::size_t border_before(std::size_t at) noexcept;
    [[nodiscard]] std::size_t border_behind(std::size_t at) noexcept;

    /// Whether a cluster begins at `at`, which is between two characters. O(1): a row of more than `most_of_cluster`
    /// code points, or `most_regionals`, counts from its middle.
    [[nodiscard]] bool is_border(std::size_t at) noexcept;

    /// Code points that were looked up: for tests of growth.
    [[nodiscard]] std::size_t looked_up() const noexcept { return looked_up_; }

private:
    using Class = unicode::GraphemeClass;

    [[nodiscard]] Class class_at(std::size_t at) noexcept;
    [[nodiscard]] std::size_t before(std::size_t at) const noexcept;
    [[nodiscard]] bool is_in_conjunct(std::size_t at) noexcept;
    [[nodiscard]] bool is_joined_emoji(std::size_t joiner) noexcept;
    [[nodiscard]] bool is_second_of_flag(std::size_t at) noexcept;

    std::string_view text_;
    std::size_t looked_up_ = 0;
};

/// `Clusters::border_before` and `border_behind`, without looking anything up between two ASCII characters.
[[nodiscard]] std::size_t cluster_border_before(std::string_view text, std::size_t at) noexcept;
[[nodiscard]] std::size_t cluster_border_behind(std::string_view text, std::size_t at) noexcept;

}  // namespace whittle::inline v0::detail
