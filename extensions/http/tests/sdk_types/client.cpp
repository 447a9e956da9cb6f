// Our models and loop against the stub that main.ts serves at WHITTLE_SDK_STUB.
#include "mirror.hpp"
#include "whittle/anthropic/detail/anthropic_request.hpp"
#include "whittle/openai/detail/openai_request.hpp"

#include "support/catch.hpp"
#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/http/curl_transport.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr)
        throw std::runtime_error(std::string(name) + " is not set: extensions/http/tests/sdk_types/run starts this");
    return value;
}

std::string address() { return environment("WHITTLE_SDK_STUB"); }

std::shared_ptr<HttpTransport> transport() {
    static const std::shared_ptr<HttpTransport> shared = make_curl_transport();
    return shared;
}

std::shared_ptr<Model<openai::Message>> openai_model(const std::string& name, const std::string& key = "test-key") {
    return std::make_shared<OpenAIChatModel>(
        transport(), OpenAIModelConfig{.model = name, .base_url = address() + "/openai/v1", .api_key = key});
}

std::shared_ptr<AnthropicModel> anthropic_model(const std::string& name, const std::string& key = "test-key") {
    return std::make_shared<AnthropicModel>(
        transport(), AnthropicModelConfig{.model = name, .base_url = address() + "/anthropic", .api_key = key});
}

Tool weather() {
    Tool tool{.name = "weather", .description = "Weather of a city."};
    tool.invoke = [](const ToolContext& context, PartSink& out) {
        out.write("weather for " + context.arguments);
        Part map{.kind = PartKind::media};
        map.media = {.mime = "image/png", .bytes = "\x89PNG\r\n"};
        if (context.call_id.ends_with('2')) out.push(map);
        return ToolOutcome{};
    };
    return tool;
}

Tool fail() {
    Tool tool{.name = "fail", .description = "Fails."};
    tool.invoke = [](const ToolContext&, PartSink&) -> ToolOutcome { throw std::runtime_error("no such thing"); };
    return tool;
}

template <typename M>
std::vector<std::string> lines_of(const Conversation<M>& conversation) {
    std::vector<std::string> lines;
    for (const M& m : conversation.messages()) {
        const std::string role(to_string(message_traits<M>::role(m)));
        message_traits<M>::for_each_part(m, [&](const PartView& part) {
            std::string line = role + ' ' + std::string(to_string(part.kind));
            for (const std::string_view word : {part.call_id, part.tool, part.text}) {
                if (!word.empty()) line += ' ' + std::string(word);
            }
            for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos;) line.replace(at, 1, "\\n");
            lines.push_back(line);
        });
    }
    return lines;
}

struct Run {
    std::vector<RunResult> results{};
    std::vector<std::string> lines{};
    json sent{};  ///< the messages as the next request would hold them
    std::string heard{};
    std::vector<std::string> heard_calls{};
};

json messages_sent(const Conversation<openai::Message>& conversation) {
    const std::string body = openai::chat_body({.messages = conversation.messages()}, {.model = "m"}, false);
    return json::parse(body)["messages"];
}

json messages_sent(const Conversation<anthropic::Message>& conversation) {
    const AnthropicModelConfig config{.model = "m", .cache_breakpoints = 0};
    const auto kind = anthropic::RequestBodyKind::whole;
    return json::parse(
        anthropic::messages_request({.messages = conversation.messages()}, config, kind).body)["messages"];
}

void note(Run& run, const Delta& delta) {
    if (delta.kind != Delta::Kind::tool_arguments) {
        run.heard += delta.text;
        return;
    }
    const std::string name = std::string(delta.call_id) + ' ' + std::string(delta.tool) + ' ';
    if (run.heard_calls.empty() || !run.heard_calls.back().starts_with(name)) run.heard_calls.push_back(name);
    run.heard_calls.back() += delta.text;
}

/// A turn for each of `asked`.
template <typename M>
Run hold(std::shared_ptr<Model<M>> model, bool is_streamed, const std::vector<std::string>& asked) {
    Run run;
    LoopCallbacks callbacks;
    if (is_streamed) callbacks.on_delta = [&](const Delta& delta) { note(run, delta); };
    const LoopConfig config{.system = "Be brief."};
    const std::vector<Tool> tools{weather(), fail()};
    const ChainConfig rule_based_config;
    const Chain<M> chain(rule_based_config);
    AgentLoop<M> loop{std::move(model), tools, chain, config, callbacks};
    Conversation<M> conversation("stub");
    for (const std::string& text : asked) {
        run.results.push_back(loop.run(conversation, text));
        CHECK(run.results.back().error == "");
    }
    run.lines = lines_of(conversation);
    run.sent = messages_sent(conversation);
    return run;
}

void require_same(const Run& whole, const Run& streamed) {
    CHECK(streamed.lines == whole.lines);
    CHECK(streamed.sent.dump(1) == whole.sent.dump(1));
    REQUIRE(streamed.results.size() == whole.results.size());
    for (std::size_t i = 0; i < whole.results.size(); ++i) {
        CHECK(streamed.results[i].text == whole.results[i].text);
        CHECK(streamed.results[i].outcome == whole.results[i].outcome);
        CHECK(streamed.results[i].usage == whole.results[i].usage);
    }
}

std::optional<ModelErrorClass> class_of(const std::exception_ptr& thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const ModelError& error) {
        return error.error_class();
    } catch (...) {
    }
    return std::nullopt;
}

template <typename M>
std::string refusal_of(Model<M>& model, const std::vector<std::string>& history) {
    std::vector<M> messages;
    for (const std::string& text : history) messages.push_back(M::parse(text));
    try {
        static_cast<void>(model.generate({.messages = messages}));
    } catch (const ModelError& error) {
        return std::string(to_string(error.error_class())) + ": " + error.what();
    }
    return "accepted";
}

/// extensions/http/tests/sdk_types/expected/NAME: a line for each part of the history.
std::vector<std::string> expected(const std::string& name) {
    std::ifstream file(environment("WHITTLE_SDK_EXPECTED") + '/' + name);
    REQUIRE(file.is_open());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("a conversation over chat completions ends the same, whole and streamed", "[sdk]") {
    const std::vector<std::string> asked{"Weather in both?", "Rob a bank.", "Thanks."};
    const Run whole = hold<openai::Message>(openai_model("weather"), false, asked);
    const Run streamed = hold<openai::Message>(openai_model("weather"), true, asked);
    require_same(whole, streamed);
    CHECK(whole.lines == expected("openai.txt"));
    CHECK(whole.results[0].text == "Tromsø −3 °C, Łódź 漢字.");
    CHECK(whole.results[0].usage == Usage{.uncached_input = 108, .cache_read = 192, .output = 60});
    CHECK(streamed.heard == "I ask for both 🙂.Tromsø −3 °C, Łódź 漢字.Good.");
    CHECK(streamed.heard_calls == std::vector<std::string>{R"(c1 weather {"city":"Tromsø"})",
                                                           R"(c2 weather { "city": "Łódź \"x\"" })", "c3 fail {}"});
}

TEST_CASE("a conversation over the Messages API ends the same, whole and streamed", "[sdk]") {
    const std::vector<std::string> asked{"Weather in both?", "Rob a bank.", "Thanks."};
    const Run whole = hold<anthropic::Message>(anthropic_model("weather"), false, asked);
    const Run streamed = hold<anthropic::Message>(anthropic_model("weather"), true, asked);
    require_same(whole, streamed);
    CHECK(whole.lines == expected("anthropic.txt"));
    CHECK(whole.results[0].text == "I search.Tromsø −3 °C, Łódź 漢字.");
    const Usage expected{
        .uncached_input = 80, .cache_read = 256, .cache_write = 64, .output = 80, .cache_write_5m = 64};
    CHECK(whole.results[0].usage == expected);
    CHECK(streamed.heard ==
          "Two cities:\n漢字 🙂I ask for both 🙂.And that one.I search.Tromsø −3 °C, Łódź 漢字.I "
          "willGood.");
}

TEST_CASE("the version of the API that the official package speaks takes the same bodies", "[sdk]") {
    const AnthropicModelConfig config{
        .model = "weather", .base_url = address() + "/anthropic", .api_key = "test-key", .version = "2026-10-21"};
    const Run run = hold<anthropic::Message>(std::make_shared<AnthropicModel>(transport(), config), true, {"Both?"});
    CHECK(run.results[0].text == "I search.Tromsø −3 °C, Łódź 漢字.");
}

TEST_CASE("a refusal without content leaves a history that can be sent", "[sdk]") {
    const std::vector<std::string> asked{"Rob a bank.", "Thanks."};
    const Run whole = hold<anthropic::Message>(anthropic_model("silent"), false, asked);
    require_same(whole, hold<anthropic::Message>(anthropic_model("silent"), true, asked));
    CHECK(whole.results[1].text == "Good.");
}

TEST_CASE("thinking bound to an edited prefix is sent with drop_block, and refused without it", "[sdk]") {
    for (const bool is_bound : {true, false}) {
        ChainConfig config{.storage = memory_storage()};
        config.profile.validity = anthropic_thinking();
        config.profile.thinking_bound_to_prefix = is_bound;
        const ReductionConfig clearing{.skip_truncation = true, .max_tokens_for_clear = 1'500};
        const Chain<anthropic::Message> chain{config, Reduction<anthropic::Message>{clearing}};
        const Tool page = text_tool("page", "A page.", R"({"type":"object"})",
                                    [](std::string_view) { return std::string(4'000, 'p'); });
        AgentLoop<anthropic::Message> loop{anthropic_model(is_bound ? "bound" : "bound-unknown"), {page}, chain};
        Conversation<anthropic::Message> conversation("bound");
        const RunResult result = loop.run(conversation, "read");
        CHECK_FALSE(conversation.journal().empty());
        CHECK(result.text == (is_bound ? "Four pages." : ""));
        CHECK((result.error.find("thinking does not fit") != std::string::npos) == !is_bound);
    }
}

TEST_CASE("count_tokens gives the provider's count", "[sdk]") {
    const std::vector<anthropic::Message> messages{anthropic::Message::parse(R"({"role":"user","content":"hi"})")};
    const GenerateOptions options{.max_output_tokens = 7};
    CHECK(anthropic_model("m")->count_tokens({.messages = messages, .system = "s", .options = &options}) == 1'234);
}

TEST_CASE("the stub refuses what the providers refuse", "[sdk]") {
    const std::string user = R"({"role":"user","content":"go"})";
    const auto chat = openai_model("weather");
    const std::string call = R"({"role":"assistant","content":null,"tool_calls":[
        {"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]})";
    CHECK(refusal_of(*chat, {user, call, user}).find("calls without a result: c1") != std::string::npos);
    CHECK(refusal_of(*chat, {user, R"({"role":"tool","tool_call_id":"c1","content":"x"})"}).find("no call is open") !=
          std::string::npos);
    CHECK(refusal_of(*openai_model("weather", "other"), {user}).starts_with("auth"));

    const auto messages = anthropic_model("weather");
    const std::string use = R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]})";
    CHECK(refusal_of(*messages, {user, use, user}).find("calls without a result: t1") != std::string::npos);
    const std::string forged =
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"And that one.","signature":"x"},)"
        R"({"type":"text","text":"so"}]})";
    CHECK(refusal_of(*messages, {user, forged, user}).find("another signature") != std::string::npos);
    CHECK(refusal_of(*anthropic_model("weather", "other"), {user}).starts_with("auth"));
}

namespace {

/// The history and the class of the failure of a run against a server that fails in the middle.
template <typename M>
void require_no_half_message(std::shared_ptr<Model<M>> model, bool is_streamed) {
    LoopCallbacks callbacks;
    std::string heard;
    if (is_streamed) callbacks.on_delta = [&](const Delta& delta) { heard += delta.text; };
    const ChainConfig rule_based_config;
    const Chain<M> chain(rule_based_config);
    AgentLoop<M> loop{std::move(model), std::vector<Tool>{}, chain, LoopConfig{}, callbacks};
    Conversation<M> conversation("broken");
    const RunResult result = loop.run(conversation, "go");
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(class_of(result.exception) == ModelErrorClass::server);
    CHECK(conversation.size() == 1);
}

/// Members that only one of the two ways has, and that say nothing.
ordered_json plain(ordered_json message) {
    if (message.value("refusal", ordered_json("x")).is_null()) message.erase("refusal");
    if (!message.contains("content") || !message["content"].is_array()) return message;
    for (ordered_json& block : message["content"]) {
        if (block.contains("citations") && block["citations"].is_null()) block.erase("citations");
    }
    return message;
}

template <typename M>
void require_mirrored(Model<M>& model, const ordered_json& expected) {
    const M user = message_traits<M>::make(Role::user, "go");
    const DeltaSink listener = [](const Delta&) {};
    for (const DeltaSink* on_delta : {static_cast<const DeltaSink*>(nullptr), &listener}) {
        const Reply<M> reply = model.generate({.messages = {&user, 1}, .on_delta = on_delta});
        CHECK(json(plain(reply.message.json())).dump() == json(expected).dump());
    }
}

}  // namespace

TEST_CASE("an error in the middle of a reply leaves no half message, and its class is the provider's", "[sdk]") {
    for (const bool is_streamed : {false, true}) {
        require_no_half_message<openai::Message>(openai_model("broken"), is_streamed);
        require_no_half_message<anthropic::Message>(anthropic_model("broken"), is_streamed);
    }
}

TEST_CASE("what our serialisers wrote comes back from a provider as it was, whole and streamed", "[sdk]") {
    for (const sdk_types::Mirrored& one : sdk_types::mirrored()) {
        INFO(one.name);
        ordered_json expected = one.reply;
        if (one.api == "openai") {
            require_mirrored(*openai_model(one.name), expected);
            continue;
        }
        if (expected["content"].is_string())
            expected["content"] = ordered_json::array({{{"type", "text"}, {"text", expected["content"]}}});
        require_mirrored(*anthropic_model(one.name), expected);
    }
}
