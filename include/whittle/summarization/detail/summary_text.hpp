#pragma once

#include "whittle/base/language.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summary/detail/facts.hpp"

#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What stands in a summary message.
struct SummaryParts {
    std::string_view summary{};                       ///< as it was written, cleaned
    const KeptUserMessages* user_messages = nullptr;  ///< null or empty: the model's own section stays
    std::string_view work{};                          ///< the state of the work, as text
    std::span<const RetainedFact> facts{};
    std::string_view transcript_file_path{};
    std::span<const std::string> stored_as{};  ///< how the model names what was folded, the oldest first
    std::string_view reader{};                 ///< the tool that reads them; empty: there is none
    bool is_by_rule = false;                   ///< `rule_based_summary` wrote it
    bool ends_in_order = true;                 ///< to go on; false: that stands elsewhere
};

/// The text of a summary message: what it is, the summary with the user's own words in place of its
/// `<all_user_messages>` section (behind it if it has none), pinned facts, where the transcript and what was folded
/// are, and that the work goes on. Sections are parted by a blank line. O(size).
[[nodiscard]] std::string compose_summary(const SummaryParts& parts, Language language);

/// The text of a message of its own that tells the model to go on.
[[nodiscard]] std::string continue_text(Language language);

/// For the model that writes a summary behind others, beside the built-in task.
[[nodiscard]] std::string_view later_part(Language language) noexcept;

/// The user's messages as a section that their own text cannot close.
[[nodiscard]] std::string user_section(const KeptUserMessages& messages, Language language);

/// The model's text without its own section of user messages, which `compose_summary` replaces.
[[nodiscard]] std::string without_user_section(std::string_view summary);

/// `sections` that are not empty, parted by a blank line.
[[nodiscard]] std::string join_sections(std::span<const std::string> sections);

}  // namespace whittle::inline v0
