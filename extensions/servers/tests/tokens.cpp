// Counting by a server's own vocabulary and template.
#include "routed.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/servers/server_tokens.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::json;

namespace {

const ServerAddress address{.base_url = "http://127.0.0.1:1/v1", .model = "m"};

/// Speaks as the recorded server, whose replies it has for three requests.
std::shared_ptr<RoutedTransport> recorded_server() {
    const auto server = std::make_shared<RoutedTransport>();
    server->on("POST /apply-template", [](const HttpRequest& request) {
        const std::string size = json::parse(request.body).at("messages").size() == 3 ? "3" : "1";
        return HttpResponse{.status = 200, .body = server_reply("llama_server_2026_template_" + size)};
    });
    server->on("POST /tokenize", [](const HttpRequest& request) {
        const json body = json::parse(request.body);
        const std::string text = body.at("content");
        const bool is_prompt = body.at("parse_special");
        for (const char* size : {"1", "3"}) {
            const json prompt =
                json::parse(server_reply(std::string("llama_server_2026_template_") + size)).at("prompt");
            if (prompt == text)
                return HttpResponse{.status = is_prompt ? 200 : 500,
                                    .body = server_reply(std::string("llama_server_2026_tokens_") + size)};
        }
        if (text == "a") return HttpResponse{.status = 200, .body = server_reply("llama_server_2026_tokens_a")};
        return HttpResponse{.status = 503, .body = "{}"};
    });
    return server;
}

}  // namespace

TEST_CASE("a server's counter gives a message its own tokens and those that the template writes around it",
          "[servers]") {
    const auto server = recorded_server();
    const auto counter = server_counter(server, address, ServerKind::llama_server);
    CHECK(counter->id() == "server/llama_server/m");
    CHECK(counter->measure_units("a") == 1);
    CHECK(counter->measure_units("") == 0);
    // <|im_start|> user \n a <|im_end|> \n, and one more where the role is "ass" "istant": the mean, rounded up
    CHECK(count_message(ChatMessage::user("a"), *counter) == 7);
    const auto three = json::parse(server_reply("llama_server_2026_tokens_3")).at("tokens").size();
    const auto one = json::parse(server_reply("llama_server_2026_tokens_1")).at("tokens").size();
    CHECK(three - one == 13);
}

TEST_CASE("a text is asked for once", "[servers]") {
    const auto server = recorded_server();
    const auto counter = server_counter(server, address, ServerKind::llama_server);
    (void)counter->measure_units("a");
    const std::size_t before = server->asked.size();
    for (int i = 0; i < 5; ++i) CHECK(counter->measure_units("a") == 1);
    CHECK(server->asked.size() == before);
}

TEST_CASE("a text that a server does not count is estimated, with a warning, and asked for again", "[servers]") {
    std::vector<std::string> kinds;
    const auto counter = server_counter(recorded_server(), address, ServerKind::llama_server,
                                        [&](const Event& event) { kinds.emplace_back(event.kind); });
    const std::string text = "The bed along the south wall was dug over.";
    CHECK(counter->measure_units(text) == estimate_counter()->count(text));
    CHECK(counter->measure_units(text) == estimate_counter()->count(text));
    CHECK(kinds == std::vector<std::string>(2, "tokenizer_failed"));
}

TEST_CASE("llama-server counts a request with its template", "[servers]") {
    const auto server = recorded_server();
    const openai::Message message(nlohmann::ordered_json{{"role", "user"}, {"content", "a"}});
    const auto count = count_request(*server, address, ServerKind::llama_server, {.messages = {&message, 1}});
    CHECK(count == 31);
    CHECK(server->asked == std::vector<std::string>{"POST /apply-template", "POST /tokenize"});
    CHECK(json::parse(server->bodies[0]).at("messages")[0].at("content") == "a");
}

TEST_CASE("vLLM as documented counts a request with its tools in one question", "[servers]") {
    RoutedTransport server;
    server.on("POST /tokenize", server_reply("vllm_documented_tokenize"));
    const openai::Message message(nlohmann::ordered_json{{"role", "user"}, {"content", "Hi"}});
    const std::vector<ToolSpec> tools{{.name = "look", .description = "Looks.", .parameters = "{}"}};
    CHECK(count_request(server, address, ServerKind::vllm, {.messages = {&message, 1}, .tools = tools}) == 5);
    const json asked = json::parse(server.bodies.back());
    CHECK(asked.at("model") == "m");
    CHECK(asked.at("tools")[0].at("function").at("name") == "look");
    CHECK(count_request(server, address, ServerKind::ollama, {.messages = {&message, 1}}) == std::nullopt);
}

TEST_CASE("a server that counts for nobody is refused, and an answer without a count is an error of the server",
          "[servers]") {
    const auto server = std::make_shared<RoutedTransport>();
    CHECK(errc_of([&] { (void)server_counter(server, address, ServerKind::ollama); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)server_counter(nullptr, address, ServerKind::vllm); }) == Errc::invalid_argument);
    server->on("POST /tokenize", R"({"tokens":7})");
    try {
        (void)server_counter(server, address, ServerKind::vllm);
        FAIL("no error");
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::server);
    }
}
