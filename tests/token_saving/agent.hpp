// A conversation of an agent that calls one tool per step, in front of a chain with TokenSaving.
#pragma once

#include "whittle/token_saving/token_saving.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

inline std::string text_at(const Conversation<>& c, std::size_t message, std::size_t part = 0) {
    return c.messages()[message].parts[part].text;
}

/// Steps: a call "cN" of `tool` and its result. Message 0 is the user's; step N (from 1) has 2N - 1 and 2N.
inline void add_step(Conversation<>& c, std::string result, const std::string& tool = "run",
                     const std::string& arguments = "{}", const std::string& thought = {}) {
    const std::string id = "c" + std::to_string(c.model_calls() + 1);
    c.push_back(ChatMessage::assistant(thought).call(id, tool, arguments));
    c.push_back(ChatMessage::result(id, tool, std::move(result)));
}

inline Conversation<> asked(const std::string& id = "conv") {
    Conversation<> c(id);
    c.push_back(ChatMessage::user("do"));
    return c;
}

/// Word level alone, at every call, however small the gain.
inline TokenSavingConfig words_only(AnyWordClassifier classifier = WordScorer(heuristic_scores)) {
    TokenSavingConfig config;
    config.enable_compression = false;
    config.enable_perplexity_compression = true;
    config.perplexity_classifier = std::move(classifier);
    config.minimum_gain_tokens = 0;
    config.batch_calls = 1;
    return config;
}

/// A stage of token saving and the chain that it is alone in.
struct Agent {
    explicit Agent(TokenSavingConfig config, ChainConfig settings = {})
        : stage(std::make_shared<TokenSaving<>>(std::move(config))),
          chain(std::move(settings), {}, Chain<>::Stages{stage}) {}

    std::shared_ptr<TokenSaving<>> stage;
    Chain<> chain;
};

/// Writes each message to a chain that runs before each reply, as a loop does.
template <typename Chain>
void drive(const Chain& chain, Conversation<>& c, const std::vector<std::string>& results) {
    for (const std::string& result : results) {
        chain.before_model(c);
        add_step(c, result);
    }
    chain.before_model(c);
}

}  // namespace whittle::testing
