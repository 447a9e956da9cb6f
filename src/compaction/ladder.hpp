#pragma once

#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/compaction/detail/turns.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Why no summary is bought, with the numbers.
[[nodiscard]] std::string describe_floor(const TurnPlan& plan, const TurnBudget& budget);
/// Why there is nothing to summarise, with the numbers.
[[nodiscard]] std::string describe_idle(const TurnPlan& plan, const TurnBudget& budget);
/// The rules that a summary would break; empty: none.
[[nodiscard]] std::string describe_broken(std::span<const Violation> violations);
/// Numbers as one line of text, for `Notes`.
[[nodiscard]] std::string joined_numbers(std::initializer_list<std::int64_t> numbers);
/// That compaction did not bring the request below the threshold.
[[nodiscard]] std::string describe_compacted(std::int64_t tokens, std::int64_t threshold);

/// What stays whatever is folded, in tokens of a request.
[[nodiscard]] std::int64_t floor_of(const TurnPlan& plan, const TurnBudget& budget) noexcept;
/// Whether what stays leaves no room for a summary that is worth a call.
[[nodiscard]] bool is_over_floor(const TurnPlan& plan, const TurnBudget& budget) noexcept;

/// The start of `summary` that has at most `max_tokens`, at a line border if one is near.
[[nodiscard]] std::string cut_summary(std::string_view summary, std::int64_t max_tokens, const TokenCounter& counter);

}  // namespace whittle::inline v0::detail
