// What servers say of themselves. Replies of llama-server and Ollama are recorded, the others written after
// documentation.
#include "routed.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/servers/server_facts.hpp"

#include <memory>
#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr const char* at = "http://127.0.0.1:1/v1";

}  // namespace

TEST_CASE("a recorded llama-server of 2026 tells its window, slots and what its template renders", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("llama_server_2026_models"))
        .on("GET /props", server_reply("llama_server_2026_props"));
    const ServerFacts facts = probe_server(server, {.base_url = at});
    CHECK(facts.kind == ServerKind::llama_server);
    CHECK(facts.context_window == 2'048);
    CHECK(facts.trained_window == 8'192);
    CHECK(facts.slots == 1);
    CHECK(facts.renders_tools == false);
    CHECK(facts.has_tokenizer);
    CHECK_FALSE(facts.truncates_silently);
    CHECK(facts.models == std::vector<std::string>{"SmolLM2-135M-Instruct.Q4_1.gguf"});
    CHECK(server.asked == std::vector<std::string>{"GET /v1/models", "GET /props"});
}

TEST_CASE("a recorded llama-server of 2025 tells the window of one slot in its properties alone", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("llama_server_2025_models"))
        .on("GET /props", server_reply("llama_server_2025_props"));
    const ServerFacts facts = probe_server(server, {.base_url = "http://127.0.0.1:1/"});
    CHECK(facts.kind == ServerKind::llama_server);
    CHECK(facts.context_window == 2'048);  // it was started with 4,096 for two slots
    CHECK(facts.slots == 2);
    CHECK(facts.renders_tools == false);  // by the text of its template
}

TEST_CASE("a llama-server that still loads its model says so and nothing else", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("llama_server_2025_models"))
        .on("GET /props", server_reply("llama_server_2025_loading"), 503);
    const ServerFacts facts = probe_server(server, {.base_url = at});
    CHECK(facts.kind == ServerKind::llama_server);
    CHECK(facts.is_loading);
    CHECK(facts.context_window == 0);
}

TEST_CASE("a recorded Ollama tells its window before its model is loaded and after it", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("ollama_2026_models"))
        .on("GET /api/ps", server_reply("ollama_2026_ps"))
        .on("POST /api/show", server_reply("ollama_2026_show"));
    const ServerFacts loaded = probe_server(server, {.base_url = at, .model = "smollm2"});
    CHECK(loaded.kind == ServerKind::ollama);
    CHECK(loaded.context_window == 1'024);
    CHECK(loaded.trained_window == 8'192);
    CHECK(loaded.renders_tools == false);
    CHECK(loaded.truncates_silently);
    CHECK_FALSE(loaded.has_tokenizer);
    CHECK(loaded.models == std::vector<std::string>{"smollm2:latest"});

    server.on("GET /api/ps", R"({"models":[]})");  // as it says before
    CHECK(probe_server(server, {.base_url = at, .model = "smollm2"}).context_window == 1'024);
}

TEST_CASE("Ollama as documented tells the window of a loaded model, and is known to cut in silence", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("ollama_documented_models"))
        .on("GET /api/ps", server_reply("ollama_documented_ps"))
        .on("POST /api/show", server_reply("ollama_documented_show"));
    const ServerFacts loaded = probe_server(server, {.base_url = at, .model = "qwen2.5"});
    CHECK(loaded.kind == ServerKind::ollama);
    CHECK(loaded.context_window == 4'096);
    CHECK(loaded.trained_window == 32'768);
    CHECK(loaded.renders_tools == true);
    CHECK(loaded.truncates_silently);
    CHECK_FALSE(loaded.has_tokenizer);
    CHECK(server.bodies.back() == R"({"model":"qwen2.5"})");

    server.on("GET /api/ps", R"({"models":[]})");  // not loaded yet: what its file sets
    CHECK(probe_server(server, {.base_url = at, .model = "qwen2.5"}).context_window == 8'192);
    server.on("POST /api/show", R"({"parameters":"stop \"x\"","model_info":{"qwen2.context_length":"x"}})");
    const ServerFacts unset = probe_server(server, {.base_url = at, .model = "qwen2.5"});
    CHECK(unset.context_window == 0);  // its default follows the machine's memory: not guessed
    CHECK(unset.trained_window == 0);
}

TEST_CASE("vLLM as documented tells its window in its list of models and is asked no more", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("vllm_documented_models"));
    const ServerFacts facts = probe_server(server, {.base_url = at, .model = "Qwen/Qwen3-8B"});
    CHECK(facts.kind == ServerKind::vllm);
    CHECK(facts.context_window == 40'960);
    CHECK(facts.has_tokenizer);
    CHECK_FALSE(facts.renders_tools.has_value());
    CHECK(server.asked.size() == 1);
}

TEST_CASE("LM Studio as documented tells the window with which a model is loaded", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", server_reply("lm_studio_documented_openai_models"))
        .on("GET /api/v0/models", server_reply("lm_studio_documented_models"));
    const ServerFacts facts = probe_server(server, {.base_url = at, .model = "qwen2.5-7b-instruct"});
    CHECK(facts.kind == ServerKind::lm_studio);
    CHECK(facts.context_window == 4'096);
    CHECK(facts.trained_window == 32'768);
    CHECK(facts.renders_tools == true);
    CHECK(probe_server(server, {.base_url = at, .model = "meta-llama-3.1-8b-instruct"}).context_window == 0);
}

TEST_CASE("a server that refuses the key is asked no more, and nonsense says nothing", "[servers]") {
    RoutedTransport server;
    server.on("GET /v1/models", R"({"error":"no"})", 401);
    const ServerFacts refused = probe_server(server, {.base_url = at, .headers = {{"Authorization", "Bearer k"}}});
    CHECK(refused.status == 401);
    CHECK(server.asked.size() == 1);
    CHECK(find_header(server.headers, "authorization") == "Bearer k");
    for (const char* body : {"", "<html>", "[]", "7", R"({"data":{}})", R"({"data":[null,{"id":3}]})",
                             R"({"models":7,"data":[{"id":"m","max_model_len":-5,"meta":null}]})",
                             R"({"default_generation_settings":[],"total_slots":"x","chat_template":5})"}) {
        CAPTURE(body);
        RoutedTransport odd;
        for (const char* route :
             {"GET /v1/models", "GET /props", "GET /api/ps", "POST /api/show", "GET /api/v0/models"})
            odd.on(route, body);
        const ServerFacts facts = probe_server(odd, {.base_url = at, .model = "m"});
        CHECK(facts.context_window == 0);
        CHECK_FALSE(facts.truncates_silently);
        CHECK_FALSE(facts.renders_tools.has_value());
    }
}

TEST_CASE("a profile gets the window that it lacks or that is smaller, and a local cache where it has none",
          "[servers]") {
    const ServerFacts facts{.kind = ServerKind::ollama, .context_window = 4'096};
    CHECK(profile_with({}, facts).context_window == 4'096);
    CHECK(profile_with({}, facts).cache == *find_cache_profile("local"));
    CHECK(profile_with({.context_window = 128'000}, facts).context_window == 4'096);
    CHECK(profile_with({.context_window = 2'000}, facts).context_window == 2'000);
    const ModelProfile other = profile_with({.context_window = 9'000, .cache = *find_cache_profile("openai")}, {});
    CHECK(other.context_window == 9'000);
    CHECK(other.cache.name == "openai");
}

TEST_CASE("a conversation is pinned to a slot beside what is asked for already", "[servers]") {
    CHECK(pinned_to_slot("", 0) == R"({"id_slot":0})");
    CHECK(pinned_to_slot(R"({"seed":1,"id_slot":7})", 2) == R"({"seed":1,"id_slot":2})");
    CHECK(errc_of([] { (void)pinned_to_slot("[]", 0); }) == Errc::invalid_argument);
    CHECK(errc_of([] { (void)pinned_to_slot("", -1); }) == Errc::invalid_argument);
}
