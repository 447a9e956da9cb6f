// What the classifiers of the word level are asked, how often, and what becomes of answers and limits.
#include "agent.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <numeric>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// 60 different words that may go: two windows of 50.
std::string text_of_sixty(const std::string& start) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
        text += text.empty() ? "" : " ";
        text += start + std::string(1, static_cast<char>('a' + i % 26)) + (i < 26 ? "x" : i < 52 ? "y" : "z");
    }
    return text;
}

/// Keeps the first word of each window.
class KeepsFirst final : public TextModel {
public:
    TextReply complete(std::string_view, std::string_view, const TextOptions&, StopToken) override {
        ++calls;
        return {.text = "[1]"};
    }
    int calls = 0;
};

const std::vector<std::string_view> some_words{"the", "parser", "the"};

std::vector<TokenLogprob> by_words(std::string_view text) {
    std::vector<TokenLogprob> tokens;
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        const std::string token(text.substr(at, end - at));
        const std::string word = token.substr(token.front() == ' ' ? 1 : 0);
        tokens.push_back({token, std::ranges::find(seen, word) != seen.end() ? -0.2 : -8.0});
        seen.push_back(word);
        at = end;
    }
    return tokens;
}

}  // namespace

TEST_CASE("a text for which the model calls run out waits for the next batch, and no answer is paid twice",
          "[token_saving]") {
    const auto model = std::make_shared<KeepsFirst>();
    const Agent agent(words_only(make_model_classifier(model)), {.limits = {.model_calls = 3}});
    Conversation<> c = asked();
    add_step(c, text_of_sixty("p"));
    add_step(c, text_of_sixty("q"));
    for (int i = 0; i < 3; ++i) add_step(c, "ok");
    const Report& report = agent.chain.before_model(c);
    CHECK(model->calls == 3);
    CHECK(text_at(c, 2) == "pax pyy");  // first words of two windows
    CHECK(text_at(c, 4) == text_of_sixty("q"));
    CHECK(report.find("token_saving")->details->error.find("limits.model_calls") != std::string::npos);
    add_step(c, "ok");
    agent.chain.before_model(c);
    CHECK(model->calls == 4);
    CHECK(text_at(c, 4) == "qax qyy");
    CHECK(agent.stage->stats().perplexity_cache_hits == 1);
}

TEST_CASE("a classifier that was told to stop leaves the text as it is", "[token_saving]") {
    for (const Errc code : {Errc::cancelled, Errc::limit_exceeded}) {
        const WordScorer scorer = [&](Words) -> std::vector<double> { throw Error(code, "score words: stopped"); };
        const WordClassifier flags = [&](Words) -> std::vector<bool> { throw Error(code, "score words: stopped"); };
        CHECK(compress_words(text_of_sixty("p"), scorer, 0.5) == text_of_sixty("p"));
        CHECK(compress_words(text_of_sixty("p"), flags, 0.5) == text_of_sixty("p"));
    }
}

TEST_CASE("what a conversation's own words decide does not depend on another conversation", "[token_saving]") {
    const auto conversation = [](const std::string& id, const std::string& request) {
        Conversation<> c(id);
        c.push_back(ChatMessage::user(request));
        add_step(c, text_of_sixty("p"));
        for (int i = 0; i < 5; ++i) add_step(c, "ok");
        return c;
    };
    const std::string whole = text_of_sixty("p");
    const std::string front = whole.substr(0, whole.size() / 2);
    const std::string back = whole.substr(whole.size() / 2);
    const Agent alone(words_only(frequency_scorer()));
    Conversation<> expected = conversation("b", back);
    alone.chain.before_model(expected);
    const Agent shared(words_only(frequency_scorer()));
    Conversation<> other = conversation("a", front);
    Conversation<> c = conversation("b", back);
    shared.chain.before_model(other);
    shared.chain.before_model(c);
    CHECK(text_at(other, 2) != text_at(c, 2));
    CHECK(text_at(c, 2) == text_at(expected, 2));
}

TEST_CASE("a scorer that asks nothing of the conversation's counts is not asked again when they change",
          "[token_saving]") {
    int calls = 0;
    TokenSavingConfig config = words_only(WindowScorer([&](const WordWindow& window) {
        ++calls;
        return std::vector<double>(window.words.size(), 1.0);
    }));
    config.minimum_gain_tokens = 1 << 30;
    const Agent agent(config);
    Conversation<> c = asked();
    add_step(c, text_of_sixty("p"));
    for (int i = 0; i < 3; ++i) add_step(c, "ok");
    agent.chain.before_model(c);
    CHECK(calls == 2);
    add_step(c, "more words");
    agent.chain.before_model(c);
    CHECK(calls == 2);
    CHECK(agent.stage->stats().perplexity_cache_hits == 2);  // of a batch that was postponed
}

TEST_CASE("counts have one fingerprint whatever the order of the words", "[token_saving]") {
    const auto print = [](const std::string& text) {
        WordCounts counts;
        counts.add(text);
        return counts.fingerprint();
    };
    CHECK(print("a b a c") == print("c a a b"));
    CHECK_FALSE(print("a b") == print("a b b"));
    CHECK_FALSE(print("a a b") == print("a b b"));
}

TEST_CASE("words of a postponed batch are not reported as cut", "[token_saving]") {
    TokenSavingConfig config = words_only(WordScorer(heuristic_scores));
    config.minimum_gain_tokens = 1 << 30;
    const Agent agent(config, {.explain = true});
    Conversation<> c = asked();
    add_step(c, text_of_sixty("p"));
    for (int i = 0; i < 3; ++i) add_step(c, "ok");
    const auto& candidates = agent.chain.before_model(c).find("token_saving")->details->candidates;
    REQUIRE(candidates.size() == 1);
    CHECK(candidates[0].rule == "too_small");
    CHECK_FALSE(candidates[0].removed);
    CHECK(candidates[0].tokens_freed == 0);
}

TEST_CASE("the logprob scorer's calls are taken from the hook's limits and stand in its report", "[token_saving]") {
    int asked_for = 0;
    const WindowScorer scorer = logprob_scorer([&](std::string_view text, StopToken) {
        ++asked_for;
        return by_words(text);
    });
    HookBudget budget{.model_calls = 2};
    StageReport report;
    CHECK(scorer({.words = some_words, .budget = &budget, .report = &report}).size() == 3);
    CHECK(budget.model_calls == 0);
    REQUIRE(report.details);
    CHECK(report.details->model_calls.size() == 2);  // the check of the server, and the window
    CHECK_THROWS_AS(scorer({.words = some_words, .budget = &budget}), Error);
    StopSource stop;
    stop.request_stop();
    CHECK_THROWS_AS(scorer({.words = some_words, .stop = stop.get_token()}), Error);
    CHECK(asked_for == 2);
}

TEST_CASE("a window of more than 32 KiB is not sent to a server", "[token_saving]") {
    int asked_for = 0;
    const WindowScorer scorer = logprob_scorer([&](std::string_view text, StopToken) {
        ++asked_for;
        return by_words(text);
    });
    const std::string longest(33 * 1'024, 'x');
    const std::vector<std::string_view> words{longest};
    CHECK_THROWS_AS(scorer({.words = words}), Error);
    CHECK(asked_for == 0);
}

TEST_CASE("two threads may ask a logprob scorer at once: none waits for the other's answer", "[token_saving]") {
    WindowScorer scorer;
    int depth = 0;
    scorer = logprob_scorer([&](std::string_view text, StopToken) {
        if (++depth == 1) CHECK(scorer({.words = some_words}).size() == 3);  // as another thread would, in the meantime
        return by_words(text);
    });
    CHECK(scorer({.words = some_words}).size() == 3);
}
