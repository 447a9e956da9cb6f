#include <whittle/whittle.hpp>

using namespace whittle;

int main() {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{ChatMessage::assistant("Hello.")});
    const Chain chain{ChainConfig{.storage = memory_storage()}, Reduction<ChatMessage>{}};
    AgentLoop loop{model, {}, chain};
    Conversation conversation("eleven-lines");
    return loop.run(conversation, "Hi.").text == "Hello." ? 0 : 1;
}
