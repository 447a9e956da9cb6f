#include "private_key_text.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_alnum;
using detail::is_digit;

constexpr std::string_view begin_mark = "-----BEGIN ";
constexpr std::string_view end_mark = "-----END ";
constexpr std::string_view end_of_mark = "-----";
constexpr std::size_t longest_label = 64;
constexpr std::size_t longest_key = 32'768;

/// Behind the mark that begins at `mark`; npos if it names no private key, or another kind than `is_private` wants.
std::size_t behind_mark(std::string_view text, std::size_t mark, std::string_view kind, bool is_private) noexcept {
    const std::size_t label = mark + kind.size();
    const std::size_t end = text.find(end_of_mark, label);
    if (end == std::string_view::npos || end - label > longest_label) return std::string_view::npos;
    const bool names_private = text.substr(label, end - label).find("PRIVATE KEY") != std::string_view::npos;
    return names_private == is_private ? end + end_of_mark.size() : std::string_view::npos;
}

bool has_mark(std::string_view line, std::string_view kind, bool is_private) noexcept {
    const std::size_t mark = line.find(kind);
    return mark != std::string_view::npos && behind_mark(line, mark, kind, is_private) != std::string_view::npos;
}

/// Behind the number of a line and what stands between it and the line; 0: there is none.
std::size_t behind_number(std::string_view text) noexcept {
    constexpr std::string_view arrow = "\xE2\x86\x92";
    constexpr std::string_view signs = "\t|:-) ";
    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == 0 || at == text.size()) return 0;
    if (text.substr(at).starts_with(arrow)) return at + arrow.size();
    return signs.find(text[at]) == std::string_view::npos ? 0 : at + 1;
}

/// How many bytes at the end of `text` are a line feed as programs write it, a quotation mark or the like.
std::size_t size_of_ending(std::string_view text) noexcept {
    constexpr std::string_view signs = "\"'`,;\\) \t\r";
    if (text.ends_with("\\n") || text.ends_with("\\r")) return 2;
    if (text.ends_with("&quot;")) return 6;
    if (text.ends_with(" +") || text.ends_with("\"+")) return 1;
    return !text.empty() && signs.find(text.back()) != std::string_view::npos ? 1 : 0;
}

/// Of "\n", "\\n", "\r" and "\t".
std::size_t size_of_escaped_space(std::string_view text) noexcept {
    const std::size_t letter = text.find_first_not_of('\\');
    if (letter == 0 || letter == std::string_view::npos || letter > 8) return 0;
    return text[letter] == 'n' || text[letter] == 'r' || text[letter] == 't' ? letter + 1 : 0;
}

/// Without line feeds as programs write them around it.
std::pair<std::size_t, std::size_t> bare(std::string_view line, std::size_t from, std::size_t to) noexcept {
    const auto at_front = [&] { return size_of_escaped_space(line.substr(from, to - from)); };
    while (from < to && (detail::is_space(line[from]) || at_front() > 0)) from += std::max<std::size_t>(1, at_front());
    while (from < to) {
        const std::string_view rest = line.substr(from, to - from);
        const std::size_t ending = size_of_ending(rest);
        if (ending == 0) break;
        to -= ending;
    }
    return {from, to};
}

bool stands_alone(char c) noexcept { return !is_base64(c) && c != '\\'; }

}  // namespace

bool is_base64(char c) noexcept { return is_alnum(c) || c == '+' || c == '/' || c == '='; }

bool begins_private_key(std::string_view line) noexcept { return has_mark(line, begin_mark, true); }
bool ends_private_key(std::string_view line) noexcept { return has_mark(line, end_mark, true); }
bool begins_public_block(std::string_view line) noexcept { return has_mark(line, begin_mark, false); }

LineCore core_of(std::string_view line) noexcept {
    constexpr std::string_view marks = "+-<>|#*\"'`";
    std::size_t begin = 0;
    constexpr int most = 4;  // spaces, a number, a mark, spaces
    for (int i = 0; i < most; ++i) {
        begin = std::min(line.find_first_not_of(" \t", begin), line.size());
        const std::string_view rest = line.substr(begin);
        if (const std::size_t number = behind_number(rest); number > 0) {
            begin += number;
        } else if (rest.starts_with("&quot;")) {
            begin += 6;
        } else if (!rest.empty() && marks.find(rest.front()) != std::string_view::npos && !rest.starts_with("--")) {
            ++begin;
        } else {
            break;
        }
    }
    std::size_t end = line.size();
    for (std::size_t ending = 1; ending > 0 && end > begin; end -= ending)
        ending = size_of_ending(line.substr(begin, end - begin));
    return {begin, end};
}

bool may_stand_in_key(std::string_view core) noexcept {
    constexpr std::size_t longest = 128;
    constexpr std::array<std::string_view, 6> headers{
        "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"};
    constexpr std::size_t least_damaged = 48;
    constexpr std::ptrdiff_t most_damage = 4;
    if (core.size() > longest) return false;
    const std::ptrdiff_t damage = std::ranges::count_if(core, [](char c) { return !is_base64(c); });
    const bool is_damaged = core.size() >= least_damaged && damage <= most_damage && core.find("--") == core.npos;
    return damage == 0 || is_damaged ||
           std::ranges::any_of(headers, [&](std::string_view header) { return core.starts_with(header); });
}

std::size_t end_of_key_body(std::string_view line, std::size_t at) noexcept {
    while (at < line.size()) {
        const std::size_t space = size_of_escaped_space(line.substr(at));
        if (space == 0 && !is_base64(line[at]) && !detail::is_space(line[at])) break;
        at += std::max<std::size_t>(1, space);
    }
    return at;
}

std::vector<std::pair<std::size_t, std::size_t>> private_keys_in(std::string_view line) {
    constexpr std::size_t least = 16;
    std::vector<std::pair<std::size_t, std::size_t>> keys;
    const auto add = [&](std::size_t from, std::size_t to) {
        std::tie(from, to) = bare(line, from, to);
        if (to - from >= least) keys.emplace_back(from, to);
        return to;
    };
    std::size_t done = 0;
    while (true) {
        const std::size_t mark = line.find("-----", done);
        if (mark == std::string_view::npos) return keys;
        const std::string_view rest = line.substr(mark);
        if (rest.starts_with(begin_mark)) {
            const std::size_t body = behind_mark(line, mark, begin_mark, true);
            if (body != std::string_view::npos) {
                const std::size_t end = line.find("-----", body);
                const bool is_whole = end != std::string_view::npos && end - body <= longest_key;
                done = std::max(body, add(body, is_whole ? end : end_of_key_body(line, body)));
                continue;
            }
        } else if (rest.starts_with(end_mark) && behind_mark(line, mark, end_mark, true) != std::string_view::npos) {
            const auto front = line.substr(done, mark - done);
            const auto before = std::find_if(front.rbegin(), front.rend(), stands_alone);
            add(mark - static_cast<std::size_t>(before - front.rbegin()), mark);
        }
        done = mark + end_of_mark.size();
    }
}

}  // namespace whittle::inline v0::redaction
