#include "whittle/summary/detail/text.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0 {
namespace {

constexpr std::string_view line_blanks = " \t\r";
constexpr std::size_t npos = std::string_view::npos;

/// Whether nothing but blanks is between `at` and the start of its line.
bool begins_line(std::string_view text, std::size_t at) noexcept {
    while (at > 0 && line_blanks.find(text[at - 1]) != npos) --at;
    return at == 0 || text[at - 1] == '\n';
}

bool ends_line(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && line_blanks.find(text[at]) != npos) ++at;
    return at == text.size() || text[at] == '\n';
}

/// A tag in its place rather than in a sentence about it.
bool is_structural(std::string_view text, std::size_t at, std::size_t length) noexcept {
    return begins_line(text, at) || ends_line(text, at + length);
}

/// The last `tag` that begins within [from, to): a structural one if there is one, else any.
std::size_t last_tag(std::string_view text, std::string_view tag, std::size_t from, std::size_t to) noexcept {
    std::size_t any = npos;
    for (std::size_t at = to; at > from;) {
        at = text.rfind(tag.front(), at - 1);  // libc++ looks for a longer text from the front, each time
        if (at == npos || at < from) break;
        if (!text.substr(at).starts_with(tag)) continue;
        if (is_structural(text, at, tag.size())) return at;
        if (any == npos) any = at;
    }
    return any;
}

std::size_t first_tag_at_line_start(std::string_view text, std::string_view tag) noexcept {
    for (std::size_t at = text.find(tag); at != npos; at = text.find(tag, at + 1)) {
        if (begins_line(text, at)) return at;
    }
    return npos;
}

std::string_view trimmed(std::string_view text) noexcept {
    constexpr std::string_view white = " \t\r\n\v\f";
    const std::size_t begin = text.find_first_not_of(white);
    if (begin == npos) return {};
    return text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

std::string without_analysis(std::string_view text) {
    constexpr std::string_view open_tag = "<analysis>";
    constexpr std::string_view close_tag = "</analysis>";
    const std::size_t open = first_tag_at_line_start(text, open_tag);
    const std::size_t close = last_tag(text, close_tag, open == npos ? 0 : open, text.size());
    if (open == npos) {
        const bool ends_analysis = close != npos && is_structural(text, close, close_tag.size());
        return std::string(ends_analysis ? text.substr(close + close_tag.size()) : text);
    }
    std::string rest(text.substr(0, open));
    if (close != npos) rest += text.substr(close + close_tag.size());
    return rest;
}

std::string_view summary_part(std::string_view reply) noexcept {
    if (const auto span = find_last_tag(reply, "summary"))
        return reply.substr(span->content_begin, span->content_end - span->content_begin);
    constexpr std::string_view open_tag = "<summary>";
    const std::size_t open = last_tag(reply, open_tag, 0, reply.size());
    return open == npos ? reply : reply.substr(open + open_tag.size());
}

constexpr std::array<std::string_view, 4> frame_tags{"conversation", "entry", "summary", "analysis"};
constexpr std::string_view section_tag = "all_user_messages";

bool starts_with_word(std::string_view text, std::string_view word) noexcept {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [](char w, char t) { return w == detail::lower(t); });
}

/// Whether what follows a `<` makes it a tag of ours.
bool names_tag(std::string_view rest, bool keep_sections) noexcept {
    constexpr std::string_view padding = " \t\r\n/";
    const std::size_t begin = rest.find_first_not_of(padding);
    if (begin == npos) return false;
    rest.remove_prefix(begin);
    if (!keep_sections && starts_with_word(rest, section_tag)) return true;
    return std::ranges::any_of(frame_tags, [&](std::string_view tag) { return starts_with_word(rest, tag); });
}

}  // namespace

std::optional<TagSpan> find_last_tag(std::string_view text, std::string_view name) noexcept {
    // No allocation: the opening tag is searched as the closing one without its slash.
    std::array<char, 64> buffer{};
    if (name.empty() || name.size() > buffer.size() - 3) return std::nullopt;
    buffer[0] = '<';
    buffer[1] = '/';
    std::ranges::copy(name, buffer.begin() + 2);
    buffer[name.size() + 2] = '>';
    const std::string_view close_tag(buffer.data(), name.size() + 3);
    const std::size_t close = last_tag(text, close_tag, 0, text.size());
    if (close == npos) return std::nullopt;
    std::size_t previous = last_tag(text, close_tag, 0, close);
    previous = previous == npos ? 0 : previous + close_tag.size();
    buffer[1] = '<';
    const std::string_view open_tag = close_tag.substr(1);
    std::size_t open = last_tag(text, open_tag, previous, close);
    if (open == npos) open = last_tag(text, open_tag, 0, close);
    if (open == npos) return std::nullopt;
    return TagSpan{open, open + open_tag.size(), close, close + close_tag.size()};
}

std::string clean_reply(std::string_view reply) { return std::string(trimmed(without_analysis(summary_part(reply)))); }

std::string escape_tags(std::string_view text, bool keep_sections) {
    std::string escaped;
    escaped.reserve(text.size());
    std::size_t copied = 0;
    for (std::size_t at = text.find('<'); at != npos; at = text.find('<', at + 1)) {
        if (!names_tag(text.substr(at + 1), keep_sections)) continue;
        escaped += text.substr(copied, at - copied);
        escaped += "&lt;";
        copied = at + 1;
    }
    escaped += text.substr(copied);
    return escaped;
}

}  // namespace whittle::inline v0
