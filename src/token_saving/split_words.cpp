// Splits a text into words and finds what stays word for word: code fences, JSON, lines of code, notices.
#include "data_lines.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/detail/json_scanner.hpp"
#include "whittle/token_saving/detail/word_text.hpp"
#include "whittle/token_saving/detail/words.hpp"

#include <algorithm>
#include <optional>

namespace whittle::inline v0 {

namespace {

using detail::is_space;
using detail::Stretch;
using detail::trim_view;

std::vector<Stretch> lines_of(std::string_view text) {
    std::vector<Stretch> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back({at, end});
        at = end + 1;
    }
    return lines;
}

/// Finds JSON values. Once it has looked at eight times the size of a text, all that it has not judged counts as one.
class JsonFinder {
public:
    explicit JsonFinder(std::string_view text) : text_(text), budget_(8 * text.size()) {}

    std::vector<Stretch> find() {
        std::vector<Stretch> found;
        for (std::size_t at = next_bracket(0); at != std::string_view::npos;) {
            const std::size_t end = end_of_value(at);
            if (budget_ == 0) {
                found.push_back({at, text_.size()});
                break;
            }
            const bool is_json = end > at && detail::is_json(text_.substr(at, end - at));
            if (is_json) found.push_back({at, end});
            at = next_bracket(is_json ? end : at + 1);
        }
        return found;
    }

private:
    /// The next one from `at` on that may open a value: what follows is the first byte of a member or an element. The
    /// bracket of a terminal's escape sequence opens none.
    [[nodiscard]] std::size_t next_bracket(std::size_t at) const noexcept {
        for (at = text_.find_first_of("{[", at); at != std::string_view::npos; at = text_.find_first_of("{[", at + 1)) {
            const bool is_escape = at > 0 && text_[at - 1] == '\x1b';
            const std::string_view first = text_[at] == '{' ? " \t\r\n\"}" : " \t\r\n\"]{[-0123456789tfn";
            if (!is_escape && at + 1 < text_.size() && first.find(text_[at + 1]) != std::string_view::npos) return at;
        }
        return at;
    }

    /// Behind the bracket that closes the one at `begin`; `begin` if there is none.
    std::size_t end_of_value(std::size_t begin) {
        detail::JsonScanner scanner(text_, begin);
        for (std::size_t at = begin; budget_ > 0;) {
            const detail::JsonToken token = scanner.next();
            budget_ -= std::min(budget_, token.end - at);
            if (token.kind == detail::JsonToken::Kind::end) break;
            if (token.closes() && scanner.depth() == 0) return token.end;
            at = token.end;
        }
        return begin;
    }

    std::string_view text_;
    std::size_t budget_;
};

std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> words;
    for (std::size_t at = 0; at < text.size();) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && !is_space(text[at])) ++at;
        const bool stays = is_protected_word(text.substr(begin, at - begin));
        words.push_back({begin, at, stays ? Word::Kind::protected_ : Word::Kind::plain});
    }
    return words;
}

/// A line of three or more backticks or tildes, and what stands behind them.
struct FenceMark {
    char character = '\0';
    std::size_t length = 0;
    bool is_bare = false;  ///< nothing follows

    explicit FenceMark(std::string_view trimmed) noexcept {
        if (trimmed.empty() || (trimmed.front() != '`' && trimmed.front() != '~')) return;
        length = std::min(trimmed.find_first_not_of(trimmed.front()), trimmed.size());
        is_bare = length == trimmed.size();
        const bool is_inline = trimmed.front() == '`' && trimmed.find('`', length) != std::string_view::npos;
        if (length >= 3 && !is_inline) character = trimmed.front();
    }
    [[nodiscard]] bool opens() const noexcept { return character != '\0'; }
    [[nodiscard]] bool closes(const FenceMark& open) const noexcept {
        return is_bare && character == open.character && length >= open.length;
    }
};

/// Which lines stand in a fence, the fences with them. A fence that is not closed reaches to the end. As in CommonMark
/// 0.31, 4.5, but for the indentation, which may be any.
std::vector<bool> fenced(std::string_view text, const std::vector<Stretch>& lines) {
    std::vector<bool> inside(lines.size(), false);
    std::optional<FenceMark> fence;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const FenceMark mark(trim_view(text.substr(lines[i].begin, lines[i].end - lines[i].begin)));
        inside[i] = fence || mark.opens();
        if (!fence && mark.opens())
            fence = mark;
        else if (fence && mark.closes(*fence))
            fence.reset();
    }
    return inside;
}

bool ends_like_code(std::string_view line) noexcept {
    return line.ends_with(';') || line.ends_with('{') || line.ends_with('}') || line.ends_with("):");
}

/// Four blanks or a tab in front, as code in Markdown has.
bool is_indented(std::string_view line) noexcept { return line.starts_with("    ") || line.starts_with('\t'); }

/// `12:`, `12|`, `12→` or `name:12:` in front: a numbered line, or one that a search found.
bool is_numbered(std::string_view trimmed) noexcept {
    const std::string_view first = trimmed.substr(0, trimmed.find_first_of(" \t"));
    for (std::size_t i = 1; i < first.size(); ++i) {
        const bool is_after_digit = first[i - 1] >= '0' && first[i - 1] <= '9';
        const bool is_mark = first[i] == ':' || first[i] == '|' || first.substr(i).starts_with("\xE2\x86\x92");
        if (is_after_digit && is_mark) return true;
    }
    return false;
}

/// Looks like code, stands in brackets as notices do, or at least half of its words are protected.
bool is_code_line(std::string_view line, std::string_view trimmed, std::span<const Word> words) {
    if (ends_like_code(trimmed) || is_indented(line) || is_numbered(trimmed)) return true;
    if (trimmed.starts_with('[') && trimmed.ends_with(']')) return true;
    const auto stay = std::ranges::count(words, Word::Kind::protected_, &Word::kind);
    return 2 * stay >= std::ssize(words);
}

/// Words between two backticks of a line are one name.
void protect_inline_code(std::string_view text, std::span<Word> words) {
    bool inside = false;
    for (Word& word : words) {
        const std::string_view bytes = text.substr(word.begin, word.end - word.begin);
        if (inside && word.kind == Word::Kind::plain) word.kind = Word::Kind::protected_;
        if (std::ranges::count(bytes, '`') % 2 == 1) inside = !inside;
    }
}

class Marker {
public:
    explicit Marker(std::string_view text) : text_(text), words_(words_of(text)), lines_(lines_of(text)) {}

    std::vector<Word> run() {
        mark_lines();
        mark_json();
        return std::move(words_);
    }

private:
    /// The words of each line, in turn.
    std::span<Word> words_till(std::size_t end) {
        const std::size_t first = next_;
        while (next_ < words_.size() && words_[next_].begin < end) ++next_;
        return std::span(words_).subspan(first, next_ - first);
    }

    /// Lines of code stay; where a quarter of the lines ends like code, all of the text does.
    void mark_lines() {
        const std::vector<bool> in_fence = fenced(text_, lines_);
        const std::vector<bool> is_data = detail::find_data_lines(text_, lines_);
        std::size_t code = 0;
        std::size_t all = 0;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const std::span<Word> words = words_till(lines_[i].end);
            if (words.empty()) continue;
            protect_inline_code(text_, words);
            const std::string_view line = text_.substr(lines_[i].begin, lines_[i].end - lines_[i].begin);
            if (in_fence[i] || is_data[i] || is_code_line(line, trim_view(line), words)) set_verbatim(words);
            if (in_fence[i]) continue;
            ++all;
            code += ends_like_code(trim_view(line)) ? 1 : 0;
        }
        if (code > 0 && 4 * code >= all) set_verbatim(words_);
    }

    void mark_json() {
        std::size_t w = 0;
        for (const Stretch& json : JsonFinder(text_).find()) {
            for (; w < words_.size() && words_[w].begin < json.end; ++w) {
                if (words_[w].end > json.begin) words_[w].kind = Word::Kind::verbatim;
            }
        }
    }

    static void set_verbatim(std::span<Word> words) {
        for (Word& word : words) word.kind = Word::Kind::verbatim;
    }

    std::string_view text_;
    std::vector<Word> words_;
    std::vector<Stretch> lines_;
    std::size_t next_ = 0;
};

}  // namespace

std::vector<Word> split_words(std::string_view text) { return Marker(text).run(); }

}  // namespace whittle::inline v0
