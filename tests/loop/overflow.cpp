// A provider that refuses what is too large.
#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// Counts like the chain and takes `limit` tokens; says so if `tells`.
struct Provider {
    std::int64_t limit = 0;
    bool tells = true;
    int calls = 0;
    int refusals = 0;

    Reply<ChatMessage> operator()(const ModelRequest<ChatMessage>& request) {
        ++calls;
        std::int64_t used = count_overhead(request.system, request.tools, *chars_counter());
        for (const ChatMessage& message : request.messages) used += count_message(message, *chars_counter());
        if (used <= limit) return {ChatMessage::assistant("fits")};
        ++refusals;
        throw ModelError(tells ? Overflow{.context_limit_tokens = limit, .requested_tokens = used} : Overflow{},
                         "prompt is too long");
    }
};

/// Rounds whose results have 1,000 tokens each.
Conversation<> with_rounds(int rounds) {
    Conversation<> c("overflow");
    c.push_back(ChatMessage::user("read"));
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "call_" + std::to_string(i);
        c.push_back(ChatMessage::assistant("").call(id, "read", "{}"));
        const ToolResult result{id, "read", {{.kind = PartKind::text, .text = std::string(4'000, 'r')}}, false};
        c.push_tool_results({&result, 1});
    }
    c.push_back(ChatMessage::assistant("read it"));
    return c;
}

const ReductionConfig clear_late{.skip_truncation = true, .max_tokens_for_clear = 1'000'000};

AgentLoop<> loop_with(Provider& provider, ModelProfile profile = {}) {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [&provider](const ModelRequest<ChatMessage>& request) { return provider(request); });
    ChainConfig config{.profile = std::move(profile), .storage = memory_storage()};
    return AgentLoop<>(model, {}, Chain{std::move(config), Reduction{clear_late}});
}

}  // namespace

TEST_CASE("a request that is too large is shrunk and sent once more, and the true window is remembered", "[loop]") {
    Provider provider{.limit = 3'000};
    AgentLoop<> loop = loop_with(provider, {.context_window = 200'000});
    Conversation<> c = with_rounds(6);
    const RunResult result = loop.run(c, "go on");
    CHECK(result.outcome == RunOutcome::answered);
    CHECK(result.text == "fits");
    CHECK(result.steps == 1);
    CHECK(provider.calls == 2);
    CHECK(provider.refusals == 1);
    CHECK(loop.chain().context_window(c) == 3'000);
    CHECK(loop.run(c, "once more").outcome == RunOutcome::answered);
    CHECK(provider.refusals == 1);
    CHECK(c.fork("other").notes("chain").integer("window") == 3'000);
    while (c.undo()) {
    }
    CHECK(c.messages()[2].parts[0].text == std::string(4'000, 'r'));
}

TEST_CASE("a refusal without numbers is answered by shrinking too", "[loop]") {
    Provider provider{.limit = 3'000, .tells = false};
    AgentLoop<> loop = loop_with(provider);
    Conversation<> c = with_rounds(6);
    CHECK(loop.run(c, "go on").outcome == RunOutcome::answered);
    CHECK(provider.calls == 2);
}

TEST_CASE("a refusal that cannot be met ends the run with the provider's numbers and ours", "[loop]") {
    Provider provider{.limit = 500};
    AgentLoop<> loop = loop_with(provider);
    Conversation<> c("pinned");
    const RunResult result = loop.run(c, std::string(8'000, 'u'));
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(provider.calls == 1);  // nothing got smaller: asking again is of no use
    const std::int64_t ours = c.context(chars_counter(), {}, loop.tool_specs()).total;
    REQUIRE(ours >= 2'000);
    const std::string n = std::to_string(ours);
    CHECK(result.error == "send the request: it is too large: the provider counts " + n +
                              " tokens and takes 500 tokens; our count is " + n + " tokens after shrinking, " + n +
                              " before; the provider said: prompt is too long");
    try {
        std::rethrow_exception(result.exception);
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::overflow);
        CHECK(error.overflow().context_limit_tokens == 500);
        CHECK(error.overflow().requested_tokens == ours);
    }
}

TEST_CASE("a request that is still too large after shrinking is not sent a third time", "[loop]") {
    Provider provider{.limit = 900};
    AgentLoop<> loop = loop_with(provider);
    Conversation<> c = with_rounds(6);
    const RunResult result = loop.run(c, std::string(4'000, 'u'));
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(provider.calls == 2);
    CHECK(result.error.find("takes 900 tokens") != std::string::npos);
    CHECK(validate(c.messages(), openai_chat()).empty());
}

TEST_CASE("numbers that the provider did not give are called unknown", "[loop]") {
    Provider provider{.limit = 500, .tells = false};
    AgentLoop<> loop = loop_with(provider);
    Conversation<> c("pinned");
    CHECK(loop.run(c, std::string(8'000, 'u'))
              .error.find("the provider counts an unknown number of tokens and takes an unknown number of tokens") !=
          std::string::npos);
}

namespace {

/// Shows the beginning of a reply before it finds that the window is full; answers once the request is small.
struct LateProvider {
    int calls = 0;

    Reply<ChatMessage> operator()(const ModelRequest<ChatMessage>& request) {
        const bool is_first = ++calls == 1;
        (*request.on_delta)({.text = "Hello "});
        if (is_first)
            throw ModelError(Overflow{.context_limit_tokens = 3'000, .requested_tokens = 6'000},
                             "model_context_window_exceeded");
        (*request.on_delta)({.text = "world"});
        return {ChatMessage::assistant("Hello world")};
    }
};

AgentLoop<> loop_with(LateProvider& provider, LoopCallbacks callbacks) {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [&provider](const ModelRequest<ChatMessage>& request) { return provider(request); });
    Chain chain{ChainConfig{.storage = memory_storage()}, Reduction{clear_late}};
    return AgentLoop<>(model, {}, std::move(chain), {}, std::move(callbacks));
}

}  // namespace

TEST_CASE("a reply that overflows while it streams is asked for again once the host has discarded it", "[loop]") {
    LateProvider provider;
    std::string shown;
    AgentLoop<> loop = loop_with(provider, {.on_delta = [&](const Delta& delta) { shown += delta.text; },
                                            .on_stream_restart = [&] { shown.clear(); }});
    Conversation<> c = with_rounds(6);
    CHECK(loop.run(c, "go on").text == "Hello world");
    CHECK(shown == "Hello world");
    CHECK(provider.calls == 2);
}

TEST_CASE("a host that cannot discard what it showed is not shown it twice; it can go on by itself", "[loop]") {
    LateProvider provider;
    std::string shown;
    AgentLoop<> loop = loop_with(provider, {.on_delta = [&](const Delta& delta) { shown += delta.text; }});
    Conversation<> c = with_rounds(6);
    const RunResult result = loop.run(c, "go on");
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(result.error.find("model_context_window_exceeded") != std::string::npos);
    CHECK(shown == "Hello ");
    CHECK(provider.calls == 1);
    CHECK(loop.chain().context_window(c) == 3'000);
    shown.clear();
    CHECK(loop.run(c).outcome == RunOutcome::answered);
    CHECK(shown == "Hello world");
}

TEST_CASE("a window that no model has is not learnt", "[loop]") {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [is_first = true](const ModelRequest<ChatMessage>&) mutable -> Reply<ChatMessage> {
            if (std::exchange(is_first, false))
                throw ModelError(Overflow{.context_limit_tokens = 255, .requested_tokens = 300}, "says a user");
            return {ChatMessage::assistant("fine")};
        });
    ChainConfig config{.profile = {.context_window = 8'000}, .storage = memory_storage()};
    AgentLoop<> loop(model, {}, Chain{std::move(config), Reduction{clear_late}});
    Conversation<> c = with_rounds(6);
    CHECK(loop.run(c, "go on").outcome == RunOutcome::answered);
    CHECK(loop.chain().context_window(c) == 8'000);
}

TEST_CASE("an overflow before anything was shown needs no discarding", "[loop]") {
    Provider provider{.limit = 3'000};
    int discarded = 0;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [&provider](const ModelRequest<ChatMessage>& request) { return provider(request); });
    AgentLoop<> loop(model, {}, Chain{ChainConfig{.storage = memory_storage()}, Reduction{clear_late}}, {},
                     {.on_delta = [](const Delta&) {}, .on_stream_restart = [&] { ++discarded; }});
    Conversation<> c = with_rounds(6);
    CHECK(loop.run(c, "go on").outcome == RunOutcome::answered);
    CHECK(provider.calls == 2);
    CHECK(discarded == 0);
}
