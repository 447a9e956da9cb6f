// Whole agent conversations over the scripted transport.
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"
#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

/// A call of read_page as one server streams it.
std::string call_of(const std::string& id) {
    return event(R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":")" + id +
                 R"(","type":"function","function":{"name":"read_page","arguments":"{}"}}]},)"
                 R"("finish_reason":"tool_calls"}]})") +
           event("[DONE]");
}

std::string text_answer(const std::string& text) {
    return event(R"({"choices":[{"delta":{"content":")" + text + R"("},"finish_reason":"stop"}]})") + event("[DONE]");
}

Tool read_page() {
    return text_tool("read_page", "Reads a page.", R"({"type":"object"})",
                     [](std::string_view) { return std::string(4'000, 'p'); });
}

std::shared_ptr<OpenAIChatModel> openai_model(const std::shared_ptr<HttpTransport>& transport) {
    return std::make_shared<OpenAIChatModel>(transport,
                                             OpenAIModelConfig{.model = "m", .base_url = "http://localhost/v1"});
}

}  // namespace

TEST_CASE("a request that the server finds too large is shrunk, sent again, and its window remembered", "[backend]") {
    std::vector<ScriptedAnswer> answers;
    for (const char* id : {"a", "b", "c", "d"}) answers.push_back(answer_events(call_of(id)));
    answers.push_back(answer_json(
        R"({"error":{"message":"You passed 4300 input tokens and requested 0 output tokens. However, the model's )"
        R"(context length is only 3000 tokens, resulting in a maximum input length of 3000 tokens.",)"
        R"("type":"BadRequestError","param":"input_tokens","code":400}})",
        400));
    answers.push_back(answer_events(text_answer("four pages")));
    const auto transport = std::make_shared<ScriptedTransport>(answers);

    Chain<openai::Message> chain{
        ChainConfig{.storage = memory_storage()},
        Reduction<openai::Message>{{.skip_truncation = true, .max_tokens_for_clear = 100'000}}};
    AgentLoop<openai::Message> loop{
        openai_model(transport), {read_page()}, chain, {}, {.on_delta = [](const Delta&) {}}};
    Conversation<openai::Message> conversation("pages");
    const RunResult result = loop.run(conversation, "read them all");
    CHECK(result.error == "");
    CHECK(result.text == "four pages");
    REQUIRE(transport->requests().size() == 6);
    CHECK(transport->requests()[5].body.size() < transport->requests()[4].body.size() - 3'000);
    CHECK(loop.chain().context_window(conversation) == 3'000);
}

TEST_CASE("a reply that breaks off leaves the history as it was", "[backend]") {
    const auto transport = std::make_shared<ScriptedTransport>(
        std::vector{answer_events(event(R"({"choices":[{"delta":{"content":"I was about to"}}]})")),
                    answer_events(text_answer("here I am"))});
    std::string heard;
    AgentLoop<openai::Message> loop{
        openai_model(transport), {}, Chain<openai::Message>(ChainConfig{}), {}, {.on_delta = [&](const Delta& delta) {
            heard += delta.text;
        }}};
    Conversation<openai::Message> conversation("broken");
    const RunResult broken = loop.run(conversation, "hello?");
    CHECK(broken.outcome == RunOutcome::failed);
    CHECK(heard == "I was about to");
    CHECK(conversation.size() == 1);
    const RunResult whole = loop.run(conversation);
    CHECK(whole.text == "here I am");
    CHECK(conversation.size() == 2);
}

TEST_CASE("a server that cuts requests silently is told by the loop", "[backend]") {
    const auto transport = std::make_shared<ScriptedTransport>(
        answer_json(R"({"choices":[{"message":{"role":"assistant","content":"what?"},"finish_reason":"stop"}],)"
                    R"("usage":{"prompt_tokens":4000,"completion_tokens":2}})"));
    AgentLoop<openai::Message> loop{openai_model(transport), {}, Chain<openai::Message>(ChainConfig{})};
    Conversation<openai::Message> conversation("cut");
    CHECK(loop.run(conversation, std::string(80'000, 'x')).silent_truncations == 1);
}

TEST_CASE("marks follow the stable prefix of the chain, and thinking goes back as it came", "[backend]") {
    const std::string thought = R"({"type":"thinking","thinking":"hm","signature":"c2ln"})";
    std::vector<ScriptedAnswer> answers;
    for (const char* id : {"a", "b"}) {
        answers.push_back(answer_json(R"({"role":"assistant","content":[)" + thought + R"(,{"type":"tool_use","id":")" +
                                      id + R"(","name":"read_page","input":{}}],"stop_reason":"tool_use"})"));
    }
    answers.push_back(
        answer_json(R"({"role":"assistant","content":[{"type":"text","text":"two"}],"stop_reason":"end_turn"})"));
    const auto transport = std::make_shared<ScriptedTransport>(answers);
    Chain<anthropic::Message> chain{
        ChainConfig{.profile = {.validity = anthropic_thinking()}, .storage = memory_storage()},
        Reduction<anthropic::Message>{{.skip_truncation = true, .max_tokens_for_clear = 100'000}}};
    AgentLoop<anthropic::Message> loop{std::make_shared<AnthropicModel>(transport, AnthropicModelConfig{.model = "m"}),
                                       {read_page()},
                                       chain,
                                       {.system = "Read."}};
    Conversation<anthropic::Message> conversation("marks");
    CHECK(loop.run(conversation, "read both").text == "two");
    REQUIRE(transport->requests().size() == 3);
    const ordered_json last = ordered_json::parse(transport->requests()[2].body);
    REQUIRE(last["messages"].size() == 5);
    CHECK(last["messages"][1]["content"][0].dump() == thought);
    std::vector<std::size_t> marked;
    for (std::size_t i = 0; i < last["messages"].size(); ++i) {
        if (last["messages"][i].dump().find("cache_control") != std::string::npos) marked.push_back(i);
    }
    // Clearing will begin with the result at 2: what stands before it stays.
    CHECK(marked == std::vector<std::size_t>{1, 2, 4});
    CHECK(last["system"][0].contains("cache_control"));
}

TEST_CASE("a turn that paused for a server's tool goes on in the same turn, with its blocks as they came",
          "[backend]") {
    const std::string use = R"({"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"x"}})";
    const std::string result = R"({"type":"web_search_tool_result","tool_use_id":"s","content":[]})";
    const auto reply = [](const std::string& content, const std::string& reason) {
        return answer_json(R"({"role":"assistant","content":[)" + content + R"(],"stop_reason":")" + reason +
                           R"(","usage":{"input_tokens":9,"output_tokens":1}})");
    };
    const auto transport = std::make_shared<ScriptedTransport>(
        std::vector{reply(R"({"type":"text","text":"I search. "},)" + use, "pause_turn"),
                    reply(result + R"(,{"type":"text","text":"It is 7."})", "end_turn"), reply("", "end_turn")});
    using M = anthropic::Message;
    ChainConfig config;
    config.profile.validity = anthropic_messages();
    AgentLoop<M> loop{
        std::make_shared<AnthropicModel>(transport, AnthropicModelConfig{.model = "m", .cache_breakpoints = 0}),
        {},
        Chain<M>(config)};
    Conversation<M> conversation("pause");
    const RunResult run = loop.run(conversation, "how many?");
    CHECK(run.outcome == RunOutcome::answered);
    CHECK(run.text == "I search. It is 7.");
    REQUIRE(transport->requests().size() == 2);
    CHECK(ordered_json::parse(transport->requests()[1].body)["messages"][1]["content"][1].dump() == use);
    CHECK(validate(conversation.outline(), anthropic_messages()).empty());
}
