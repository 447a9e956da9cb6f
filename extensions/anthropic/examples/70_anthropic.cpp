// A model behind Anthropic's Messages API: what is sent, what is billed, and what the wire check finds. No network.
#include <whittle/anthropic/anthropic_model.hpp>
#include <whittle/anthropic/anthropic_wire.hpp>
#include <whittle/whittle.hpp>

#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <vector>

using namespace whittle;

namespace {

/// Plays the provider. Your program has a transport of its own, or make_curl_transport() of whittle::http.
struct Provider final : HttpTransport {
    HttpResponse send(const HttpRequest& request, const BodySink&) override {
        const auto body = nlohmann::ordered_json::parse(request.body);
        std::cout << request.url << '\n' << body["system"][0] << '\n' << body["messages"][0] << '\n';
        return {.status = 200, .body = R"({"type":"message","role":"assistant","stop_reason":"end_turn",
            "content":[{"type":"text","text":"It is about bees."}],
            "usage":{"input_tokens":9,"cache_read_input_tokens":1200,"output_tokens":6}})"};
    }
};

/// Where your client calls the provider; an answer that says too long becomes ModelError(Overflow{context_limit_tokens,
/// requested_tokens}, text).
nlohmann::ordered_json invoke(const nlohmann::ordered_json& body) {
    return {{"role", "assistant"},
            {"content", {{{"type", "text"}, {"text", std::to_string(body["messages"].size()) + " message came."}}}},
            {"usage", {{"input_tokens", 12}, {"output_tokens", 4}}}};
}

// [client]
struct OwnClient final : Model<anthropic::Message> {
    Reply<anthropic::Message> generate(const ModelRequest<anthropic::Message>& request) override {
        nlohmann::ordered_json body{{"max_tokens", 8'192}};
        if (!request.system.empty()) body["system"] = request.system;
        for (const anthropic::Message& message : request.messages) body["messages"].push_back(message.json());
        for (const ToolSpec& tool : request.tools)
            body["tools"].push_back({{"name", tool.name},
                                     {"description", tool.description},
                                     {"input_schema", nlohmann::ordered_json::parse(tool.parameters)}});
        const auto response = invoke(body);  // your client; it throws a ModelError
        auto message = anthropic::Message::from_response(response);
        const auto usage = message.usage();
        return {std::move(message), usage};  // and the FinishReason of its stop_reason
    }
};
// [/client]

}  // namespace

int main() {
    const auto transport = std::make_shared<Provider>();
    // [model]
    AnthropicModelConfig config{.model = "a-model", .api_key = "from the host"};
    config.extra = R"({"thinking": {"type": "adaptive"}})";
    const auto model = std::make_shared<AnthropicModel>(transport, config);  // transport: make_curl_transport()

    ChainConfig chain;
    chain.profile.validity = anthropic_messages();  // the rules that no edit may break; without it OpenAI's
    AgentLoop<anthropic::Message> loop{model, Chain<anthropic::Message>(chain), {.system = "Be brief."}};
    Conversation<anthropic::Message> conversation("bees");
    const RunResult result = loop.run(conversation, "What is this book about?");
    std::cout << result.text << ' ' << result.usage.total() << " tokens\n";
    // [/model]
    Conversation<anthropic::Message> other("other");
    AgentLoop<anthropic::Message> own{std::make_shared<OwnClient>(), Chain<anthropic::Message>(ChainConfig{})};
    std::cout << own.run(other, "Hello.").text << '\n';
    const std::vector messages{anthropic::Message({{"role", "user"}, {"content", " "}})};
    for (const WireViolation& broken : anthropic::check_wire(messages))
        std::cout << broken.rule << ", message " << broken.message << ": " << broken.text << '\n';
}
