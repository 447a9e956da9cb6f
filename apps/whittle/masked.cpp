#include "masked.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace whittle::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_in_word(char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '_' || c == '-' || c == '.'; }

bool begins_as_key(std::string_view word) {
    constexpr std::size_t least = 16;
    constexpr std::array<std::string_view, 18> beginnings{"sk-",  "sk_",  "pk_",    "rk_",   "ghp_",  "gho_",
                                                          "ghs_", "ghu_", "glpat-", "xoxb-", "xoxp-", "AKIA",
                                                          "ASIA", "AIza", "eyJ",    "hf_",   "npm_",  "github_pat_"};
    return word.size() >= least && std::ranges::any_of(beginnings, [&](auto b) { return word.starts_with(b); });
}

/// A run of letters and digits that nobody would choose as a name.
bool looks_random(std::string_view word) {
    constexpr std::ptrdiff_t least = 32;
    const bool is_plain = std::ranges::all_of(word, [](char c) { return is_digit(c) || is_lower(c) || is_upper(c); });
    return is_plain && std::ssize(word) >= least && std::ranges::count_if(word, is_digit) >= 3 &&
           std::ranges::any_of(word, is_lower) && std::ranges::any_of(word, is_upper);
}

bool names_a_secret(std::string_view word) {
    constexpr std::array<std::string_view, 8> names{"password", "passwd", "secret",        "token",
                                                    "api_key",  "apikey", "authorization", "bearer"};
    std::string lower(word);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return std::ranges::any_of(names, [&](auto name) { return lower.find(name) != std::string::npos; });
}

bool is_number(std::string_view word) {
    return std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

std::string masked(std::string_view text) {
    constexpr std::size_t shown_front = 4;
    constexpr std::size_t least_value = 8;
    std::string out;
    bool is_value = false;  // the next word stands behind the name of a secret
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = static_cast<std::size_t>(
            std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_in_word) - text.begin());
        if (end == at) {
            is_value = is_value && text[at] == ' ';
            out += text[at++];
            continue;
        }
        const std::string_view word = text.substr(at, end - at);
        const bool is_secret =
            begins_as_key(word) || looks_random(word) || (is_value && word.size() >= least_value && !is_number(word));
        out.append(is_secret ? word.substr(0, shown_front) : word).append(is_secret ? "***" : "");
        at = end;
        const bool is_name = names_a_secret(word) && at < text.size() && (text[at] == '=' || text[at] == ':');
        is_value = is_name || (is_value && names_a_secret(word));
        if (is_name) out += text[at++];
    }
    return out;
}

}  // namespace whittle::cli
