#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/model/model.hpp"
#include "whittle/token_saving/detail/words.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Keeps protected words and the best `keep_ratio` of the others: stop words go first, then words that stood there
/// before, then short ones. Needs nothing but the words.
[[nodiscard]] std::vector<bool> heuristic_classifier(Words words, double keep_ratio);

/// The scores behind it: as `WordScorer` the share is exact over a message instead of over a window.
[[nodiscard]] std::vector<double> heuristic_scores(Words words);

/// Self-information from the counts of the conversation. Throws Error(invalid_argument) without them: the heuristic
/// then takes over.
[[nodiscard]] WindowScorer frequency_scorer();

/// Asks a model which words to keep; it answers with a JSON array of their numbers. One call per window, taken from the
/// hook's `limits.model_calls`. Whatever fails is thrown: the heuristic then takes over, but where the limits of the
/// hook are at their end the text waits for the next batch. `target_keep_ratio` is used where the window has no ratio
/// in (0, 1), as when a host calls the classifier itself; `TokenSaving` always gives its tier's. Throws
/// Error(invalid_argument) for null or a target outside (0, 1].
[[nodiscard]] WindowClassifier make_model_classifier(std::shared_ptr<TextModel> model, double target_keep_ratio = 0.5);

/// A token of a prompt as a server reports it.
struct TokenLogprob {
    std::string text{};    ///< the bytes of the prompt that it stands for
    double logprob = 0.0;  ///< natural logarithm; NaN or above 0 where the server gives none (the first token)
};

/// Asks a server for the log-probabilities of the tokens of `text`, in order. Throws what goes wrong.
using PromptLogprobs = std::function<std::vector<TokenLogprob>(std::string_view text, StopToken stop)>;

/// Scores words by their negative log-probability in context. The tokens' texts must add up to the prompt, after
/// tokens at the front that are no part of it. Before its first use it checks itself: a text of random words three
/// times over must have a mean log-probability that is at least 2 higher the third time than the first; else every use
/// throws Error(damaged), and the heuristic takes over, as it does for a window above 32 KiB (Error(invalid_argument)).
/// Check and windows are each a call from the hook's `limits.model_calls`, before its deadline, and in its report. The
/// scorer may be copied; copies share the check. Thread-safe if `backend` is; no lock is held while it works.
[[nodiscard]] WindowScorer logprob_scorer(PromptLogprobs backend);

}  // namespace whittle::inline v0
