#pragma once

#include "evaluation/evaluation.hpp"
#include "session_story.hpp"

#include <cstddef>

namespace whittle::cli {

/// Puts into a story what its calls cost under the chain, and what they cost with everything sent, by the first profile
/// of the figures, which list their calls (`RunOptions::lists_calls`).
void tell_costs(SessionStory& story, const evaluation::Figures& under_chain);

/// The same beside what the agent sent, by the profile of that index.
void tell_costs(SessionStory& story, const evaluation::Figures& as_sent, const evaluation::Figures& under_chain,
                std::size_t profile);

}  // namespace whittle::cli
