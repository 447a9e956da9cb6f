#pragma once

#include "whittle/evaluation/evaluation.hpp"
#include "whittle/logs/logs.hpp"

namespace whittle::cli {

/// What a session is paid by, as far as its bill tells: Anthropic's cache for its messages, and where tokens written to
/// a cache were billed, which other models' logs have for those of OpenAI alone; for an hour if most of what was asked
/// for after 5 minutes to an hour was read still. `is_anthropic`: its messages have that shape.
[[nodiscard]] evaluation::CostProfile profile_of_bill(const logs::Session& session, bool is_anthropic);

}  // namespace whittle::cli
