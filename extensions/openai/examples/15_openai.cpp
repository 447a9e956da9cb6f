// A model behind OpenAI's chat completions: a streamed conversation with a tool, and its JSON.
#include <whittle/openai/openai.hpp>
#include <whittle/openai/openai_chat_model.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <optional>

using namespace whittle;

namespace {

/// A host's own transport; programs that want a network take `make_curl_transport()` instead. This one plays a server
/// that streams two answers.
class Recording final : public HttpTransport {
public:
    HttpResponse send(const HttpRequest& request, const BodySink& body) override {
        constexpr const char* call =
            R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function",)"
            R"("function":{"name":"read_page","arguments":"{\"page\":7}"}}]},"finish_reason":"tool_calls"}]})";
        constexpr const char* answer =
            R"({"choices":[{"delta":{"content":"It is about bees."},"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":80,"completion_tokens":5}})";
        std::cout << "POST " << request.url << '\n';
        const HttpResponse head{.status = 200, .headers = {{"Content-Type", "text/event-stream"}}};
        body.should_stream_body(head);
        body.on_bytes("data: " + std::string(calls_++ == 0 ? call : answer) + "\n\n");
        body.on_bytes("data: [DONE]\n\n");
        return head;
    }

private:
    int calls_ = 0;
};

}  // namespace

int main() {
    const Tool read_page = text_tool("read_page", "Reads a page.", R"({"type":"object"})",
                                     [](std::string_view) { return std::string("Of bees and their dances."); });
    const LoopCallbacks watch{.on_delta = [](const Delta& delta) {  // asks the server to stream
        if (delta.kind == Delta::Kind::text) std::cout << delta.text << std::flush;
    }};
    const auto transport = std::make_shared<Recording>();
    // [model]
    OpenAIModelConfig config{.model = "a-model", .base_url = "http://localhost:8080/v1", .api_key = "from the host"};
    config.dialect = *openai::find_dialect("llama_cpp");                      // what kind of server it is
    const auto model = std::make_shared<OpenAIChatModel>(transport, config);  // transport: make_curl_transport()
    AgentLoop<openai::Message> loop{model, {read_page}, Chain<openai::Message>(ChainConfig{}), {}, watch};
    Conversation<openai::Message> conversation("bees");
    const RunResult result = loop.run(conversation, "What is on page 7?");
    // [/model]
    std::cout << "\n" << to_string(result.outcome) << ", " << result.usage.uncached_input << " input tokens\n";
    for (const openai::Message& message : conversation.messages())
        std::cout << message.json()["role"] << ' ' << message.json()["content"] << '\n';
}
