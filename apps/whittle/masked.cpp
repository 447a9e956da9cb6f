#include "masked.hpp"

#include "whittle/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

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

constexpr std::array<std::string_view, 8> secret_names{"password", "passwd", "secret",        "token",
                                                       "api_key",  "apikey", "authorization", "bearer"};

std::string lower_case(std::string_view word) {
    std::string lower(word);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

bool names_a_secret(std::string_view word) {
    const std::string lower = lower_case(word);
    return std::ranges::any_of(secret_names, [&](auto name) { return lower.find(name) != std::string::npos; });
}

/// A key such as "access_token", and not "token_counter" or "tokens".
bool is_key_of_secret(std::string_view key) {
    const std::string lower = lower_case(key);
    return std::ranges::any_of(secret_names, [&](auto name) { return lower.ends_with(name); });
}

/// How much of what follows a name belongs to it: "=", ":", and quotes and spaces around, as code and JSON have them.
/// 0: it names nothing.
std::size_t end_of_name(std::string_view rest, std::string_view word) {
    const auto is_quote = [&](std::size_t at) { return at < rest.size() && (rest[at] == '"' || rest[at] == '\''); };
    const auto behind_spaces = [&](std::size_t at) { return std::min(rest.find_first_not_of(' ', at), rest.size()); };
    const bool is_key = is_key_of_secret(word);
    std::size_t at = is_key ? behind_spaces(is_quote(0) ? 1 : 0) : 0;
    if (at == rest.size() || (rest[at] != '=' && rest[at] != ':')) return 0;
    ++at;
    if (!is_key) return at;
    at = behind_spaces(at);
    return is_quote(at) ? at + 1 : at;
}

/// Of "\n" and "\u001b", as JSON and `shown` write characters: what stands behind is a word of its own.
std::size_t size_of_escape(std::string_view text) {
    if (text.size() < 2 || text[0] != '\\') return 0;
    constexpr std::size_t of_number = 6;
    return text[1] == 'u' && text.size() >= of_number ? of_number : 2;
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
        if (const std::size_t escape = size_of_escape(text.substr(at)); escape > 0) {
            out += text.substr(at, escape);
            at += escape;
            continue;
        }
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
        const std::size_t named = names_a_secret(word) ? end_of_name(text.substr(at), word) : 0;
        is_value = named > 0 || (is_value && names_a_secret(word));
        out += text.substr(at, named);
        at += named;
    }
    return out;
}

std::string masked_json(std::string_view json) {
    constexpr std::size_t least_value = 8;
    std::string out;
    bool is_value = false;  // of a key that names a secret
    for (std::size_t at = 0; at < json.size();) {
        if (json[at] != '"') {
            is_value = is_value && (json[at] == ':' || json[at] == ' ' || json[at] == '\n');
            out += json[at++];
            continue;
        }
        std::size_t end = at + 1;
        while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
        const std::string_view literal = json.substr(at, end + 1 - at);
        const auto parsed = nlohmann::json::parse(literal, nullptr, false);
        at += literal.size();
        const std::string text = parsed.is_string() ? parsed.get<std::string>() : std::string();
        const bool is_secret = std::exchange(is_value, false) && text.size() >= least_value;
        const std::string hidden = is_secret ? std::string(utf8_prefix(text, 4)) + "***" : masked(text);
        const auto replace = nlohmann::json::error_handler_t::replace;
        out += hidden == text ? std::string(literal) : nlohmann::json(hidden).dump(-1, ' ', false, replace);
        const std::size_t next = std::min(json.find_first_not_of(" \n", at), json.size());
        is_value = next < json.size() && json[next] == ':' && is_key_of_secret(text);
    }
    return out;
}

std::string masked_unless(bool no_mask, std::string text, bool is_json) {
    if (no_mask) return text;
    return is_json ? masked_json(text) : masked(text);
}

}  // namespace whittle::cli
