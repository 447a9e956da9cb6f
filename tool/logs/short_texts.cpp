#include "logs/detail/short_texts.hpp"

#include "whittle/base/detail/json_scanner.hpp"

#include <algorithm>
#include <cstddef>

namespace whittle::inline v0::logs {
namespace {

constexpr std::size_t longest_text = 256;  // bytes; ids, paths and models are shorter
constexpr std::size_t kept_text = 64;

/// What stands behind the backslash of a line end or a tab.
bool is_blank_escape(char c) noexcept { return c == 'n' || c == 'r' || c == 't'; }

std::size_t slashes_before(std::string_view text, std::size_t end) noexcept {
    std::size_t slashes = 0;
    while (slashes < end && text[end - slashes - 1] == '\\') ++slashes;
    return slashes;
}

/// "\ud83d": the first half of a pair.
bool is_high_surrogate(std::string_view escape) noexcept {
    constexpr std::string_view third = "89abAB";
    return escape.size() >= 4 && (escape[2] == 'd' || escape[2] == 'D') &&
           third.find(escape[3]) != std::string_view::npos;
}

/// Blanks in front of a text in JSON, in bytes, also as escapes.
std::size_t blanks_at_start(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == ' ') {
            ++at;
        } else if (text[at] == '\\' && at + 1 < text.size() && is_blank_escape(text[at + 1])) {
            at += 2;
        } else {
            break;
        }
    }
    return at;
}

/// The same, behind it.
std::size_t blanks_at_end(std::string_view text) noexcept {
    std::size_t size = text.size();
    while (size > 0) {
        if (text[size - 1] == ' ') {
            --size;
        } else if (size > 1 && is_blank_escape(text[size - 1]) && slashes_before(text, size - 1) % 2 == 1) {
            size -= 2;
        } else {
            break;
        }
    }
    return text.size() - size;
}

/// How much of a long text in JSON stays: no escape, no pair of surrogates and no character is cut.
std::size_t kept_of(std::string_view text) noexcept {
    std::size_t at = 0;
    std::size_t newest = 0;  // character or escape
    std::size_t behind_escape = 0;
    while (at < kept_text) {
        newest = at;
        const bool is_escape = text[at] == '\\';
        at += !is_escape ? 1 : text[at + 1] == 'u' ? 6 : 2;
        if (is_escape) behind_escape = at;
    }
    if (at - newest == 6 && is_high_surrogate(text.substr(newest, 6))) return newest;
    while (at > behind_escape && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    return at;
}

/// Where the end begins that stays: at a character that is part of no escape and no longer one. The size: nowhere.
std::size_t kept_end_of(std::string_view text) noexcept {
    constexpr std::string_view in_no_escape = " <>.,:;()[]{}=-_";
    return std::min(text.find_first_of(in_no_escape, text.size() - kept_text), text.size());
}

}  // namespace

bool has_usage(std::string_view line) noexcept {
    return line.find("okens\":") != std::string_view::npos || line.find("\"usage") != std::string_view::npos;
}

void shorten_texts(std::string_view line, std::string& shortened) {
    shortened.clear();
    std::size_t copied = 0;  // of the line
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t open = line.find('"', at);
        if (open == std::string_view::npos) break;
        const std::size_t end = detail::end_of_json_string(line, open + 1);
        if (end < line.size() && end - open - 1 > longest_text) {
            std::string_view text = line.substr(open + 1, end - open - 1);
            text.remove_suffix(blanks_at_end(text));
            text.remove_prefix(blanks_at_start(text));
            if (text.size() > longest_text) {
                const auto begin = static_cast<std::size_t>(text.data() - line.data());
                shortened.append(line, copied, begin + kept_of(text) - copied);
                shortened += "... " + std::to_string(text.size()) + " ...";
                copied = begin + kept_end_of(text);
            }
        }
        at = std::min(end + 1, line.size());
    }
    shortened.append(line, copied);
}

}  // namespace whittle::inline v0::logs
