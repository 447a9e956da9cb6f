#include "identifiers.hpp"

#include "characters.hpp"
#include "whittle/tiktoken/detail/char_class.hpp"

namespace whittle::inline v0::evaluation {
namespace {

constexpr bool is_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }
constexpr bool is_hump(char c) noexcept { return is_lower(c) || is_digit(c); }
constexpr bool is_joint(char c) noexcept { return c == '_' || c == '.' || c == '-'; }

bool ends_url(std::string_view text, std::size_t at, std::size_t& bytes) noexcept {
    if (std::string_view("\"'\\)>").find(text[at]) != std::string_view::npos) return true;
    const Character c = character_at(text, at);
    bytes = c.bytes;
    return (c.char_class & bpe::blanks) != 0;
}

}  // namespace

std::string_view IdentifierScanner::next() noexcept {
    while (at_ < text_.size()) {
        const std::size_t begin = at_;
        if (const End end = end_at(begin); end > begin) {
            at_ = end;
            return text_.substr(begin, end - begin);
        }
        at_ += character_at(text_, begin).bytes;
    }
    return {};
}

IdentifierScanner::End IdentifierScanner::end_at(std::size_t at) noexcept {
    if (const End end = url_end(at)) return end;
    if (const End end = path_end(at)) return end;
    if (const End end = joined_end(at)) return end;
    if (const End end = camel_end(at)) return end;
    return number_end(at);
}

template <typename Is>
std::size_t IdentifierScanner::run_end(std::size_t at, Is is) const noexcept {
    while (at < text_.size() && is(text_[at])) ++at;
    return at;
}

bool IdentifierScanner::is_word_at(std::size_t at) const noexcept {
    return at < text_.size() && character_at(text_, at).is_word;
}

/// "http://" or "https://" and 8 to 120 characters.
IdentifierScanner::End IdentifierScanner::url_end(std::size_t at) const noexcept {
    constexpr int least = 8;
    constexpr int most = 120;
    const std::string_view rest = text_.substr(at);
    if (!rest.starts_with("http")) return 0;
    std::size_t end = at + (rest.starts_with("http://") ? 7 : rest.starts_with("https://") ? 8 : 0);
    if (end == at) return 0;
    int length = 0;
    for (std::size_t bytes = 1; length < most && end < text_.size() && !ends_url(text_, end, bytes); ++length)
        end += bytes;
    return length >= least ? end : 0;
}

std::size_t IdentifierScanner::path_run_end(std::size_t at) const noexcept {
    while (at < text_.size()) {
        const char c = text_[at];
        if (is_alnum(c) || c == '_' || c == '.' || c == '-') {
            ++at;
            continue;
        }
        const Character character = character_at(text_, at);
        if (!character.is_word) return at;
        at += character.bytes;
    }
    return at;
}

/// Parts of word characters, points and dashes, joined by slashes; the last one has three characters or more.
IdentifierScanner::End IdentifierScanner::path_end(std::size_t at) noexcept {
    if (at < no_path_to_) return 0;
    if (at >= path_known_to_) {
        path_known_to_ = path_run_end(at);
        path_end_ = path_known_to_ > at ? path_end_behind(path_known_to_) : 0;
    }
    return path_end_;
}

/// `first_end`: the end of the first part.
IdentifierScanner::End IdentifierScanner::path_end_behind(std::size_t first_end) noexcept {
    constexpr std::int64_t least = 3;
    End best = 0;
    std::size_t end = first_end;
    while (end < text_.size() && text_[end] == '/') {
        const std::size_t begin = end + 1;
        end = path_run_end(begin);
        if (end == begin) break;
        if (count_characters(text_.substr(begin, end - begin)) >= least) best = end;
    }
    if (best == 0) no_path_to_ = end;
    return best;
}

/// A letter or underscore, letters and digits, then more of them behind single joints.
IdentifierScanner::End IdentifierScanner::joined_end(std::size_t at) noexcept {
    const char first = text_[at];
    if (!is_alnum(first) && first != '_') return 0;
    if (is_digit(first)) return 0;
    if (at >= joined_run_end_ || first == '_') joined_run_end_ = run_end(at + 1, is_alnum);
    std::size_t end = joined_run_end_;
    while (end + 1 < text_.size() && is_joint(text_[end]) && is_alnum(text_[end + 1])) end = run_end(end + 1, is_alnum);
    return end > joined_run_end_ ? end : 0;
}

/// Capital letters, each with small letters or digits behind it.
IdentifierScanner::End IdentifierScanner::humps_end(std::size_t at) const noexcept {
    while (at + 1 < text_.size() && is_upper(text_[at]) && is_hump(text_[at + 1])) at = run_end(at + 1, is_hump);
    return at;
}

IdentifierScanner::End IdentifierScanner::camel_end(std::size_t at) noexcept {
    std::size_t begin = 0;
    if (is_lower(text_[at])) {
        if (at >= lower_run_end_) lower_run_end_ = run_end(at, is_lower);
        begin = lower_run_end_;
    } else if (is_upper(text_[at]) && at + 1 < text_.size() && is_hump(text_[at + 1])) {
        begin = run_end(at + 1, is_hump);
    }
    if (begin == 0) return 0;
    const End end = humps_end(begin);
    return end > begin ? end : 0;
}

/// Whole words of hexadecimal or decimal digits.
IdentifierScanner::End IdentifierScanner::number_end(std::size_t at) const noexcept {
    constexpr std::size_t min_hex = 7;
    constexpr std::size_t max_hex = 40;
    constexpr std::size_t min_decimal = 5;
    if (!is_hex(text_[at]) || ends_in_word(text_.substr(0, at))) return 0;
    const std::size_t hex = run_end(at, is_hex);
    if (hex - at >= min_hex && hex - at <= max_hex && !is_word_at(hex)) return hex;
    const std::size_t decimal = run_end(at, is_digit);
    return decimal - at >= min_decimal && !is_word_at(decimal) ? decimal : 0;
}

}  // namespace whittle::inline v0::evaluation
