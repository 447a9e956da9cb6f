#pragma once

#include "evaluation/evaluation.hpp"
#include "session_report.hpp"

#include <cstddef>

namespace whittle::cli {

/// Puts into a session report what its calls cost under the chain, and what they cost with everything sent, by the
/// first profile of the figures, which list their calls (`RunOptions::lists_calls`).
void add_call_costs(SessionReport& session_report, const evaluation::Figures& under_chain);

/// The same beside what the agent sent, by the profile of that index.
void add_call_costs(SessionReport& session_report, const evaluation::Figures& as_sent,
                    const evaluation::Figures& under_chain, std::size_t profile);

}  // namespace whittle::cli
