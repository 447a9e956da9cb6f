// Long results keep their ends, and a nudge ends a loop.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [stage]
    TokenSavingConfig config;
    config.when = SavingTime::batched;     // the default: the model sees each result whole at first
    config.batch_calls = 5;                // every 5 model calls: cuts together break the prompt cache less often
    config.early_exit_min_call_index = 8;  // 40 by default
    config.signals_fn = trajectory_signals;
    const auto stage = std::make_shared<TokenSaving<>>(config);  // kept, to ask for its stats
    const Chain<> chain{ChainConfig{.storage = memory_storage()}, {}, Chain<>::Stages{stage}};
    // [/stage]
    Conversation conversation("ci");
    conversation.push_back(ChatMessage::user("Why does the build fail?"));
    for (int i = 1; i <= 10; ++i) {
        const std::string id = "c" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant().call(id, "run", R"({"command":"make"})"));
        conversation.push_back(ChatMessage::result(id, "run", i == 1 ? std::string(5'000, '.') : "nothing to be done"));
        chain.before_model(conversation);
    }
    const std::string cut = text_of(conversation.messages()[2], 0);
    std::cout << cut.substr(898, cut.size() - 898 - 698) << "\n\n";
    for (const ChatMessage& message : conversation.messages())
        if (message.role == Role::user) std::cout << "user: " << text_of(message).substr(0, 43) << '\n';
    std::cout << stage->stats().compressions << " cut, " << stage->stats().early_exits << " nudge\n";
}
