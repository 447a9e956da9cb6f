#include "whittle/token_saving/detail/compress.hpp"
#include "whittle/base/detail/graphemes.hpp"

#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace whittle::inline v0 {

namespace {

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t length_by_lead(char c) noexcept {
    const auto lead = static_cast<unsigned char>(c);
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    if (lead >= 0xF0 && lead <= 0xF4) return 4;
    return 1;
}

/// No overlong form, no surrogate, nothing beyond U+10FFFF: Unicode 16.0, table 3-7.
bool is_second_byte(char lead, char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    switch (static_cast<unsigned char>(lead)) {
        case 0xE0: return byte >= 0xA0 && byte <= 0xBF;
        case 0xED: return byte >= 0x80 && byte <= 0x9F;
        case 0xF0: return byte >= 0x90 && byte <= 0xBF;
        case 0xF4: return byte >= 0x80 && byte <= 0x8F;
        default: return is_continuation(c);
    }
}

/// Bytes of the code point at `at`; 1 where no sequence is complete.
std::size_t length_at(std::string_view text, std::size_t at) noexcept {
    const std::size_t length = length_by_lead(text[at]);
    if (at + length > text.size()) return 1;
    if (length > 1 && !is_second_byte(text[at], text[at + 1])) return 1;
    for (std::size_t i = 2; i < length; ++i) {
        if (!is_continuation(text[at + i])) return 1;
    }
    return length;
}

/// Byte offset of code point `n`, counted from byte `at`; the size of the text if there are fewer.
std::size_t offset_of(std::string_view text, std::int64_t n, std::size_t at = 0) noexcept {
    for (; n > 0 && at < text.size(); --n) at += length_at(text, at);
    return at;
}

std::string marker_text(std::int64_t chars, const HeadTailMarker& marker) {
    if (marker.language == Language::chinese) {
        const std::string where = way_back(marker.location, marker.reader, Language::chinese);
        return fmt::format("\n\n[... 已截断 {} 个字符{} ...]\n\n", chars, where);
    }
    const std::string where = way_back(marker.location, marker.reader, Language::english);
    return fmt::format("\n\n[... {} chars truncated{} ...]\n\n", chars, where);
}

/// Whether `rest` begins with a plain marker; gives the bytes of the marker, else 0.
std::size_t plain_marker_at(std::string_view rest) noexcept {
    constexpr std::string_view front = "\n\n[... ";
    constexpr std::string_view back = " chars truncated ...]\n\n";
    if (!rest.starts_with(front)) return 0;
    const std::size_t digits = rest.find_first_not_of("0123456789", front.size());
    if (digits == std::string_view::npos || digits == front.size()) return 0;
    return rest.substr(digits).starts_with(back) ? digits + back.size() : 0;
}

/// The sizes that were asked for.
struct HeadTailSizes {
    std::int64_t head = 0;  ///< code points
    std::int64_t tail = 0;
    HeadTailLines lines{};
};

/// What is left out of a text: where the head ends, where the tail begins, and how much is between them.
struct LeftOut {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::int64_t chars = 0;
};

/// Code points that stay out so that no character is split.
constexpr auto most_shifted = static_cast<std::int64_t>(detail::most_of_cluster);

LeftOut left_out_of(std::string_view content, std::int64_t length, const HeadTailSizes& sizes) noexcept {
    const std::int64_t chars = length - sizes.head - sizes.tail;
    const std::size_t begin = offset_of(content, sizes.head);
    const std::size_t end = offset_of(content, chars, begin);
    LeftOut gap{detail::cluster_border_before(content, begin), detail::cluster_border_behind(content, end), chars};
    if (sizes.lines.head > 0) gap.begin = first_lines(content.substr(0, gap.begin), sizes.lines.head).size();
    if (sizes.lines.tail > 0) gap.end = content.size() - last_lines(content.substr(gap.end), sizes.lines.tail).size();
    gap.chars += count_code_points(content.substr(gap.begin, begin - gap.begin));
    gap.chars += count_code_points(content.substr(end, gap.end - end));
    return gap;
}

/// Whether the text behind a marker at `at` is what a cut to these sizes leaves.
bool is_cut_at(std::string_view content, std::size_t at, const HeadTailSizes& sizes) noexcept {
    const std::size_t marker = plain_marker_at(content.substr(at));
    if (marker == 0) return false;
    const std::int64_t tail = count_code_points(content.substr(at + marker));
    return tail <= sizes.tail && (tail >= sizes.tail - most_shifted || sizes.lines.tail > 0);
}

/// Whether `content` is what a cut to these sizes gives: its marker begins where the head ends now, or in front of that
/// by the code points that stayed out.
bool is_cut_already(std::string_view content, std::size_t head_end, const HeadTailSizes& sizes) noexcept {
    if (is_cut_at(content, head_end, sizes)) return true;
    const std::size_t head = offset_of(content, sizes.head);
    const std::size_t marker = content.rfind("\n\n[... ", head);
    return marker != std::string_view::npos && head - marker <= detail::most_of_cluster &&
           is_cut_at(content, marker, sizes);
}

}  // namespace

std::int64_t count_code_points(std::string_view text) noexcept {
    std::int64_t count = 0;
    for (std::size_t at = 0; at < text.size(); at += length_at(text, at)) ++count;
    return count;
}

std::optional<std::string> cut_to_head_and_tail(std::string_view content, std::int64_t threshold, std::int64_t head,
                                                std::int64_t tail, const HeadTailMarker& marker,
                                                const HeadTailLines& lines) {
    if (threshold >= 0 && static_cast<std::uint64_t>(threshold) >= content.size()) return std::nullopt;
    head = std::max<std::int64_t>(0, head);
    tail = std::max<std::int64_t>(0, tail);
    const std::int64_t length = count_code_points(content);
    if (length <= threshold || head >= length || tail >= length - head) return std::nullopt;
    const HeadTailSizes sizes{head, tail, lines};
    const LeftOut gap = left_out_of(content, length, sizes);
    if (is_cut_already(content, gap.begin, sizes)) return std::nullopt;
    const std::string text = marker_text(gap.chars, marker);
    if (count_code_points(text) >= gap.chars || text.size() >= gap.end - gap.begin) return std::nullopt;
    std::string result(content.substr(0, gap.begin));
    result.append(text).append(content.substr(gap.end));
    return result;
}

std::string compress_tool_output(std::string_view content, std::int64_t threshold, std::int64_t head,
                                 std::int64_t tail) {
    auto cut = cut_to_head_and_tail(content, threshold, head, tail, {});
    return cut ? *std::move(cut) : std::string(content);
}

}  // namespace whittle::inline v0
