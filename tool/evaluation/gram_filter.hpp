#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace whittle::inline v0::evaluation {

/// Eight bytes that follow each other in a text.
using Gram = std::uint64_t;

/// Some grams of `text`, from all over it, that stand in a JSON string as they are. None of a short text.
[[nodiscard]] std::vector<Gram> some_grams(std::string_view text);

/// Tells at once of most texts that a content does not hold them: a bit for each of its grams (B. H. Bloom, Space/time
/// trade-offs in hash coding with allowable errors, 1970). Takes one to two bytes for each byte of the content.
class GramFilter {
public:
    explicit GramFilter(std::string_view content);

    /// False only if one of them does not stand in the content.
    [[nodiscard]] bool may_hold(const std::vector<Gram>& grams) const;

private:
    [[nodiscard]] std::size_t place_of(Gram gram) const noexcept;

    int shift_ = 0;
    std::vector<bool> has_{};
};

}  // namespace whittle::inline v0::evaluation
