#include "model_calls.hpp"
#include "whittle/token_saving/classifiers.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <optional>

namespace whittle::inline v0 {

namespace {

constexpr std::size_t longest_prompt = 32 * 1'024;  // bytes of a window: no unbounded input goes to a server

/// Log-probabilities with the bytes of the prompt that each stands for.
struct Aligned {
    std::vector<TokenLogprob> tokens{};
    std::vector<std::size_t> begin{};
};

/// Tokens in front that are no part of the prompt, such as a start mark, are passed over.
Aligned align(std::vector<TokenLogprob> tokens, std::string_view text) {
    std::size_t size = 0;
    for (const TokenLogprob& token : tokens) size += token.text.size();
    std::size_t first = 0;
    while (first < tokens.size() && size > text.size()) size -= tokens[first++].text.size();
    Aligned aligned;
    std::size_t at = 0;
    for (; first < tokens.size(); ++first) {
        if (text.substr(at, tokens[first].text.size()) != tokens[first].text) break;
        aligned.begin.push_back(at);
        at += tokens[first].text.size();
        aligned.tokens.push_back(std::move(tokens[first]));
    }
    if (at != text.size() || first != tokens.size())
        throw Error(Errc::damaged, fmt::format("score words: the server's tokens do not add up to the prompt: they "
                                               "agree up to byte {} of {}",
                                               at, text.size()));
    return aligned;
}

/// 0 where the server gives none: nothing is known of the first token.
double surprise_of(const TokenLogprob& token) noexcept {
    return token.logprob <= 0.0 && std::isfinite(token.logprob) ? -token.logprob : 0.0;
}

/// Each token's surprise goes to the word that holds its last byte.
std::vector<double> by_word(const Aligned& aligned, const std::vector<std::size_t>& word_ends) {
    std::vector<double> scores(word_ends.size(), 0.0);
    std::size_t word = 0;
    for (std::size_t t = 0; t < aligned.tokens.size(); ++t) {
        const std::size_t last = aligned.begin[t] + aligned.tokens[t].text.size();
        while (word + 1 < word_ends.size() && last > word_ends[word]) ++word;
        scores[word] += surprise_of(aligned.tokens[t]);
    }
    return scores;
}

std::string random_words(std::size_t count) {
    SeededRandom random(20'260'731);
    std::string text;
    for (std::size_t w = 0; w < count; ++w) {
        if (w > 0) text += ' ';
        for (std::uint64_t i = 0, letters = 3 + random.next() % 5; i < letters; ++i)
            text += static_cast<char>('a' + static_cast<char>(random.next() % 26));
    }
    return text;
}

class LogprobScorer {
public:
    explicit LogprobScorer(PromptLogprobs backend) : backend_(std::move(backend)) {}

    std::vector<double> score(const WordWindow& window) {
        if (window.words.empty()) return {};
        std::string text;
        std::vector<std::size_t> ends;
        for (const std::string_view word : window.words) {
            text += text.empty() ? "" : " ";
            text += word;
            ends.push_back(text.size());
        }
        if (text.size() > longest_prompt)
            throw Error(Errc::invalid_argument,
                        fmt::format("score words: a window of {} bytes is above {}", text.size(), longest_prompt));
        require_aligned(window);
        return by_word(align(ask(text, window), text), ends);
    }

private:
    [[nodiscard]] std::vector<TokenLogprob> ask(const std::string& text, const WordWindow& window) const {
        detail::take_call(window);
        return detail::reported(window, [&](ModelCallReport&) { return backend_(text, window.stop); });
    }

    /// Checks once, or more often where several begin at the same time: nobody waits for another's answer. A server
    /// that could not be asked is asked again.
    void require_aligned(const WordWindow& window) {
        std::optional<bool> known = verdict();
        if (!known) {
            known = check(window);
            const std::scoped_lock lock(mutex_);
            repeats_help_ = known;
        }
        if (!*known)
            throw Error(Errc::damaged,
                        "score words: the server's log-probabilities do not rise for a text that is "
                        "repeated: they do not belong to the tokens they stand beside");
    }

    [[nodiscard]] std::optional<bool> verdict() {
        const std::scoped_lock lock(mutex_);
        return repeats_help_;
    }

    [[nodiscard]] bool check(const WordWindow& window) const {
        constexpr double least_rise = 2.0;
        constexpr std::size_t times = 3;
        const std::string once = random_words(24);
        const std::string text = once + " " + once + " " + once;
        std::vector<std::size_t> ends;
        for (std::size_t i = 1; i <= times; ++i) ends.push_back(i * (once.size() + 1) - 1);
        const Aligned aligned = align(ask(text, window), text);
        Aligned counted = aligned;
        for (TokenLogprob& token : counted.tokens) token.logprob = -1.0;
        const std::vector<double> surprise = by_word(aligned, ends);
        const std::vector<double> tokens = by_word(counted, ends);
        if (tokens.front() == 0.0 || tokens.back() == 0.0) return false;
        return surprise.front() / tokens.front() - surprise.back() / tokens.back() >= least_rise;
    }

    PromptLogprobs backend_;
    std::mutex mutex_{};
    std::optional<bool> repeats_help_{};  ///< absent: not checked yet
};

}  // namespace

WindowScorer logprob_scorer(PromptLogprobs backend) {
    if (!backend) throw Error(Errc::invalid_argument, "logprob_scorer: there is no backend");
    const auto scorer = std::make_shared<LogprobScorer>(std::move(backend));
    return [scorer](const WordWindow& window) { return scorer->score(window); };
}

}  // namespace whittle::inline v0
