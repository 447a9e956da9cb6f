#pragma once

#include "whittle/tokens/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Counts a text that comes in chunks: exactly what `Vocabulary::count` gives for the chunks in one, wherever they are
/// cut (inside characters too). Keeps only the text whose split may still depend on what follows: a word or a run of
/// blanks at the end, and what has not been looked at yet (4 KiB, or as much as such an end). One thread at a time.
class TokenStream {
public:
    /// Throws Error(invalid_argument) for null.
    explicit TokenStream(std::shared_ptr<const Vocabulary> vocabulary);

    /// Amortised O(size), however small the chunks are.
    void append(std::string_view chunk);

    /// Tokens of everything appended so far, as if the text ended here. O(text kept).
    [[nodiscard]] std::int64_t tokens() const;

    /// Bytes of text kept.
    [[nodiscard]] std::size_t kept_bytes() const noexcept { return open_.size() + torn_.size(); }

private:
    void settle();

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::int64_t settled_tokens_ = 0;
    std::string open_{};     // well-formed, starts at a piece
    std::string torn_{};     // the start of a character
    std::size_t settle_at_;  // bytes of `open_`
};

}  // namespace whittle::inline v0
