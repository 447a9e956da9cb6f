// Presets without a model at small windows, on sessions whose calls say nothing of files, commands or plans.
#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/preset/presets.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// What an agent does, made from a number: the same number gives the same session.
class GeneratedSession {
public:
    GeneratedSession(std::string kind, std::uint64_t seed) : kind_(std::move(kind)), state_(seed) {}

    /// The calls of the next reply; `most_together` of them at most.
    ChatMessage next(int most_together) {
        ChatMessage reply = ChatMessage::assistant(pick(4) == 0 && kind_ != "silent" ? "Going on." : "");
        for (std::uint64_t left = 1 + pick(static_cast<std::uint64_t>(most_together)); left > 0; --left) {
            const std::string number = std::to_string(++calls_);
            const auto [tool, arguments] = call(number);
            reply.call("call_" + number, tool, arguments);
        }
        return reply;
    }
    std::string result() {
        std::string text;
        for (std::uint64_t left = 1 + pick(60); left > 0; --left)
            text +=
                "row " + std::to_string(pick(1'000'000)) + " | value " + std::to_string(pick(1'000'000)) + " | open\n";
        return text;
    }

private:
    std::pair<std::string, std::string> call(const std::string& number) {
        const std::string kind = kind_ == "mixed" ? std::vector<std::string>{"click", "search", "sql"}[pick(3)] : kind_;
        if (kind == "click") return {"click", "{\"x\":" + std::to_string(pick(1'900)) + ",\"y\":" + number + "}"};
        if (kind == "search") return {"search", "{\"query\":\"price of part " + number + " in may\"}"};
        if (kind == "sql") return {"sql", "{\"statement\":\"SELECT id, value FROM orders WHERE id > " + number + "\"}"};
        return {"next", "{}"};
    }
    std::uint64_t pick(std::uint64_t below) {
        state_ = state_ * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
        return (state_ >> 33U) % below;
    }

    std::string kind_;
    std::uint64_t state_;
    int calls_ = 0;
};

/// Takes what fits its window, as the chain counts it, and goes on calling tools.
struct WindowedProvider {
    std::int64_t window = 0;
    GeneratedSession& session;
    int most_together = 1;
    int calls = 0;
    int refusals = 0;

    Reply<ChatMessage> operator()(const ModelRequest<ChatMessage>& request) {
        std::int64_t used = count_overhead(request.system, request.tools, *chars_counter());
        for (const ChatMessage& message : request.messages) used += count_message(message, *chars_counter());
        if (used > window) {
            ++refusals;
            throw ModelError(Overflow{.context_limit_tokens = window, .requested_tokens = used}, "prompt is too long");
        }
        return {++calls % 120 == 0 ? ChatMessage::assistant("Done for now.") : session.next(most_together)};
    }
};

}  // namespace

TEST_CASE("without a model a preset keeps clicks, searches and queries inside small windows", "[loop][large]") {
    for (const Preset preset : presets()) {
        if (preset == Preset::lossless) continue;  // it has no last stage
        for (const std::int64_t window : {4'000, 8'000, 16'000, 32'000}) {
            for (const char* kind : {"click", "search", "sql", "silent", "mixed"}) {
                for (const int together : {1, 6}) {
                    CAPTURE(to_string(preset), window, kind, together);
                    GeneratedSession session(kind, static_cast<std::uint64_t>(window));
                    WindowedProvider provider{window, session, together};
                    std::vector<Tool> tools;
                    for (const char* tool : {"click", "search", "sql", "next"})
                        tools.push_back(text_tool(tool, "", "{}", [&](std::string_view) { return session.result(); }));
                    std::vector<std::string> failures;
                    int above = 0;
                    const ChainCallbacks<ChatMessage> callbacks{.on_event = [&](const Event& event) {
                        const bool is_told_once = event.kind == "still_above_trigger";
                        above += is_told_once ? 1 : 0;
                        if (event.level != Event::Level::info && !is_told_once) failures.emplace_back(event.text);
                    }};
                    AgentLoop<> loop(std::make_shared<ScriptedModel<ChatMessage>>(
                                         [&](const ModelRequest<ChatMessage>& request) { return provider(request); }),
                                     tools,
                                     make_chain(preset_config(preset, {.context_window = window}), nullptr, callbacks),
                                     {.max_steps = 1'000});
                    Conversation<> conversation("generated");
                    for (int turn = 0; turn < 3; ++turn) {
                        const RunResult result =
                            loop.run(conversation, "Collect the prices, part " + std::to_string(turn));
                        CHECK(result.outcome == RunOutcome::answered);
                        CHECK(result.error == "");
                    }
                    CHECK(provider.calls == 360);
                    CHECK(provider.refusals == 0);
                    CHECK(failures == std::vector<std::string>{});
                    CHECK(above <= 1);
                }
            }
        }
    }
}
