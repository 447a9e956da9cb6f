// Models of a configuration file, behind a scripted transport.
#include "provider_types.hpp"
#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "support/scripted_transport.hpp"
#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/anthropic/anthropic_model_type.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/openai/openai_model_type.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

using Lookup = std::function<std::optional<std::string>(std::string_view)>;

const char* const file = R"({"models": {
    "o": {"type": "openai", "model": "gpt", "base_url": "http://o/v1", "api_key_env": "O_KEY", "dialect": "vllm",
          "max_output_tokens": 5, "extra": {"seed": 7}},
    "a": {"type": "anthropic", "model": "claude", "api_key_env": "A_KEY"},
    "s": {"type": "scripted", "replies": ["fixed"]}}})";

const ModelSettings& find(const ChainSettings& settings, std::string_view name) {
    return *std::ranges::find(settings.models, name, &ModelSettings::name);
}

HttpModelSource source_with(std::shared_ptr<HttpTransport> transport) {
    return {.transport = std::move(transport), .lookup = [](std::string_view name) -> std::optional<std::string> {
                if (name == "O_KEY") return "o-secret";
                if (name == "A_KEY") return "a-secret";
                return std::nullopt;
            }};
}

ChainSettings settings_with(std::shared_ptr<HttpTransport> transport) {
    return read_chain_settings(file, {.types = provider_types(source_with(std::move(transport)))});
}

std::string error_of(OpenAIModelSettings settings) {
    const auto transport = std::make_shared<ScriptedTransport>(answer_json("{}"));
    settings.model = "x";
    try {
        (void)make_model<ChatMessage>({.name = "m",
                                       .type = "openai",
                                       .config = std::move(settings),
                                       .types = provider_types(source_with(transport))});
    } catch (const Error& error) {
        return error.what();
    }
    FAIL("nothing was thrown");
    return {};
}

const std::string openai_reply =
    R"({"choices":[{"message":{"role":"assistant","content":"sure","tool_calls":[{"id":"c","type":"function",)"
    R"("function":{"name":"ls","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9}})";
const std::string anthropic_reply =
    R"({"role":"assistant","content":[{"type":"text","text":"sure"},{"type":"tool_use","id":"c","name":"ls",)"
    R"("input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":1}})";

/// A talk with one tool round, in the type M.
template <AgentMessage M>
std::vector<M> round() {
    std::vector<M> messages{message_traits<M>::make(Role::user, "list")};
    if constexpr (std::is_same_v<M, ChatMessage>) messages.push_back(ChatMessage::assistant("").call("x", "ls", "{}"));
    if constexpr (std::is_same_v<M, openai::Message>) {
        messages.push_back(M::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function",)"
                                    R"("function":{"name":"ls","arguments":"{}"}}]})"));
    }
    if constexpr (std::is_same_v<M, anthropic::Message>) {
        messages.push_back(
            M::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"x","name":"ls","input":{}}]})"));
    }
    const ToolResult result{"x", "ls", {{.kind = PartKind::text, .text = "a.txt"}}, false};
    for (M& m : message_traits<M>::make_tool_results({&result, 1})) messages.push_back(std::move(m));
    return messages;
}

/// Asks the model `name`; the reply must have arrived whole.
template <AgentMessage M>
std::shared_ptr<ScriptedTransport> ask(std::string_view name, const std::string& answer) {
    const auto transport = std::make_shared<ScriptedTransport>(answer_json(answer));
    const ChainSettings settings = settings_with(transport);
    const auto model = make_model<M>(find(settings, name));
    const std::vector<M> messages = round<M>();
    const Reply<M> reply = model->generate({.messages = messages, .system = "Be brief."});
    CHECK(text_of(reply.message) == "sure");
    CHECK(reply.finish == FinishReason::tool_calls);
    CHECK(reply.usage.value_or(Usage{}).uncached_input == 9);
    std::string tool;
    message_traits<M>::for_each_part(reply.message, [&](const PartView& part) {
        if (part.kind == PartKind::tool_call) tool = std::string(part.tool) + std::string(part.text);
    });
    CHECK(tool == "ls{}");
    return transport;
}

/// The chain of a configuration with all its models.
Chain<openai::Message> chain_with_models(std::string_view json, std::shared_ptr<HttpTransport> transport,
                                         const Lookup& lookup) {
    const HttpModelSource source{.transport = std::move(transport), .lookup = lookup};
    ConfigTypes types;
    types.register_model<openai::Message>(openai_model_type(), openai_model_maker(source));
    types.register_model<openai::Message>(anthropic_model_type(), anthropic_model_maker(source));
    return make_chain<openai::Message>(read_chain_settings(json, {.types = types}));
}

}  // namespace

TEMPLATE_TEST_CASE("both providers serve conversations of every message type", "[backend]", ChatMessage,
                   openai::Message, anthropic::Message) {
    const auto openai = ask<TestType>("o", openai_reply);
    CHECK(openai->requests()[0].url == "http://o/v1/chat/completions");
    CHECK(openai->header("authorization") == "Bearer o-secret");
    const auto sent = nlohmann::ordered_json::parse(openai->requests()[0].body);
    CHECK(sent["seed"] == 7);
    CHECK(sent["max_tokens"] == 5);
    REQUIRE(sent["messages"].size() == 4);
    CHECK(sent["messages"][0]["content"] == "Be brief.");
    CHECK(sent["messages"][2]["tool_calls"][0]["function"]["name"] == "ls");
    CHECK(sent["messages"][3]["content"] == "a.txt");

    const auto anthropic = ask<TestType>("a", anthropic_reply);
    CHECK(anthropic->header("x-api-key") == "a-secret");
    const auto theirs = nlohmann::ordered_json::parse(anthropic->requests()[0].body);
    CHECK(theirs["max_tokens"] == 8'192);
    CHECK(theirs["system"][0]["text"] == "Be brief.");
    REQUIRE(theirs["messages"].size() == 3);
    CHECK(theirs["messages"][2]["content"][0]["tool_use_id"] == "x");
}

TEST_CASE("texts of two results that alternate in one message go to the server as one message for each result",
          "[backend]") {
    const auto transport = std::make_shared<ScriptedTransport>(answer_json(openai_reply));
    const ChainSettings settings = settings_with(transport);
    const auto model = make_model<ChatMessage>(find(settings, "o"));
    ChatMessage results{Role::tool, {}};
    for (const char* id : {"x", "y", "x"})
        results.parts.push_back({PartKind::tool_result, "of " + std::string(id), id, "ls"});
    const std::vector<ChatMessage> messages{
        ChatMessage::user("list"), ChatMessage::assistant("").call("x", "ls", "{}").call("y", "ls", "{}"), results};
    (void)model->generate({.messages = messages});
    const ordered_json sent = ordered_json::parse(transport->requests().at(0).body)["messages"];
    REQUIRE(sent.size() == 4);
    CHECK(sent[2]["tool_call_id"] == "x");
    CHECK(sent[2]["content"].dump().find("of x") != std::string::npos);
    CHECK(sent[3]["tool_call_id"] == "y");
}

TEST_CASE("a key or dialect that is not there is told by name when the model is made", "[backend]") {
    OpenAIModelSettings keyless;
    keyless.api_key_env = "NO_KEY";
    CHECK(error_of(keyless) == "make model \"m\": the environment has no value \"NO_KEY\"");
    OpenAIModelSettings strange;
    strange.dialect = "vlm";
    CHECK(error_of(strange).find("vllm") != std::string::npos);
}

TEST_CASE("what is no name of an environment value is not shown: it may be the key", "[backend]") {
    for (const char* text : {"gsk_realkey123", "sk-real", "0123456789ABCDEF", "REAL KEY"}) {
        OpenAIModelSettings settings;
        settings.api_key_env = text;
        const std::string error = error_of(settings);
        CHECK(error.find("api_key_env") != std::string::npos);
        CHECK(error.find(text) == std::string::npos);
    }
}

TEST_CASE("a chain gets scripted models and models behind HTTP from one list of types", "[backend]") {
    const ChainSettings settings = settings_with(std::make_shared<ScriptedTransport>(answer_json("{}")));
    CHECK_NOTHROW(make_chain<ChatMessage>(settings));
    const ChatMessage question = ChatMessage::user("?");
    const auto scripted = make_model<ChatMessage>(find(settings, "s"));
    CHECK(text_of(scripted->generate({.messages = {&question, 1}}).message) == "fixed");
}

TEST_CASE("the Anthropic model of the docs thinks", "[anthropic]") {
    const std::string key = "k";
    const auto transport = std::make_shared<ScriptedTransport>(
        answer_json(R"({"role":"assistant","content":[],"stop_reason":"end_turn"})"));
    AnthropicModelConfig config{.model = "a-model", .api_key = key};
    config.extra = R"({"thinking": {"type": "adaptive"}})";
    const auto model = std::make_shared<AnthropicModel>(transport, config);
    const auto question = anthropic::Message::parse(R"({"role":"user","content":"?"})");
    (void)model->generate({.messages = {&question, 1}});
    CHECK(transport->requests()[0].body.find(R"("thinking":{"type":"adaptive"})") != std::string::npos);
}

TEST_CASE("a configuration whose key is not in the environment gives no chain", "[backend]") {
    const std::string_view text = R"({"models": {"m": {"type": "openai", "model": "x", "api_key_env": "MY_KEY"}}})";
    const auto transport = std::make_shared<ScriptedTransport>(answer_json("{}"));
    const auto with = [](std::string_view) { return std::optional<std::string>("secret"); };
    const auto without = [](std::string_view) { return std::optional<std::string>(); };
    CHECK_NOTHROW(chain_with_models(text, transport, with));
    CHECK_THROWS_AS(chain_with_models(text, transport, without), Error);
}

namespace {

/// What a chat-completions model says to an Anthropic conversation that ends in `last`.
ordered_json content_for(const std::string& last, const std::string& calls, const std::string& reason) {
    const std::string body = R"({"choices":[{"message":{"content":"sure","tool_calls":)" + calls +
                             R"(},"finish_reason":")" + reason + R"("}]})";
    const auto transport = std::make_shared<ScriptedTransport>(answer_json(body));
    const ChainSettings settings = settings_with(transport);
    auto messages = round<anthropic::Message>();
    messages.push_back(message_traits<anthropic::Message>::make(Role::user, last));
    const auto model = make_model<anthropic::Message>(find(settings, "o"));
    return model->generate({.messages = messages}).message.json()["content"];
}

std::string call_without_id(const std::string& arguments) {
    return R"({"type":"function","function":{"name":"ls","arguments":")" + arguments + R"("}})";
}

}  // namespace

TEST_CASE("a chat-completions model in an Anthropic conversation makes no half call", "[config]") {
    const std::string half = "[" + call_without_id(R"({\"path\":\"/ho)") + "]";
    CHECK(content_for("go", half, "length").dump() == R"("sure")");
    CHECK(content_for("go", half, "content_filter").dump() == R"("sure")");
    CHECK_THROWS_AS(content_for("go", half, "tool_calls"), ModelError);
}

TEST_CASE("calls without an id get one that no other has, and the same in the same conversation", "[config]") {
    const std::string two = "[" + call_without_id("{}") + "," + call_without_id("{}") + "]";
    const ordered_json first = content_for("go", two, "tool_calls");
    REQUIRE(first.size() == 3);
    CHECK(first[1]["id"] != first[2]["id"]);
    CHECK(first == content_for("go", two, "tool_calls"));
    CHECK(first[1]["id"] != content_for("go on", two, "tool_calls")[1]["id"]);
}

TEST_CASE("a paused reply that loses what it waits for is not asked to go on", "[config]") {
    const std::string body =
        R"({"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}],)"
        R"("stop_reason":"pause_turn","usage":{"input_tokens":9,"output_tokens":1}})";
    const auto transport = std::make_shared<ScriptedTransport>(answer_json(body));
    const ChainSettings settings = settings_with(transport);
    const auto model = make_model<openai::Message>(find(settings, "a"));
    CHECK(model->generate({.messages = round<openai::Message>()}).finish == FinishReason::other);
}

namespace {

/// How many problems a model's members have; `first` gets the first one.
int problems_of_model(const std::string& members, std::string* first = nullptr) {
    try {
        (void)read_chain_settings(R"({"models": {"m": {)" + members + "}}}", {.name = "c", .types = provider_types()});
    } catch (const Error& error) {
        const std::string text = error.what();
        if (first != nullptr) *first = text.substr(text.find('\n') + 1);
        return static_cast<int>(std::ranges::count(text, '\n'));
    }
    return 0;
}

}  // namespace

TEST_CASE("models behind HTTP are read with the name of their key", "[config_json]") {
    const ChainSettings settings = read_chain_settings(
        R"({"models": {"m": {"type": "openai", "base_url": "http://localhost:8080/v1", "model": "x", "dialect": "vllm",
            "api_key_env": "MY_KEY", "max_output_tokens": 99, "extra": {"seed": 7}}}})",
        {.types = provider_types()});
    REQUIRE(settings.models.size() == 1);
    const auto& model = std::any_cast<const OpenAIModelSettings&>(settings.models[0].config);
    CHECK(settings.models[0].type == "openai");
    CHECK(model.base_url == "http://localhost:8080/v1");
    CHECK(model.model == "x");
    CHECK(model.dialect == "vllm");
    CHECK(model.api_key_env == "MY_KEY");
    CHECK(model.max_output_tokens == 99);
    CHECK(model.extra == R"({"seed": 7})");
    CHECK_THROWS_AS(make_chain<ChatMessage>(settings), Error);

    std::string problem;
    CHECK(problems_of_model(R"("type": "anthropic")", &problem) == 1);
    CHECK(problem == "c:1:13: models.m.model: missing, expected a string: the provider's name of the model");
    CHECK(problems_of_model(R"("type": "anthropic", "model": "x", "dialect": "vllm")", &problem) == 1);
    CHECK(problem.ends_with("models.m.dialect: only for the type \"openai\""));
    CHECK(problems_of_model(R"("type": "openai", "model": "x", "replies": ["y"])") == 1);
    CHECK(problems_of_model(R"("type": "openai", "model": "x", "base_url": "localhost")") == 1);
    CHECK(problems_of_model(R"("type": "openai", "model": "x", "base_url": 5)") == 1);
    CHECK(problems_of_model(R"("type": "openai", "model": "x", "extra": [1])") == 1);
    CHECK(problems_of_model(R"("type": "openai", "model": "x", "api_key_env": "sk-secret")", &problem) == 1);
    CHECK(problem.find("sk-secret") == std::string::npos);
}

TEST_CASE("the pages of the providers have the row of every key of their models", "[config]") {
    ConfigTypes openai;
    openai.register_model<ChatMessage>(openai_model_type(), openai_model_maker({}));
    CHECK(undocumented_keys(openai, "extensions/openai/README.md") == "");
    ConfigTypes anthropic;
    anthropic.register_model<ChatMessage>(anthropic_model_type(), anthropic_model_maker({}));
    CHECK(undocumented_keys(anthropic, "extensions/anthropic/README.md") == "");
}
