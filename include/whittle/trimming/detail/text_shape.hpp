#pragma once

#include "whittle/base/version.hpp"

#include <span>
#include <string_view>

namespace whittle::inline v0::detail {

/// What a text looks like, whoever gave it.
struct TextShape {
    bool is_numbered = false;  ///< most lines have a number, most of these the next one
    bool is_diff = false;
    bool is_hits = false;    ///< most lines are hits of a search
    bool is_source = false;  ///< most lines are indented or end as those of programs and data do

    [[nodiscard]] bool is_content() const noexcept { return is_numbered || is_diff || is_source; }
};

/// Judged by the first lines; a text of fewer than four lines has no shape.
[[nodiscard]] TextShape shape_of(std::span<const std::string_view> lines) noexcept;

/// A line that tells of a failure, or of the outcome of a test.
[[nodiscard]] bool tells_of_error(std::string_view line) noexcept;
/// A text that starts as the output of something that failed.
[[nodiscard]] bool starts_as_failure(std::string_view text) noexcept;
/// A text that starts as a failure, but for what says first that it went well.
[[nodiscard]] bool is_failed_output(std::string_view text) noexcept;

}  // namespace whittle::inline v0::detail
