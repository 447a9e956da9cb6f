#pragma once

#include "whittle/base/language.hpp"
#include "whittle/digest/detail/facts.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// The built-in task of compaction's summaries: one paragraph with goals, decisions, tool calls with their results, and
/// the state.
[[nodiscard]] std::string_view compaction_instruction(Language language) noexcept;

/// The sentence behind a task that says how long a summary of at most `max_tokens` may be: in words, with some room.
[[nodiscard]] std::string length_sentence(std::int64_t max_tokens, Language language);

/// The text of the message that stands for folded turns. `is_system`: it is a system message, which needs no word on
/// who wrote it.
[[nodiscard]] std::string compose_compacted(std::string_view summary, std::span<const RetainedFact> facts,
                                            bool is_system, Language language);

}  // namespace whittle::inline v0
