#pragma once

#include "whittle/tiktoken/detail/char_class.hpp"

#include <string_view>

namespace whittle::inline v0::bpe {

/// Which split pattern of tiktoken 0.14 an encoding has; the names are those of the first encoding that had it.
enum class Pattern : std::uint32_t { o200k = 1, cl100k = 2, gpt2 = 3 };

/// Cuts well-formed UTF-8 into pieces, which merges never cross, as the pattern's regular expression would. Linear.
template <Pattern pattern>
class PieceSplitter {
public:
    explicit PieceSplitter(std::string_view text) noexcept
        : text_(reinterpret_cast<const unsigned char*>(text.data())), size_(text.size()) {}

    /// End of the piece that starts at `at`, which is a boundary and not the end of the text.
    std::size_t end_of_piece(std::size_t at) noexcept {
        if constexpr (pattern == Pattern::o200k) return o200k(at);
        if constexpr (pattern == Pattern::cl100k) return cl100k(at);
        if constexpr (pattern == Pattern::gpt2) return gpt2(at);
    }

    /// Whether an end that was given may lie elsewhere if more text follows.
    [[nodiscard]] bool saw_end() const noexcept { return saw_end_; }

private:
    static constexpr unsigned any_letter_or_mark = letters | mark;
    static constexpr std::size_t longest_number = 3;

    std::size_t o200k(std::size_t at) noexcept {
        const Char first = char_at(text_ + at);
        if (first.type & any_letter_or_mark) return cased_word(at);
        if (first.type == number) return short_number(at);
        const std::size_t after = at + first.bytes;
        const unsigned next = first.type == newline ? 0U : type_at(after);
        if (next & any_letter_or_mark) return cased_word(after);
        if (first.type == other) return marks(after);
        return text_[at] == ' ' && next == other ? marks(after) : blank(at);
    }

    std::size_t cl100k(std::size_t at) noexcept {
        if (const std::size_t end = contraction(at); end != at) return end;
        const Char first = char_at(text_ + at);
        if (first.type & letters) return run(at + first.bytes, letters);
        if (first.type == number) return short_number(at);
        const std::size_t after = at + first.bytes;
        const unsigned next = first.type == newline ? 0U : type_at(after);
        if (next & letters) return run(after, letters);
        if (first.type & (other | mark)) return marks(after);
        return text_[at] == ' ' && (next & (other | mark)) ? marks(after) : blank(at);
    }

    std::size_t gpt2(std::size_t at) noexcept {
        if (const std::size_t end = contraction(at); end != at) return end;
        const Char first = char_at(text_ + at);
        if (!(first.type & blanks)) return run(at + first.bytes, alike(first.type));
        const unsigned next = text_[at] == ' ' ? type_at(at + 1) : 0U;
        return next & ~blanks ? run(at + 1, alike(next)) : blank(at);
    }

    /// What a gpt2 piece goes on with after a character of `type`.
    static unsigned alike(unsigned type) noexcept {
        return type & letters ? letters : type == number ? unsigned{number} : unsigned{other | mark};
    }

    /// Two alternatives of the pattern in one pass: capitals first, then small letters; without small letters the word
    /// ends behind its last caseless letter or mark, if it has one.
    std::size_t cased_word(std::size_t at) noexcept {
        std::size_t i = at;
        std::size_t behind_caseless = at;
        Char c{};
        while (i < size_ && ((c = char_at(text_ + i)).type & (upper | caseless | mark))) {
            i += c.bytes;
            if (c.type != upper) behind_caseless = i;
        }
        if (i >= size_) saw_end_ = true;
        if (i < size_ && c.type == lower)
            i = run(i + c.bytes, lower | caseless | mark);
        else if (behind_caseless != at)
            i = behind_caseless;
        return contraction(i);
    }

    /// Behind the contraction ('s 't 'd 'm 're 've 'll) at `at`, or `at`.
    std::size_t contraction(std::size_t at) noexcept {
        if (at >= size_ || text_[at] != '\'') return at;
        constexpr std::size_t longest = 3;
        if (size_ - at <= longest) saw_end_ = true;
        const unsigned a = small(at + 1);
        const unsigned b = small(at + 2);
        if (a == 's' || a == 't' || a == 'd' || a == 'm') return at + 2;
        if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
        const bool is_long_s = a == 0xc5 && b == 0xbf;  // U+017F, which is an S to a pattern that ignores case
        return is_long_s && pattern != Pattern::gpt2 ? at + 3 : at;
    }

    /// The byte at `at`, ASCII letters as small ones where the pattern ignores case; 0 behind the end.
    [[nodiscard]] unsigned small(std::size_t at) const noexcept {
        if (at >= size_) return 0;
        const unsigned c = text_[at];
        return pattern != Pattern::gpt2 && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    }

    std::size_t short_number(std::size_t at) noexcept {
        for (std::size_t i = 0; i < longest_number; ++i) {
            if (at >= size_) {
                saw_end_ = true;
                break;
            }
            const Char c = char_at(text_ + at);
            if (c.type != number) break;
            at += c.bytes;
        }
        return at;
    }

    /// Marks and symbols from `at`, one of which came before it, with the newlines behind them.
    std::size_t marks(std::size_t at) noexcept {
        at = run(at, other | mark);
        while (at < size_ && is_tail_of_marks(text_[at])) ++at;
        if (at >= size_) saw_end_ = true;
        return at;
    }

    static bool is_tail_of_marks(unsigned char c) noexcept {
        return c == '\r' || c == '\n' || (pattern == Pattern::o200k && c == '/');
    }

    /// White space: up to its last newline; else all but its last character, which goes to the next piece.
    std::size_t blank(std::size_t at) noexcept {
        std::size_t end = at;
        std::size_t last = at;
        std::size_t behind_newline = at;
        Char c{};
        while (end < size_ && ((c = char_at(text_ + end)).type & blanks)) {
            last = end;
            end += c.bytes;
            if (c.type == newline) behind_newline = end;
        }
        if (end >= size_) saw_end_ = true;
        if (pattern != Pattern::o200k && end >= size_) return end;
        if (pattern != Pattern::gpt2 && behind_newline != at) return behind_newline;
        return end >= size_ || last == at ? end : last;
    }

    std::size_t run(std::size_t at, unsigned types) noexcept {
        while (at < size_) {
            const Char c = char_at(text_ + at);
            if (!(c.type & types)) return at;
            at += c.bytes;
        }
        saw_end_ = true;
        return at;
    }

    unsigned type_at(std::size_t at) noexcept {
        if (at < size_) return char_at(text_ + at).type;
        saw_end_ = true;
        return 0;
    }

    const unsigned char* text_;
    std::size_t size_;
    bool saw_end_ = false;
};

}  // namespace whittle::inline v0::bpe
