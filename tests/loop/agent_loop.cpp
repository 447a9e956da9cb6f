#include "whittle/loop/agent_loop.hpp"

#include "support/catch.hpp"
#include "whittle/model/scripted_model.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace whittle;

namespace {

using Model_ = ScriptedModel<ChatMessage>;

std::shared_ptr<Model_> says(std::vector<ChatMessage> replies) { return std::make_shared<Model_>(std::move(replies)); }

ChatMessage asks_for(const std::string& tool, const std::string& id = "c1", const std::string& arguments = "{}") {
    return ChatMessage::assistant("").call(id, tool, arguments);
}

std::vector<Tool> tools() {
    Tool direct = text_tool("direct", "", "{}", [](std::string_view) { return std::string("the answer"); });
    direct.return_direct = true;
    return {text_tool("echo", "", "{}", [](std::string_view a) { return std::string(a); }),
            text_tool("fail", "", "{}",
                      [](std::string_view) -> std::string { throw Error(Errc::not_found, "no such file"); }),
            text_tool("odd", "", "{}", [](std::string_view) -> std::string { throw 42; }), std::move(direct)};
}

/// No call without exactly one result, no result without a call.
void require_valid(const Conversation<>& c) { REQUIRE(validate(c.messages(), openai_chat()).empty()); }

}  // namespace

TEST_CASE("results come in call order, usage is summed, the answer ends the run", "[loop]") {
    ChatMessage both = asks_for("echo", "a", R"({"n":1})").call("b", "echo", R"({"n":2})");
    both.usage = Usage{.uncached_input = 10, .output = 1};
    ChatMessage answer = ChatMessage::assistant("done");
    answer.usage = Usage{.uncached_input = 20, .cache_read = 5, .output = 2};
    AgentLoop<> loop(
        std::make_shared<Model_>(std::vector<Reply<ChatMessage>>{{both, both.usage}, {answer, answer.usage}}), tools(),
        Chain<>(ChainConfig{}));
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::answered);
    CHECK(result.text == "done");
    CHECK(result.steps == 2);
    CHECK(result.usage == Usage{.uncached_input = 30, .cache_read = 5, .output = 3});
    REQUIRE(c.size() == 5);
    CHECK(c.messages()[2].parts[0].text == R"({"n":1})");
    CHECK(c.messages()[3].parts[0].text == R"({"n":2})");
    require_valid(c);
}

TEST_CASE("whatever is wrong with a call becomes an error result that the model sees", "[loop]") {
    const auto [tool, arguments, expected] = GENERATE(table<const char*, const char*, const char*>({
        {"fail", "{}", "no such file"},
        {"odd", "{}", "no std::exception"},
        {"unknown", "{}", "there is no tool named"},
        {"echo", "[1]", "not a JSON object"},
        {"echo", "{", "not a JSON object"},
    }));
    AgentLoop<> loop(says({asks_for(tool, "c1", arguments), ChatMessage::assistant("sorry")}), tools(),
                     Chain<>(ChainConfig{}));
    Conversation<> c;
    CHECK(loop.run(c, "go").outcome == RunOutcome::answered);
    CHECK(c.messages()[2].parts[0].is_error);
    CHECK(c.messages()[2].parts[0].text.find(expected) != std::string::npos);
}

TEST_CASE("what a tool wrote before it failed is kept", "[loop]") {
    Tool tool{.name = "half", .invoke = [](const ToolContext&, PartSink& out) -> ToolOutcome {
                  out.write("half of it");
                  throw Error(Errc::not_found, "the rest");
              }};
    AgentLoop<> loop(says({asks_for("half"), ChatMessage::assistant("ok")}), {tool}, Chain<>(ChainConfig{}));
    Conversation<> c;
    (void)loop.run(c, "go");
    CHECK(c.messages()[2].parts[0].text == "half of it");
    CHECK(c.messages()[2].parts.size() == 2);
}

TEST_CASE("a reply that only paused is sent back, and both parts are the answer", "[loop]") {
    const auto model = std::make_shared<Model_>(
        std::vector<Reply<ChatMessage>>{{asks_for("echo")},
                                        {ChatMessage::assistant("I search. "), {}, FinishReason::paused},
                                        {ChatMessage::assistant("It is 7.")},
                                        {ChatMessage::assistant("never asked for")}});
    AgentLoop<> loop(model, tools(), Chain<>(ChainConfig{}));
    Conversation<> conversation("pause");
    const RunResult result = loop.run(conversation, "how many?");
    CHECK(result.outcome == RunOutcome::answered);
    CHECK(result.steps == 3);
    CHECK(result.text == "I search. It is 7.");
    CHECK(text_of(conversation.messages().back()) == "It is 7.");
}

TEST_CASE("a direct result is the answer", "[loop]") {
    AgentLoop<> loop(says({asks_for("direct")}), tools(), Chain<>(ChainConfig{}));
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::return_direct);
    CHECK(result.text == "the answer");
    CHECK(c.size() == 3);
}

TEST_CASE("the step limit leaves no call open", "[loop]") {
    AgentLoop<> loop(says({asks_for("echo", "a"), asks_for("echo", "b")}), tools(), Chain<>(ChainConfig{}),
                     {.max_steps = 2});
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::step_limit);
    CHECK(result.steps == 2);
    require_valid(c);
    CHECK(c.messages().back().role == Role::tool);
}

TEST_CASE("a stop in the middle of the tools answers the others with 'not run'", "[loop]") {
    StopSource stop;
    Tool stopping = text_tool("stop", "", "{}", [&](std::string_view) {
        stop.request_stop();
        return std::string("stopping");
    });
    AgentLoop<> loop(says({asks_for("stop", "a").call("b", "stop")}), {stopping}, Chain<>(ChainConfig{}),
                     {.max_steps = 1});
    Conversation<> c;
    CHECK(loop.run(c, "go", stop.get_token()).outcome == RunOutcome::stopped);
    REQUIRE(c.size() == 4);
    CHECK(c.messages()[2].parts[0].text == "stopping");
    CHECK(c.messages()[3].parts[0].text.find("not run") == 0);
    require_valid(c);
}

TEST_CASE("a failing model ends the run as failed, with its error", "[loop]") {
    AgentLoop<> loop(says({}), tools(), Chain<>(ChainConfig{}));
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(result.error.find("used up") != std::string::npos);
    CHECK_THROWS_AS(std::rethrow_exception(result.exception), ModelError);
}

TEST_CASE("an overflow is answered by shrinking and one more try, not by two", "[loop]") {
    struct Shrinker final : Middleware<> {
        std::string_view name() const noexcept override { return "shrinker"; }
        bool on_overflow(Turn<>& turn, const Overflow&) override {
            auto edit = turn.edit();
            edit.erase(0, {.reason = "test"});
            return edit.commit().committed();
        }
    };
    int calls = 0;
    const bool heals = GENERATE(true, false);
    const auto model = std::make_shared<Model_>([&](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> {
        if (++calls == 1 || !heals)
            throw ModelError(Overflow{.context_limit_tokens = 100, .requested_tokens = 200}, "too long");
        return {ChatMessage::assistant("fits")};
    });
    AgentLoop<> loop(model, {}, Chain{ChainConfig{}, Shrinker{}});
    Conversation<> c;
    c.push_back(ChatMessage::assistant(std::string(800, 'x')));
    c.push_back(ChatMessage::user("before"));
    CHECK(loop.run(c, "go").outcome == (heals ? RunOutcome::answered : RunOutcome::failed));
    CHECK(calls == 2);
}

TEST_CASE("what a callback throws fails the run, but no result that came is lost", "[loop]") {
    int ended = 0;
    LoopCallbacks callbacks{.on_tool_end = [&](const ToolContext&, const ToolResult&) {
        if (++ended == 1) throw Error(Errc::callback_failed, "watcher");
    }};
    AgentLoop<> loop(says({asks_for("echo", "a", R"({"n":1})").call("b", "echo")}), tools(), Chain<>(ChainConfig{}), {},
                     callbacks);
    Conversation<> c;
    CHECK(loop.run(c, "go").outcome == RunOutcome::failed);
    CHECK(c.messages()[2].parts[0].text == R"({"n":1})");
    require_valid(c);
}

TEST_CASE("a chain that fails under propagate ends the run as failed and leaves no call open", "[loop]") {
    struct Bad final : Middleware<> {
        std::string_view name() const noexcept override { return "bad"; }
        void after_model(Turn<>&) override { throw Error(Errc::callback_failed, "bad"); }
    };
    AgentLoop<> loop(says({asks_for("echo"), ChatMessage::assistant("done")}), tools(),
                     Chain{ChainConfig{.on_error = OnError::propagate}, Bad{}});
    Conversation<> c;
    CHECK(loop.run(c, "go").outcome == RunOutcome::failed);
    require_valid(c);
}

TEST_CASE("calls left open are run on resuming, and answered before a new message", "[loop]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("go"));
    c.push_back(asks_for("echo", "a", R"({"n":1})"));
    AgentLoop<> loop(says({ChatMessage::assistant("done")}), tools(), Chain<>(ChainConfig{}));
    SECTION("resumed") {
        CHECK(loop.run(c).outcome == RunOutcome::answered);
        CHECK(c.messages()[2].parts[0].text == R"({"n":1})");
    }
    SECTION("interrupted") {
        CHECK(loop.run(c, "something else").outcome == RunOutcome::answered);
        CHECK(c.messages()[2].parts[0].text.find("not run") == 0);
    }
    require_valid(c);
}

TEST_CASE("every problem of a loop's configuration is named at once", "[loop]") {
    try {
        AgentLoop<>(nullptr, {Tool{.name = "a"}, Tool{.name = "a", .parameters = "[]"}}, Chain<>(ChainConfig{}),
                    {.max_steps = 0, .tool_threads = 65});
        FAIL("accepted");
    } catch (const Error& error) {
        const std::string text = error.what();
        for (const char* field :
             {"model", "max_steps", "tool_threads", "tools.a.invoke", "tools.a.parameters", "distinct names"}) {
            CAPTURE(field);
            CHECK(text.find(field) != std::string::npos);
        }
    }
}

TEST_CASE("results that could not be taken in at first are not lost", "[loop]") {
    int failures = 1;
    const auto counter = counter_from("flaky", [&](std::string_view text) {
        if (text == "{\"n\":7}" && failures-- == 1) throw Error(Errc::callback_failed, "counter");
        return static_cast<std::int64_t>(text.size());
    });
    Tool once = text_tool("once", "", "{}", [](std::string_view) { return std::string("{\"n\":7}"); });
    AgentLoop<> loop(says({asks_for("once")}), {once}, Chain<>(ChainConfig{.token_counter = counter}));
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::failed);
    REQUIRE(c.size() == 3);
    CHECK(c.messages()[2].parts[0].text == "{\"n\":7}");
    require_valid(c);
}
