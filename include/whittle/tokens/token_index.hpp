#pragma once

#include "whittle/tokens/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Token counts of a text up to its lines: after one pass it finds the head and the tail that fit a number of tokens by
/// looking at a line or two. The text must outlive the index. Immutable; 16 bytes for every 256 bytes of text at most.
class TokenIndex {
public:
    /// Counts the text. Throws Error(invalid_argument) for a null vocabulary.
    TokenIndex(std::shared_ptr<const Vocabulary> vocabulary, std::string_view text);

    [[nodiscard]] std::int64_t tokens() const noexcept { return cuts_.back().tokens_before; }

    /// The longest head of the text that ends between two of its tokens and between two characters, and that has at
    /// most `tokens` when it is counted alone. O(log lines + length of the line where it ends).
    [[nodiscard]] std::string_view head(std::int64_t tokens) const;

    /// The same from the end.
    [[nodiscard]] std::string_view tail(std::int64_t tokens) const;

private:
    /// A place where counts on both sides add up to the whole.
    struct Cut {
        std::size_t offset;
        std::int64_t tokens_before;
    };

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::string_view text_;
    std::vector<Cut> cuts_{};  // the first is 0, the last the end of the text
};

}  // namespace whittle::inline v0
