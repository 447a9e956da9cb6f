// Spending fewer tokens: long results lose their middle, old texts their filler, and a loop gets a nudge to end.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

// [setup]
TokenSavingConfig saving() {
    TokenSavingConfig config;
    config.batch_calls = 5;                // edits come together, so that the prompt cache breaks rarely
    config.early_exit_min_call_index = 8;  // 40 by default: no nudge before that many model calls
    config.signals_fn = trajectory_signals;
    config.enable_perplexity_compression = true;
    config.perplexity_classifier = WordScorer(heuristic_scores);  // needs no model
    config.minimum_gain_tokens = 20;
    return config;
}
// [/setup]

const std::string report =
    "The build was not finished because of the cache in src/cache.cpp, which is the one that was added last week. "
    "It looks as if the number of entries in the cache is over 4096 by the time that the server is up, and the oldest "
    "of them are dropped before the server has had a chance to read them at all. This is what was to be expected of a "
    "cache that is so small, and it is the same as what was seen in the build of the day before.";

void add_step(Conversation<>& conversation, const std::string& command, const std::string& output) {
    const std::string id = "call_" + std::to_string(conversation.model_calls() + 1);
    conversation.push_back(ChatMessage::assistant().call(id, "run", R"({"command": ")" + command + "\"}"));
    conversation.push_back(ChatMessage::result(id, "run", output));
}

}  // namespace

int main() {
    // [chain]
    const auto stage = std::make_shared<TokenSaving<>>(saving());  // kept, to ask for its stats
    const Chain<> chain{ChainConfig{.storage = memory_storage()}, {}, Chain<>::Stages{stage}};
    // [/chain]
    Conversation conversation("ci");
    conversation.push_back(ChatMessage::user("Why does the build fail?"));
    add_step(conversation, "report", report);
    add_step(conversation, "log", std::string(5'000, '.'));
    for (int i = 0; i < 8; ++i) {
        chain.before_model(conversation);
        add_step(conversation, "make", "make: nothing to be done");
    }
    chain.before_model(conversation);

    std::cout << text_of(conversation.messages()[2], 0) << "\n\n";
    const std::string cut = text_of(conversation.messages()[4], 0);
    std::cout << cut.substr(896, cut.size() - 896 - 696) << "\n\n";
    std::cout << text_of(conversation.messages()[conversation.size() - 5]) << '\n';
    std::cout << stage->stats().compressions << " cut, " << stage->stats().perplexity_compressions << " compressed, "
              << stage->stats().early_exits << " nudge\n";
}
