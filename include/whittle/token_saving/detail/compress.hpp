#pragma once

#include "whittle/base/language.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Unicode code points of `text`; a byte that belongs to no well-formed sequence counts as one.
[[nodiscard]] std::int64_t count_code_points(std::string_view text) noexcept;

/// `content` if it has at most `threshold` code points; else its first `head` and last `tail` ones with
/// "\n\n[... N chars truncated ...]\n\n" between, N being what is missing. Never longer than `content`; its own output
/// comes back unchanged. No character is split (as `grapheme_prefix`): for that, fewer stay. Sizes below 0 count as 0.
/// O(size).
[[nodiscard]] std::string compress_tool_output(std::string_view content, std::int64_t threshold = 1'800,
                                               std::int64_t head = 900, std::int64_t tail = 700);

/// What the marker says beside the number.
struct HeadTailMarker {
    std::string_view location{};  ///< of the whole text; empty: it is stored nowhere
    std::string_view reader{};    ///< tool that reads it; empty: none is listed
    Language language = Language::english;
};

/// Of head and tail no more than so many lines stay; 0: all of it.
struct HeadTailLines {
    std::int64_t head = 0;
    std::int64_t tail = 0;
};

/// Head and tail with a marker between them that says where the whole is. Nullopt where the text stays as it is.
[[nodiscard]] std::optional<std::string> cut_to_head_and_tail(std::string_view content, std::int64_t threshold,
                                                              std::int64_t head, std::int64_t tail,
                                                              const HeadTailMarker& marker,
                                                              const HeadTailLines& lines = {});

}  // namespace whittle::inline v0
