#pragma once

#include "whittle/tokens/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Token counts of a text up to its lines: after one pass it finds the head and the tail that fit a number of tokens by
/// looking at a line or two. The text must outlive the index. Immutable; 16 bytes a cut.
class TokenIndex {
public:
    /// A border of lines (or an end of the text) where the counts on both sides add up to the whole, both alone.
    struct Cut {
        std::size_t offset;          ///< in bytes
        std::int64_t tokens_before;  ///< of the text up to `offset`, counted alone
    };

    /// Counts the text. Cuts are at least `bytes_between_cuts` apart; 0 takes every border that can be one: those
    /// before a line that starts with a character that is no white space (in o200k nor a slash). Throws
    /// Error(invalid_argument) for a null vocabulary.
    TokenIndex(std::shared_ptr<const Vocabulary> vocabulary, std::string_view text,
               std::size_t bytes_between_cuts = 256);

    /// The prefix counts, in order: the first is {0, 0}, the last has the size of the text and all its tokens.
    [[nodiscard]] std::span<const Cut> cuts() const noexcept { return cuts_; }

    [[nodiscard]] std::int64_t tokens() const noexcept { return cuts_.back().tokens_before; }

    /// The longest head of the text that ends between two of its tokens and between two characters, and that has at
    /// most `tokens` when it is counted alone. O(log lines + length of the line where it ends).
    [[nodiscard]] std::string_view head(std::int64_t tokens) const;

    /// A tail with at most `tokens` when it is counted alone, cut in the same way. It starts where a token of the whole
    /// text starts; a tail that starts inside a token may be a few bytes longer and fit as well.
    [[nodiscard]] std::string_view tail(std::int64_t tokens) const;

private:
    std::shared_ptr<const Vocabulary> vocabulary_;
    std::string_view text_;
    std::vector<Cut> cuts_{};
};

}  // namespace whittle::inline v0
