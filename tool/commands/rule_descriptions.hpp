#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace whittle::cli {

/// What a rule of a plan, a reason of a commit or the name of a `MessageState` means, for a person; empty: nobody here
/// knows it.
[[nodiscard]] std::string_view meaning_of_rule(std::string_view rule) noexcept;

/// A line for each of `rules` that is known, indented, of at most `columns`.
[[nodiscard]] std::string rules_text(const std::set<std::string>& rules, std::size_t columns);

/// `text` in lines of at most `columns`: the first behind `first` blanks, the others behind `rest`.
[[nodiscard]] std::string indented(std::string_view text, std::size_t first, std::size_t rest, std::size_t columns);

}  // namespace whittle::cli
