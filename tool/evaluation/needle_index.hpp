#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::evaluation {

using Needle = std::uint32_t;

/// Finds many strings in many texts at once. Each pattern is looked for by four bytes of it that are rare in the texts,
/// so that a pass costs time in proportion to the text and to what is found.
class NeedleIndex {
public:
    /// The same text is the same needle. It is found as it is and, unless `exact`, as it stands in a JSON string.
    Needle add(std::string_view text, bool exact = false);
    /// Counts what is rare. All texts first, then `build`.
    void learn(std::string_view text);
    void build();

    /// The needles that `text` holds, each once.
    [[nodiscard]] std::vector<Needle> find_in(std::string_view text) const;
    /// The needles that stand in `text` as they are, each once.
    [[nodiscard]] std::vector<Needle> find_exactly_in(std::string_view text) const;

    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }
    [[nodiscard]] std::string_view text(Needle needle) const { return texts_[needle]; }
    /// Whether `text` holds that one needle.
    [[nodiscard]] bool holds(std::string_view text, Needle needle) const;
    /// Where it begins, as it is or escaped, whichever comes first; npos if nowhere.
    [[nodiscard]] std::size_t position_in(std::string_view text, Needle needle) const;

private:
    struct Pattern {
        std::string_view text{};
        Needle needle = 0;
        std::uint32_t anchor = 0;  // offset of the rare bytes
        bool is_escaped = false;
    };
    using Bucket = std::uint16_t;

    void add_pattern(std::string text, Needle needle, bool is_escaped);
    [[nodiscard]] std::uint32_t anchor_of(std::string_view pattern) const;
    void scan(std::string_view text, FunctionRef<void(const Pattern&)> found) const;
    [[nodiscard]] std::vector<Needle> collect(std::string_view text, bool only_exact) const;

    std::unordered_map<std::string, Needle> known_{};  // "=" or "~" and the text
    std::vector<std::string_view> texts_{};
    std::deque<std::string> held_{};
    std::vector<Pattern> patterns_{};
    std::vector<std::uint32_t> frequency_ = std::vector<std::uint32_t>(1U << 16U);
    std::vector<std::uint32_t> first_{};   // by bucket: into `sorted_`
    std::vector<std::uint32_t> sorted_{};  // patterns by bucket
    std::vector<std::uint32_t> short_{};   // patterns without four bytes
    std::vector<std::vector<std::uint32_t>> of_needle_{};
};

}  // namespace whittle::inline v0::evaluation
