#pragma once

#include "whittle/tiktoken/vocabulary.hpp"
#include "whittle/token_saving/classifiers.hpp"

#include <memory>

namespace whittle::inline v0 {

/// Self-information from the ranks of a vocabulary: rank r as probability proportional to 1 / (r + 2), summed over a
/// word's tokens. Throws Error(invalid_argument) for null.
[[nodiscard]] WindowScorer frequency_scorer(std::shared_ptr<const Vocabulary> vocabulary);

}  // namespace whittle::inline v0
