// Words under which the state of the work is shown, by a summary of a model and by one by rule: the second reads them
// back.
#pragma once

#include "text_shape.hpp"

#include "whittle/base/language.hpp"
#include "whittle/summary/detail/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

struct WorkHeading {
    std::string_view english;
    std::string_view chinese;

    [[nodiscard]] std::string_view in(Language language) const noexcept {
        return language == Language::chinese ? chinese : english;
    }
};

inline constexpr WorkHeading plan_heading{"Plan, as it stood last:", "最新的计划："};
inline constexpr WorkHeading used_files_heading{"Files, the last used at the end:", "文件（最近使用的在最后）："};

/// One line of at most `most` bytes without tags of ours.
[[nodiscard]] inline std::string to_line(std::string_view text, std::size_t most) {
    std::string line = single_spaced(to_valid_utf8(text), 2 * most);
    if (line.size() > most) line = std::string(grapheme_prefix(line, most)) + "...";
    return escape_tags(line);
}

}  // namespace whittle::inline v0::detail
