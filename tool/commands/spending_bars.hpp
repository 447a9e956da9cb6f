#pragma once

#include "evaluation/spending.hpp"
#include "report_page.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// What the tokens that were sent were, which of them could have been left out, and how old they were. `sent`: all of
/// them, with what stands in front of the messages. All bars have one scale.
[[nodiscard]] std::vector<ReportBars> spending_bars(const evaluation::Spending& spending, std::int64_t sent);

inline constexpr std::string_view spending_bars_note =
    "tokens sent: those of a message again for each call that sent it; share: of all tokens sent; messages: how many. "
    "Each bar is as long as its tokens, all by one scale. System text and tools are what the first call was billed "
    "beyond its messages, where "
    "a bill says it.";

}  // namespace whittle::cli
