#include "whittle/tiktoken/frequency_scorer.hpp"

#include "whittle/base/error.hpp"
#include "whittle/token_saving/detail/word_text.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace {

double log_of_token(TokenId rank) { return std::log2(static_cast<double>(rank) + 2.0); }

/// Without the punctuation at its ends, as `WordCounts` has it.
double information_in(std::string_view word, const Vocabulary& vocabulary) {
    double sum = 0.0;
    const std::string text = " " + std::string(detail::core_of(word));
    for (const TokenId id : vocabulary.encode(text)) sum += log_of_token(id);
    return sum;
}

}  // namespace

WindowScorer frequency_scorer(std::shared_ptr<const Vocabulary> vocabulary) {
    if (!vocabulary) throw Error(Errc::invalid_argument, "frequency_scorer: there is no vocabulary");
    return [vocabulary = std::move(vocabulary)](const WordWindow& window) {
        std::vector<double> scores;
        scores.reserve(window.words.size());
        for (const std::string_view word : window.words) scores.push_back(information_in(word, *vocabulary));
        return scores;
    };
}

}  // namespace whittle::inline v0
