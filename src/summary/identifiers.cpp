#include "identifiers.hpp"

#include "text_shape.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace whittle::inline v0::detail {
namespace {

constexpr std::size_t shortest = 3;
constexpr std::size_t longest_word = 200;
constexpr std::size_t longest_sentence = 400;

constexpr unsigned char in_word = 1;
constexpr unsigned char telling = 2;  // without one of these a word is no identifier, but one of a sentence

constexpr std::array<unsigned char, 256> word_table = [] {
    std::array<unsigned char, 256> table{};
    constexpr std::string_view plain_members = "abcdefghijklmnopqrstuvwxyz-#@~+%";
    constexpr std::string_view telling_members = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:";
    for (const char c : plain_members) table[static_cast<unsigned char>(c)] = in_word;
    for (const char c : telling_members) table[static_cast<unsigned char>(c)] = in_word | telling;
    return table;
}();
unsigned char word_class(char c) noexcept { return word_table[static_cast<unsigned char>(c)]; }
bool is_word(char c) noexcept { return word_class(c) != 0; }

bool has_extension(std::string_view word) noexcept {
    const std::size_t dot = word.rfind('.');
    if (dot == nowhere || dot < 2 || dot + 1 == word.size() || word.size() - dot > 7) return false;
    const std::string_view extension = word.substr(dot + 1);
    return is_lower(extension[0]) && std::ranges::all_of(extension, is_alnum) && is_alnum(word[dot - 1]);
}

/// From a root, or with several components: "and/or" is none.
bool is_slashed(std::string_view word) noexcept {
    constexpr std::size_t shortest_component = 3;
    const std::size_t slash = word.find('/');
    if (slash == nowhere) return false;
    if (slash == 0 || word.starts_with("./") || word.starts_with("../") || word.starts_with("~/")) return true;
    const bool is_long = slash >= shortest_component && word.size() - slash > shortest_component;
    return is_long || word.find('/', slash + 1) != nowhere;
}

/// Without the punctuation of the sentence around it, and without the line number behind a path.
std::string_view stripped(std::string_view word) noexcept {
    const std::size_t begin = word.find_first_not_of("-:+%");
    if (begin == nowhere) return {};
    word = word.substr(begin, word.find_last_not_of(".-:+#@~") + 1 - begin);
    for (std::size_t colon = word.find(':'); colon != nowhere; colon = word.find(':', colon + 2)) {
        const std::string_view rest = word.substr(colon);
        if (!rest.starts_with("::") && !rest.starts_with("://")) return word.substr(0, colon);
    }
    return word;
}

bool is_code_name(std::string_view word) noexcept {
    if (word.find("::") != nowhere || word.find('_') != nowhere) return std::ranges::any_of(word, is_alnum);
    const auto camel = [](char a, char b) { return is_lower(a) && is_upper(b); };
    if (std::ranges::adjacent_find(word, camel) != word.end()) return true;
    const bool digits = std::ranges::any_of(word, is_digit);
    return digits && word.size() >= 4 && std::ranges::any_of(word, [](char c) { return is_upper(c) || is_lower(c); });
}

bool is_number(std::string_view word) noexcept {
    if (word.starts_with('#')) word.remove_prefix(1);
    return std::ranges::count_if(word, is_digit) >= 3 &&
           std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.' || c == '-'; });
}

/// Of a machine: it stands for itself, as other numbers do not.
bool is_address(std::string_view word) noexcept {
    return std::ranges::count(word, '.') == 3 && word.find("..") == nowhere && word.find('-') == nowhere;
}

std::optional<IdentifierKind> identifier_kind(std::string_view word) noexcept {
    if (is_number(word)) return is_address(word) ? IdentifierKind::name : IdentifierKind::number;
    if (word.size() < shortest || !std::ranges::any_of(word, is_alnum)) return std::nullopt;
    if (word.find("//") != nowhere && word.find("://") == nowhere) return std::nullopt;
    if (is_path(word)) return IdentifierKind::path;
    if (is_code_name(word)) return IdentifierKind::name;
    return std::nullopt;
}

constexpr std::array<std::string_view, 43> english_words{
    "must",         "mustn't",    "never",     "always",    "do not",         "don't",         "cannot",
    "required",     "forbidden",  "at most",   "at least",  "no more than",   "make sure",     "stop and",
    "escalate",     "prefer",     "prefers",   "preferred", "from now on",    "going forward", "avoid",
    "avoids",       "should not", "shouldn't", "may not",   "not allowed",    "no longer",     "without asking",
    "ask before",   "ask first",  "ask me",    "approval",  "needs approval", "use only",      "only use",
    "may only",     "can only",   "stick to",  "ensure",    "remember that",  "remember to",   "has to be",
    "is off limits"};
/// Behind these "only" is a rule; in "is only a backstop" it is none.
constexpr std::array<std::string_view, 12> words_before_only{"use",    "edit",  "change", "write", "touch",   "read",
                                                             "answer", "reply", "run",    "work",  "respond", "call"};
/// What a line may begin with, and a colon, to be one.
constexpr std::array<std::string_view, 10> rule_labels{"rule", "rules",   "policy",     "constraint",  "constraints",
                                                       "note", "warning", "preference", "requirement", "important"};
constexpr std::array<std::string_view, 14> chinese_words{"必须", "不要", "不得",   "禁止", "务必", "总是", "始终",
                                                         "永远", "绝不", "一定要", "不能", "不可", "只能", "切勿"};

bool has_word(std::string_view lower, std::string_view word) noexcept {
    for (std::size_t at = lower.find(word); at != nowhere; at = lower.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_alnum(lower[at - 1])) && (end == lower.size() || !is_alnum(lower[end]))) return true;
    }
    return false;
}

/// "BUDGET: 900", "Rule: ...".
bool has_label(std::string_view sentence, std::string_view lower) {
    constexpr std::size_t longest_label = 40;
    const std::size_t colon = sentence.substr(0, longest_label).find(": ");
    if (colon == nowhere || colon < 2) return false;
    const std::string_view label = sentence.substr(0, colon);
    const auto capitals = std::ranges::count_if(label, is_upper);
    const bool is_loud =
        capitals >= 2 && std::ranges::none_of(label, is_lower) && std::ranges::all_of(label, [](char c) {
            return is_upper(c) || is_digit(c) || c == ' ' || c == '-' || c == '_';
        });
    return is_loud || is_one_of(lower.substr(0, colon), rule_labels);
}

/// "Only touch src", "edit only that file"; not "is only a backstop".
bool is_exclusive(std::string_view lower) {
    if (lower.starts_with("only ")) return true;
    for (std::size_t at = lower.find(" only"); at != nowhere; at = lower.find(" only", at + 1)) {
        if (at + 5 < lower.size() && is_alnum(lower[at + 5])) continue;
        const std::size_t begin = lower.substr(0, at).rfind(' ');
        const std::string_view before =
            lower.substr(begin == nowhere ? 0 : begin + 1, at - (begin == nowhere ? 0 : begin + 1));
        if (is_one_of(before, words_before_only)) return true;
    }
    return false;
}

bool sets_condition(std::string_view sentence) {
    const std::string lower = ascii_lower(sentence);
    return has_label(sentence, lower) || is_exclusive(lower) ||
           std::ranges::any_of(english_words, [&](std::string_view word) { return has_word(lower, word); }) ||
           std::ranges::any_of(chinese_words, [&](std::string_view word) { return lower.find(word) != nowhere; });
}

struct FoundWord {
    std::size_t length = 0;  ///< 0: there is none
    bool is_telling = false;
};

/// The end of a run, such as base64, that is too long for an identifier.
std::size_t end_of_run(std::string_view text, std::size_t at) noexcept {
    constexpr std::size_t stride = 8;
    const auto are_words = [&](std::size_t from) {
        unsigned char all = in_word;
        for (std::size_t i = from; i < from + stride; ++i) all &= word_class(text[i]);
        return all != 0;
    };
    while (at + stride <= text.size() && are_words(at)) at += stride;
    while (at < text.size() && is_word(text[at])) ++at;
    return at;
}

FoundWord word_at(std::string_view text, std::size_t at) noexcept {
    const std::size_t last = std::min(text.size() - at, longest_word + 1) + at;
    std::size_t end = at;
    unsigned char met = 0;
    for (; end < last && is_word(text[end]); ++end) met |= word_class(text[end]);
    if (end - at > longest_word) end = end_of_run(text, end);
    return {end - at, (met & telling) != 0};
}

/// Whether a condition is about what the sentence in front of it names: "Budget cap is $956 total. Never exceed it."
bool lacks_subject(std::string_view sentence, std::string_view before) {
    constexpr std::size_t longest_without = 80;
    const auto has_digit = [](std::string_view text) { return std::ranges::any_of(text, is_digit); };
    if (before.empty() || before.size() > longest_sentence / 2 || sentence.size() > longest_without) return false;
    if (!has_digit(before) || has_digit(sentence)) return false;
    bool has_name = false;
    for_each_identifier(sentence, [&](std::string_view, IdentifierKind) { has_name = true; });
    return !has_name;
}

/// Both, with what stands between.
std::string_view from_to(std::string_view first, std::string_view last) noexcept {
    return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

/// Behind the end of the sentence that begins `text`.
std::size_t sentence_end(std::string_view text) noexcept {
    constexpr std::array<std::string_view, 3> full_width{"。", "！", "？"};
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '\n') return at + 1;
        const bool ends_word = at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n';
        if ((c == '.' || c == '!' || c == '?' || c == ';') && ends_word) return at + 1;
        if (c != full_width[0][0] && c != full_width[1][0]) continue;
        for (const std::string_view mark : full_width) {
            if (text.substr(at).starts_with(mark)) return at + mark.size();
        }
    }
    return text.size();
}

/// "  12\t", "12: ", "12→": what tools write in front of a line.
std::string_view without_line_number(std::string_view line) noexcept {
    constexpr std::string_view arrow = "→";
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    std::size_t end = begin;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (end == begin || end == line.size()) return line;
    const std::string_view rest = line.substr(end);
    if (rest.starts_with(arrow)) return rest.substr(arrow.size());
    return rest[0] == '\t' || rest[0] == ':' || rest[0] == '|' ? rest.substr(1) : line;
}

/// A sentence as people write them, with its end: no line of code, of a log or of a comment.
bool is_prose(std::string_view line) noexcept {
    constexpr std::size_t shortest_prose = 20;
    constexpr std::ptrdiff_t fewest_gaps = 3;
    if (line.size() < shortest_prose || line.size() > longest_sentence || !is_upper(line[0])) return false;
    if (line.back() != '.' && line.back() != '!') return false;
    if (line.find_first_of("{}<>=|\\;") != nowhere || line.find("()") != nowhere) return false;
    const auto letters = std::ranges::count_if(line, [](char c) { return is_letter(c) || c == ' '; });
    return std::ranges::count(line, ' ') >= fewest_gaps && letters * 5 >= static_cast<std::ptrdiff_t>(line.size()) * 4;
}

/// "But you must refuse that" says nothing without the sentence in front of it.
bool refers_back(std::string_view sentence) noexcept {
    constexpr std::array<std::string_view, 18> words{"But",   "And",     "Or",   "So",    "It",        "This",
                                                     "These", "That",    "They", "Those", "Otherwise", "Then",
                                                     "Also",  "However", "He",   "She",   "Such",      "Instead"};
    const std::string_view first = sentence.substr(0, sentence.find_first_of(" ,"));
    return is_one_of(first, words);
}

/// Without the lines that an agent's own program puts beside what a tool returned.
std::string_view next_line_of_tool(std::string_view& text) {
    constexpr std::string_view begin = "<system-reminder>";
    constexpr std::string_view end = "</system-reminder>";
    const std::size_t length = std::min(text.find('\n'), text.size());
    if (const std::size_t at = text.substr(0, length).find(begin); at != nowhere) {
        const std::string_view line = text.substr(0, at);
        const std::size_t behind = text.find(end, at);
        text.remove_prefix(behind == nowhere ? text.size() : behind + end.size());
        return line;
    }
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    return line;
}

}  // namespace

bool is_path(std::string_view text) noexcept {
    if (text.size() < 2 || text.size() > longest_word || !std::ranges::all_of(text, is_word)) return false;
    if (!std::ranges::any_of(text, is_alnum)) return false;
    return has_extension(text) || is_slashed(text);
}

std::string series_of(std::string_view name) {
    std::string series;
    for (const char c : name) {
        if (!is_digit(c) || !series.ends_with('#')) series += is_digit(c) ? '#' : c;
    }
    return series;
}

void for_each_identifier(std::string_view text, FunctionRef<void(std::string_view, IdentifierKind)> visit) {
    for (std::size_t at = 0; at < text.size();) {
        const FoundWord word = word_at(text, at);
        at += std::max<std::size_t>(word.length, 1);
        if (!word.is_telling || word.length > longest_word) continue;
        const std::string_view bare = stripped(text.substr(at - word.length, word.length));
        if (const auto kind = identifier_kind(bare)) visit(bare, *kind);
    }
}

void for_each_constraint(std::string_view text, FunctionRef<void(std::string_view)> visit) {
    std::string_view before;  // the sentence in front, where it is of the same line and not visited
    while (!text.empty()) {
        const std::size_t end = sentence_end(text);
        std::string_view sentence = text.substr(0, end);
        text.remove_prefix(end);
        const std::size_t begin = std::min(sentence.find_first_not_of(" \t\r\n-*>#"), sentence.size());
        sentence.remove_prefix(begin);
        const bool ends_line = sentence.ends_with('\n');
        sentence = sentence.substr(0, sentence.find_last_not_of(" \t\r\n") + 1);
        sentence = grapheme_prefix(sentence, longest_sentence);
        const bool is_one = sets_condition(sentence);
        if (is_one) visit(lacks_subject(sentence, before) ? from_to(before, sentence) : sentence);
        before = is_one || ends_line ? std::string_view{} : sentence;
    }
}

void for_each_stated_condition(std::string_view text, FunctionRef<void(std::string_view)> visit) {
    while (!text.empty()) {
        std::string_view line = without_line_number(next_line_of_tool(text));
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == nowhere) continue;
        line.remove_prefix(begin);
        if (line.starts_with("- ")) line.remove_prefix(2);
        line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
        if (!is_prose(line)) continue;
        for_each_constraint(line, [&](std::string_view sentence) {
            if (!refers_back(sentence)) visit(sentence);
        });
    }
}

}  // namespace whittle::inline v0::detail
