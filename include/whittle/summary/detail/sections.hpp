#pragma once

#include "whittle/base/language.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Headings that the built-in task asks for and that every summary can have.
[[nodiscard]] std::span<const std::string_view> summary_sections(Language language) noexcept;

/// Those of `required` that stand nowhere in a summary, in any case of letters. O(size * required).
[[nodiscard]] std::vector<std::string> missing_sections(std::string_view summary,
                                                        std::span<const std::string> required);

/// What a model is told that left sections out.
[[nodiscard]] std::string correction_text(std::span<const std::string> missing, Language language);

}  // namespace whittle::inline v0
