#pragma once

#include "whittle/base/language.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/detail/visit_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

struct RuleBasedSummaryConfig {
    std::int64_t max_tokens = 4'000;  ///< by the counter; where not even the title fits, the text is empty
    bool with_user_messages = true;   ///< false: they stand beside the summary anyway
    PreserveWorkConfig work{};        ///< tools for plans; a size of 0 leaves plan or files out, others do not count

    friend bool operator==(const RuleBasedSummaryConfig&, const RuleBasedSummaryConfig&) = default;
};

namespace detail {
/// `rule_based_summary` of messages that `visit_parts` reads.
[[nodiscard]] std::string rule_based_summary(VisitParts visit_parts, const Outline& outline,
                                             std::span<const std::size_t> fold, const RuleBasedSummaryConfig& config,
                                             const TokenCounter& counter, Language language);
}  // namespace detail

/// `Provenance::reason` of a message that holds a summary by rule: the next one takes it up line by line.
inline constexpr std::string_view rule_based_summary_reason = "rule_based_summary";

/// A summary without a model, of the messages at the indices `fold` (ascending): what the user asked, the newest plan
/// or task list, what the assistant found and decided, files read and written, commands, the last errors, what is
/// stored where, other calls by tool with how many and the newest arguments, how their newest results end, and names
/// that came up again, newest first within each. But for the counts everything is word for word from the messages. An
/// earlier one of these is taken up line by line. The same for the same messages. Linear in their text.
template <AgentMessage M>
[[nodiscard]] std::string rule_based_summary(MessageView<M> messages, const Outline& outline,
                                             std::span<const std::size_t> fold,
                                             const RuleBasedSummaryConfig& config = {},
                                             const TokenCounter& counter = *chars_counter(),
                                             Language language = Language::english) {
    return detail::rule_based_summary(detail::part_visitor<M>(messages), outline, fold, config, counter, language);
}

}  // namespace whittle::inline v0
