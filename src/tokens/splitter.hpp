#pragma once

#include "pieces.hpp"

namespace whittle::inline v0::pieces {

/// Cuts a text into pieces: `visit(kind, characters, begin, end)` for each, in order. Linear, allocates nothing.
template <typename Visit>
class Splitter {
public:
    Splitter(std::string_view text, Visit visit) : text_(text), visit_(visit) {}

    void run() {
        while (at_ < text_.size()) step();
    }

private:
    enum Prefix : unsigned { bare, spaced, marked };

    static constexpr std::size_t digits_of_a_piece = 3;
    static constexpr std::size_t pieces_before_dense = 4;
    static constexpr std::size_t dense_characters_of_a_piece = 4;

    void step() {
        const Char c = char_at(text_, at_);
        if (is_letter(c.type)) return word(at_, bare);
        if (c.type == Class::digit) return number();
        if (c.type == Class::space || c.type == Class::newline) return blank();
        const std::size_t next = at_ + c.bytes;
        if (c.type != Class::invalid && next < text_.size() && is_letter(char_at(text_, next).type))
            return word(next, marked);
        if (is_mark(c.type)) return marks(at_);
        run_of(c.type);
    }

    /// The letters from `from`; what stands between `at_` and `from` belongs to the word.
    void word(std::size_t from, Prefix prefix) {
        const Char first = char_at(text_, from);
        if (is_latin(first.type)) return latin_word(from, prefix);
        std::size_t end = from;
        std::size_t characters = 0;
        for (Char c = first; end < text_.size() && c.type == first.type; c = char_at(text_, end)) {
            end += c.bytes;
            ++characters;
        }
        restart_run();
        give(kind_of(first.type), characters, end);
    }

    void latin_word(std::size_t from, Prefix prefix) {
        std::size_t end = from;
        while (end < text_.size() && at(end) == Class::upper) ++end;
        const std::size_t capitals = end - from;
        std::size_t characters = capitals;
        bool only_ascii = true;
        for (Char c = char_at(text_, end); end < text_.size() && (c.type == Class::lower || c.type == Class::latin);
             c = char_at(text_, end)) {
            only_ascii = only_ascii && c.bytes == 1;
            end += c.bytes;
            ++characters;
        }
        const bool all_capitals = characters == capitals;
        const std::size_t contraction = contraction_at(end);
        end += contraction;
        characters += contraction;
        if (!only_ascii) {
            restart_run();
            return give(Kind::latin, characters, end);
        }
        const unsigned form = capitals == 0 ? 0U : all_capitals || capitals > 1 ? 2U : 1U;
        give(static_cast<Kind>(form * 4U + (is_dense(prefix, characters) ? 3U : static_cast<unsigned>(prefix))),
             characters, end);
    }

    /// Bytes of "'s", "'ll" and the like, which stay with their word.
    [[nodiscard]] std::size_t contraction_at(std::size_t at) const noexcept {
        if (at >= text_.size() || text_[at] != '\'') return 0;
        const std::string_view rest = text_.substr(at + 1, 2);
        if (rest == "re" || rest == "ve" || rest == "ll") return 3;
        return !rest.empty() && std::string_view("stdm").find(rest[0]) != std::string_view::npos ? 2 : 0;
    }

    void number() {
        std::size_t end = at_;
        while (end < text_.size() && end - at_ < digits_of_a_piece && at(end) == Class::digit) ++end;
        ++run_pieces_;
        run_characters_ += end - at_;
        give(Kind::number, end - at_, end);
    }

    void blank() {
        std::size_t end = at_;
        std::size_t behind_newline = at_;
        while (end < text_.size() && (at(end) == Class::space || at(end) == Class::newline)) {
            if (at(end++) == Class::newline) behind_newline = end;
        }
        restart_run();
        if (behind_newline != at_) return give(Kind::newlines, behind_newline - at_, behind_newline);
        if (end == text_.size()) return give(Kind::spaces, end - at_, end);
        if (end - at_ > 1) return give(Kind::spaces, end - at_ - 1, end - 1);
        const Class next = char_at(text_, end).type;
        if (is_letter(next)) return word(end, text_[at_] == ' ' ? spaced : marked);
        if (is_mark(next) && text_[at_] == ' ') return marks(end);
        give(Kind::spaces, 1, end);
    }

    /// Punctuation and symbols from `from`, with the line feeds behind them.
    void marks(std::size_t from) {
        std::size_t end = from;
        std::size_t characters = 0;
        bool same = true;
        bool only_ascii = true;
        for (Char c = char_at(text_, end); end < text_.size() && is_mark(c.type); c = char_at(text_, end)) {
            same = same && text_[end] == text_[from];
            only_ascii = only_ascii && c.bytes == 1;
            end += c.bytes;
            ++characters;
        }
        if (characters != 1 || !joins_run(text_[from])) restart_run();
        while (end < text_.size() && at(end) == Class::newline) ++end;
        give(!only_ascii ? Kind::symbol : same ? Kind::repeated : Kind::punctuation, characters, end);
    }

    void run_of(Class type) {
        std::size_t end = at_;
        std::size_t characters = 0;
        for (Char c = char_at(text_, end); end < text_.size() && c.type == type; c = char_at(text_, end)) {
            end += c.bytes;
            ++characters;
        }
        restart_run();
        give(kind_of(type), characters, end);
    }

    /// Whether short pieces have followed each other without a gap, as in base64 and hex.
    [[nodiscard]] bool is_dense(Prefix prefix, std::size_t characters) noexcept {
        if (prefix != bare && !(prefix == marked && joins_run(text_[at_]))) restart_run();
        const bool dense =
            run_pieces_ >= pieces_before_dense && run_characters_ < dense_characters_of_a_piece * run_pieces_;
        ++run_pieces_;
        run_characters_ += characters;
        return dense;
    }

    [[nodiscard]] static bool is_mark(Class type) noexcept {
        return type == Class::punctuation || type == Class::symbol;
    }
    [[nodiscard]] static bool joins_run(char c) noexcept { return c == '+' || c == '/'; }
    [[nodiscard]] Class at(std::size_t i) const noexcept {
        const auto c = static_cast<unsigned char>(text_[i]);
        return c < 0x80 ? ascii[c] : Class::invalid;
    }
    void restart_run() noexcept { run_pieces_ = run_characters_ = 0; }
    void give(Kind kind, std::size_t characters, std::size_t end) {
        visit_(kind, characters, at_, end);
        at_ = end;
    }

    std::string_view text_;
    Visit visit_;
    std::size_t at_ = 0;
    std::size_t run_pieces_ = 0;
    std::size_t run_characters_ = 0;
};

}  // namespace whittle::inline v0::pieces
