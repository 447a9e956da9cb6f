// Log-probabilities of a prompt, and whether they belong to the tokens they stand beside.
#include "scenarios.hpp"

#include <whittle/base/error.hpp>
#include <whittle/base/random.hpp>
#include <whittle/servers/prompt_logprobs.hpp>
#include <whittle/token_saving/classifiers.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace real_model {

namespace {

std::vector<std::string> mixed_words(std::string_view text) {
    std::vector<std::string> words;
    for (const whittle::Word& word : whittle::split_words(text))
        words.emplace_back(text.substr(word.begin, word.end - word.begin));
    whittle::SeededRandom random(7);
    for (std::size_t i = words.size(); i > 1; --i) std::swap(words[i - 1], words[random.next() % i]);
    return words;
}

std::string mixed(std::string_view text) {
    std::string out;
    for (const std::string& word : mixed_words(text)) out += (out.empty() ? "" : " ") + word;
    return out;
}

/// e to the mean surprise of the tokens that the server speaks of.
double perplexity_of(const std::vector<whittle::TokenLogprob>& tokens) {
    double sum = 0.0;
    double count = 0.0;
    for (const whittle::TokenLogprob& token : tokens) {
        if (!std::isfinite(token.logprob)) continue;
        sum -= token.logprob;
        count += 1.0;
    }
    return count == 0.0 ? 0.0 : std::exp(sum / count);
}

}  // namespace

std::string_view sample_text() noexcept {
    return "The gardener told us that the water butt near the kitchen door leaks at the tap, and that it really has to "
           "be emptied before the first hard frost of the winter, because otherwise the ice would of course split the "
           "wooden staves and somebody would have to buy a new one in the spring, which is rather expensive.";
}

Scoring score_sample(const Server& server) {
    Scoring scoring;
    // [scorer]
    const whittle::PromptLogprobs ask = whittle::http_prompt_logprobs(
        server.transport, {.model = server.model, .base_url = server.base_url, .source = whittle::LogprobSource::echo});
    const whittle::WindowScorer scorer = whittle::logprob_scorer(ask);
    // [/scorer]
    const std::string_view sample = sample_text();
    try {
        scoring.perplexity = perplexity_of(ask(sample, {}));
        scoring.perplexity_mixed = perplexity_of(ask(mixed(sample), {}));
    } catch (const whittle::ModelError&) {  // a server without them; the scorer says so below
    }
    const std::vector<whittle::Word> words = whittle::split_words(sample);
    const whittle::WordChoice choice = whittle::choose_words(sample, words, scorer, 0.5);
    scoring.refusal = choice.failure;
    scoring.is_aligned = choice.fallbacks == 0;
    scoring.kept = whittle::join_kept(sample, words, choice.keep);
    return scoring;
}

}  // namespace real_model
