// A self-hosted server says what is otherwise configured: its window, its slots, its tokens. No network.
#include <whittle/openai/openai_chat_model.hpp>
#include <whittle/preset/presets.hpp>
#include <whittle/servers/server_tokens.hpp>
#include <whittle/servers/silent_truncation.hpp>
#include <whittle/whittle.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

using namespace whittle;
using nlohmann::ordered_json;

namespace {

/// Speaks as llama-server; four bytes are a token. Your program has make_curl_transport() of whittle::http.
struct Server final : HttpTransport {
    HttpResponse send(const HttpRequest& request, const BodySink&) override {
        const auto has = [&](std::string_view path) { return request.url.ends_with(path); };
        const ordered_json body = ordered_json::parse(request.body, nullptr, false);
        ordered_json answer;
        if (has("/v1/models")) answer = {{"data", {{{"id", "small"}, {"owned_by", "llamacpp"}}}}};
        if (has("/props"))
            answer = {{"default_generation_settings", {{"n_ctx", 4'096}}}, {"total_slots", 2}, {"chat_template", "{}"}};
        if (has("/apply-template")) answer = {{"prompt", body["messages"].dump()}};
        if (has("/tokenize"))
            answer = {{"tokens", std::vector<int>((body["content"].get<std::string>().size() + 3) / 4)}};
        if (has("/chat/completions"))
            answer = {{"choices", {{{"index", 0}, {"message", {{"role", "assistant"}, {"content", "Good day."}}}}}},
                      {"usage", {{"prompt_tokens", 30}, {"completion_tokens", 3}}}};
        return {.status = answer.is_null() ? 404 : 200, .body = answer.dump()};
    }
};

}  // namespace

int main() {
    const auto transport = std::make_shared<Server>();
    // [learn]
    const ServerAddress address{.base_url = "http://127.0.0.1:8080/v1", .model = "small"};
    const ServerFacts facts = probe_server(*transport, address);
    PresetConfig config = preset_config(Preset::local, profile_with({.output_reserve = 500}, facts));
    if (facts.has_tokenizer) config.chain.token_counter = server_counter(transport, address, facts.kind);
    OpenAIModelConfig small{.model = "small", .base_url = address.base_url, .extra = pinned_to_slot("", 0)};
    small.dialect = *openai::find_dialect("llama_cpp");  // Ollama: "ollama", at http://localhost:11434/v1
    const auto model = with_truncation_check(std::make_shared<OpenAIChatModel>(transport, small),
                                             {.reported_window_tokens = facts.context_window});
    AgentLoop<openai::Message> loop{model, {}, make_chain<openai::Message>(config)};
    // [/learn]
    Conversation<openai::Message> conversation("chat");
    std::cout << to_string(facts.kind) << ": " << facts.context_window << " tokens, " << facts.slots << " slots, tools "
              << (facts.renders_tools == true ? "seen" : "not seen") << '\n'
              << loop.run(conversation, "Hello.").text << '\n'
              << conversation.tokens(config.chain.token_counter) << " tokens by " << config.chain.token_counter->id()
              << ", " << *count_request(*transport, address, facts.kind, {.messages = conversation.messages()})
              << " as a request\n";
}
