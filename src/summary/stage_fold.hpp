#pragma once

#include "whittle/base/language.hpp"
#include "whittle/conversation/draft.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace whittle::inline v0::detail {

/// What is put in place of folded messages.
struct FoldReplacement {
    Role role = Role::user;  ///< of the summary
    std::string summary{};
    Provenance provenance{};
    std::string before{};  ///< a user message in front of the summary; empty: none
    Provenance before_provenance{};
    std::string behind{};  ///< one behind it
    Provenance behind_provenance{};
    bool has_newest_turn = false;  ///< the summary gets the highest turn number of what it replaces, not the first
};

/// Stages the edits of a fold: one stretch of the messages makes way for the summary, the others go; where `rules` want
/// turns, an assistant's message stands between two of the user.
void stage_fold(Draft& edit, std::span<const std::size_t> folded, const FoldReplacement& with,
                const ValidityProfile& rules, Language language);

}  // namespace whittle::inline v0::detail
