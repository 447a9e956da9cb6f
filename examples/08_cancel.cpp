// A user stops the agent while a tool runs: the tool ends, and the conversation stays valid and can be taken up again.
#include <whittle/whittle.hpp>

#include <iostream>
#include <latch>
#include <thread>

using namespace whittle;

int main() {
    // [cancel]
    std::latch is_working(1);
    const Tool watch{.name = "watch_log",
                     .description = "Watches a log until it is told to stop.",
                     .invoke = [&](const ToolContext& context, PartSink& out) {
                         out.write("connected, ");
                         is_working.count_down();
                         while (!context.stop.stop_requested()) std::this_thread::yield();
                         out.write("then stopped by the user");
                         return ToolOutcome{};
                     }};
    StopSource stop;
    std::thread user([&] {  // who presses Ctrl-C
        is_working.wait();
        stop.request_stop();
    });
    // [/cancel]
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{
        ChatMessage::assistant().call("1", "watch_log").call("2", "watch_log"), ChatMessage::assistant("I saw it.")});
    AgentLoop loop{model, {watch}, Chain{ChainConfig{}, Reduction{{.skip_truncation = true}}}};
    Conversation conversation("cancelled");
    std::cout << to_string(loop.run(conversation, "Watch the logs.", stop.get_token()).outcome) << '\n';
    user.join();
    for (const std::size_t result : {2U, 3U}) std::cout << "- " << text_of(conversation.messages()[result], 0) << '\n';
    std::cout << "violations: " << validate(conversation.messages(), openai_chat()).size() << '\n';
    std::cout << "taken up again: " << to_string(loop.run(conversation, "What did you see?").outcome) << '\n';
}
