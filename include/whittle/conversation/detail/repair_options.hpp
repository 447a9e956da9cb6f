#pragma once

#include "whittle/base/language.hpp"

#include <string_view>

namespace whittle::inline v0 {

/// How a broken history is mended.
struct RepairOptions {
    Language language = default_language();  ///< of texts that repair writes
    /// A model call comes next: calls of a round that is answered in part get a result that says that it is missing,
    /// and where the profile wants the user to have the last word and the assistant has it, a user message "Continue."
    /// is added.
    bool for_request = false;
};

namespace detail {

/// By whom: in marks, journal and reports.
inline constexpr std::string_view repair_name = "repair";

/// A word of the assistant between what the user's side says twice in a row, where the server wants turns
/// (`Rule::OC6_user_turns`), and the `Provenance::reason` of its mark.
[[nodiscard]] std::string_view bridge_text(Language language) noexcept;
inline constexpr std::string_view bridge_reason = "turns";

}  // namespace detail

}  // namespace whittle::inline v0
