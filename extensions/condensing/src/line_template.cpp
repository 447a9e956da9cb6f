#include "line_template.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t stamp_within = 80;  // bytes at the front of a line

bool is_hex(char c) noexcept { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

/// A word with digits in it.
void append_number(std::string& out, std::string_view word, bool stands_alone) {
    constexpr std::size_t shortest_id = 6;
    const bool is_number = std::ranges::all_of(word, is_digit);
    if (is_number && stands_alone && word == "0") {
        out += '0';
    } else if (is_number && stands_alone && word.size() == 3 && (word[0] == '4' || word[0] == '5')) {
        out += word[0];
        out += "##";
    } else if (is_digit(word[0]) || (word.size() >= shortest_id && std::ranges::all_of(word, is_hex))) {
        out += '#';
    } else {
        for (std::size_t i = 0; i < word.size(); ++i) {
            if (!is_digit(word[i])) out += word[i];
            if (is_digit(word[i]) && (i == 0 || !is_digit(word[i - 1]))) out += '#';
        }
    }
}

/// Three numbers of two digits with colons between.
bool has_time(std::string_view text) noexcept {
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        if (colon < 1 || colon + 5 >= text.size()) continue;
        const std::size_t begin = colon - (colon >= 2 && is_digit(text[colon - 2]) ? 2 : 1);
        const std::size_t end = colon + 6;
        // More of the kind on either side is an address.
        const bool is_alone =
            (begin == 0 || (text[begin - 1] != ':' && !is_alnum(text[begin - 1])) || text[begin - 1] == 'T') &&
            (end >= text.size() || text[end] != ':');
        if (is_alone && is_digit(text[colon - 1]) && is_digit(text[colon + 1]) && is_digit(text[colon + 2]) &&
            text[colon + 3] == ':' && is_digit(text[colon + 4]) && is_digit(text[colon + 5]))
            return true;
    }
    return false;
}

constexpr std::array<std::string_view, 12> levels{"INFO",  "WARN",   "WARNING",  "ERROR", "DEBUG", "TRACE",
                                                  "FATAL", "NOTICE", "CRITICAL", "PASS",  "SKIP",  "RUN"};

/// In capitals, or in brackets.
bool has_level(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        if (!is_letter(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_letter(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        const bool in_brackets = at > 0 && text[at - 1] == '[' && end < text.size() && text[end] == ']';
        const bool is_level = std::ranges::any_of(
            levels, [&](std::string_view level) { return word == level || (in_brackets && same_word(word, level)); });
        if (is_level) return true;
        at = end;
    }
    return false;
}

}  // namespace

void append_template(std::string& out, std::string_view line) {
    for (std::size_t at = 0; at < line.size();) {
        if (!is_alnum(line[at])) {
            out += line[at++];
            continue;
        }
        std::size_t end = at;
        bool has_digit = false;
        for (; end < line.size() && is_alnum(line[end]); ++end) has_digit = has_digit || is_digit(line[end]);
        const std::string_view word = line.substr(at, end - at);
        const auto is_joint = [&](std::size_t i) { return i < line.size() && (line[i] == '.' || line[i] == ':'); };
        const bool stands_alone = !is_joint(end) && (at == 0 || !is_joint(at - 1));
        const bool continues = has_digit && out.ends_with("#.");  // "0.3305" like "12"
        if (continues) out.resize(out.size() - 2);
        has_digit ? append_number(out, word, stands_alone) : static_cast<void>(out += word);
        at = end;
    }
}

bool is_stamped(std::string_view line) noexcept {
    const std::string_view start = line.substr(0, stamp_within);
    return has_time(start) || has_level(start.substr(0, stamp_within / 2));
}

std::size_t count_plain_words(std::string_view line) noexcept {
    std::size_t words = 0;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        const std::string_view word = line.substr(at, end - at);
        words += word.size() > 1 && std::ranges::all_of(word, is_letter) ? 1 : 0;
        at = end + 1;
    }
    return words;
}

bool is_trace_line(std::string_view line) noexcept {
    if (line.empty()) return false;
    if (line[0] == ' ' || line[0] == '\t') return !trim_view(line).empty();
    constexpr std::array<std::string_view, 5> starts{"at ", "Caused by", "File \"", "Traceback", "..."};
    return std::ranges::any_of(starts, [&](std::string_view word) { return line.starts_with(word); });
}

}  // namespace whittle::inline v0::detail
