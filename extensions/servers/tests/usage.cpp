// What recorded replies of llama-server say of its cache.
#include "routed.hpp"
#include "support/catch.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/servers/server_facts.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

Reply<openai::Message> reply_of(const std::shared_ptr<RoutedTransport>& server) {
    OpenAIChatModel model(server, {.model = "m",
                                   .base_url = "http://127.0.0.1:1/v1",
                                   .dialect = *openai::find_dialect("llama_cpp"),
                                   .extra = pinned_to_slot(R"({"cache_prompt":true})", 1)});
    const openai::Message message(nlohmann::ordered_json{{"role", "user"}, {"content", "Say hello."}});
    return model.generate({.messages = {&message, 1}});
}

}  // namespace

TEST_CASE("what llama-server kept and read of a prompt is in the usage and in the timing", "[servers]") {
    for (const char* name : {"llama_server_2026_chat", "llama_server_2025_chat"}) {
        CAPTURE(name);
        const auto server = std::make_shared<RoutedTransport>();
        server->on("POST /v1/chat/completions", server_reply(name));
        const Reply<openai::Message> reply = reply_of(server);
        REQUIRE(reply.usage);
        REQUIRE(reply.timing);
        CHECK(reply.usage->uncached_input == 1);
        CHECK(reply.usage->cache_read == 37);
        CHECK(reply.timing->prefill_tokens == 1);
        CHECK(reply.timing->cached_tokens == 37);
        CHECK(reply.timing->prefill_ms > 0.0);
        CHECK(nlohmann::json::parse(server->bodies.back()).at("id_slot") == 1);
    }
}

TEST_CASE("the last event of a stream says what was kept too", "[servers]") {
    const auto server = std::make_shared<RoutedTransport>();
    server->on("POST /v1/chat/completions", [](const HttpRequest&) {
        const std::string events =
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n"
            "data: "
            "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":"
            "2,\"prompt_tokens\":38,\"total_tokens\":40},\"timings\":{\"prompt_n\":8,\"prompt_ms\":9.5,\"predicted_n\":"
            "2,"
            "\"predicted_ms\":3.5}}\n\ndata: [DONE]\n\n";
        return HttpResponse{.status = 200, .headers = {{"Content-Type", "text/event-stream"}}, .body = events};
    });
    OpenAIChatModel model(server, {.model = "m", .base_url = "http://127.0.0.1:1/v1", .always_stream = true});
    const openai::Message message(nlohmann::ordered_json{{"role", "user"}, {"content", "Say hello."}});
    const Reply<openai::Message> reply = model.generate({.messages = {&message, 1}});
    CHECK(reply.usage == Usage{.uncached_input = 8, .cache_read = 30, .output = 2});
}
