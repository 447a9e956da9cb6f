// What whittle does, in the host's log: events and reports go to a logger of spdlog.
#include <whittle/spdlog/spdlog.hpp>
#include <whittle/whittle.hpp>

#include <spdlog/sinks/ostream_sink.h>

#include <iostream>

using namespace whittle;

int main() {
    const auto ticks = std::make_shared<ManualClock>();  // a log that is the same each time
    // [log]
    const auto logger =
        std::make_shared<spdlog::logger>("agent", std::make_shared<spdlog::sinks::ostream_sink_mt>(std::cout));
    logger->set_pattern("%l %v");
    logger->set_level(spdlog::level::debug);
    const ChainCallbacks<> watch{.on_event = events_to_spdlog(logger), .on_report = reports_to_spdlog(logger)};
    const Chain chain{ChainConfig{.storage = memory_storage(), .clock = ticks}, watch,
                      Reduction{{.max_tokens_for_clear = 20'000}}};
    // [/log]
    const Tool build = text_tool("build", "Builds everything.", R"({"type":"object"})",
                                 [bytes = 20'000U](std::string_view) mutable { return std::string(bytes *= 2, '.'); });
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        std::vector{ChatMessage::assistant().call("one", "build"), ChatMessage::assistant().call("two", "build"),
                    ChatMessage::assistant("It builds.")});
    AgentLoop loop{model, {build}, chain};
    Conversation conversation("logged");
    const RunResult result = loop.run(conversation, "Build it twice.");
    logger->info("{}: {}", to_string(result.outcome), result.text);
}
