#include "cli.hpp"
#include "http_server.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

using namespace whittle::testing;
using nlohmann::json;

namespace {

/// The first finding of a topic whose text has `part`.
std::optional<json> finding(const CliResult& result, const std::string& topic, const std::string& part = "") {
    for (const json& found : json::parse(result.out)) {
        if (found["topic"] == topic && has(found["text"].get<std::string>(), part)) return found;
    }
    return std::nullopt;
}

std::string health(const CliResult& result, const std::string& topic, const std::string& part = "") {
    const auto found = finding(result, topic, part);
    return found ? (*found)["health"].get<std::string>() : "absent";
}

std::string with_model(const std::string& profile, const std::string& model) {
    return R"({"profile": )" + profile + R"(, "storage": {"type": "memory"}, "models": {"m": )" + model + "}}";
}

std::string llama(const std::string& url, const std::string& more = "") {
    return R"({"type": "openai", "model": "qwen", "base_url": ")" + url + R"(")" + more + "}";
}

}  // namespace

TEST_CASE("doctor looks at configuration, store, counter and cache, and says what to do", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    const CliResult absent = run_cli(dir, "doctor chain.json --json");
    REQUIRE(absent.exit_code == 0);
    CHECK(absent.err.empty());
    CHECK(health(absent, "configuration", "chain.json: reduction") == "ok");
    CHECK(health(absent, "window", "9,000 tokens") == "ok");
    CHECK(health(absent, "store", "store is not there yet; the first run makes it") == "ok");
    CHECK(health(absent, "counter", "chars/4") == "ok");
    CHECK(health(absent, "cache", "anthropic_5m") == "ok");
    CHECK_FALSE(std::filesystem::exists(dir / "store"));

    std::filesystem::create_directory(dir / "store");
    std::filesystem::permissions(dir / "store", std::filesystem::perms::owner_all);
    const CliResult there = run_cli(dir, "doctor chain.json --json");
    CHECK(health(there, "store", "read back and removed; durability data") == "ok");
    CHECK(run_cli(dir, "store ls store").out == "no object\n");  // nothing of the probe is left
    CHECK(run_cli(dir, "doctor - --json < chain.json").exit_code == 0);
    CHECK(run_cli(dir, "doctor --config chain.json --json").exit_code == 0);  // as other commands have it

    const CliResult text = run_cli(dir, "doctor --preset cheap");
    CHECK(text.exit_code == 0);
    CHECK(has(text.out,
              "warning  window: unknown: settings that are parts of it do nothing\n"
              "         > set profile.context_window, or --window with a preset\n"
              "warning  store: in memory: originals go with the process\n"));
}

TEST_CASE("doctor ends with exit code 1 and the topics that failed", "[apps]") {
    const TempDir dir;
    write_text(dir / "bad.json", R"({"limits": {"deadline": 5}, "languag": "en"})");
    const CliResult bad = run_cli(dir, "doctor bad.json");
    CHECK(bad.exit_code == 1);
    CHECK(bad.err == "whittle: failed: configuration\n");
    CHECK(has(bad.out, "failed   configuration: bad.json:1:13: limits.deadline: unknown key"));
    CHECK(has(bad.out, "failed   configuration: bad.json:1:29: languag: unknown key"));

    write_text(dir / "file", "no directory");
    write_text(dir / "lost.json", R"({"storage": {"type": "file", "root": "file"}})");
    const CliResult lost = run_cli(dir, "doctor lost.json --json");
    CHECK(lost.exit_code == 1);
    CHECK(lost.err == "whittle: failed: store\n");
    CHECK(health(lost, "store") == "failed");

    std::filesystem::create_directory(dir / "open");
    std::filesystem::permissions(dir / "open", std::filesystem::perms::all);
    write_text(dir / "open.json", R"({"storage": {"type": "file", "root": "open"}})");
    CHECK(health(run_cli(dir, "doctor open.json --json"), "store") == "failed");  // everyone may write there
}

TEST_CASE("doctor opens each installed vocabulary", "[apps]") {
    const TempDir dir;
    write_text(dir / "o200k_base.whittle", "no vocabulary");
    setenv("WHITTLE_VOCABULARIES", dir.path().c_str(), 1);
    const CliResult damaged = run_cli(dir, "doctor --preset cheap --json");
    unsetenv("WHITTLE_VOCABULARIES");
    CHECK(damaged.exit_code == 1);
    const auto found = finding(damaged, "vocabularies", "o200k_base.whittle");
    REQUIRE(found);
    CHECK((*found)["health"] == "failed");
    CHECK((*found)["advice"] == "whittle vocab install o200k_base");
}

TEST_CASE("doctor asks a server on loopback for its models, window and template", "[apps]") {
    const TempDir dir;
    const AnsweringServer server([](const std::string& line) -> std::string {
        if (line == "GET /v1/models") return R"({"object": "list", "data": [{"id": "qwen", "object": "model"}]})";
        if (line == "GET /props")
            return R"({"default_generation_settings": {"n_ctx": 4096}, "chat_template": "{{ messages }}"})";
        return "";
    });
    const std::string url = server.url("/v1");
    write_text(dir / "large.json", with_model(R"({"context_window": 8000, "cache": "local"})", llama(url)));
    const CliResult large = run_cli(dir, "doctor large.json --json");
    if (has(large.out, "built without libcurl")) SKIP_WITH_MESSAGE("built without libcurl");
    CHECK(large.exit_code == 0);
    const std::string topic = "model \"m\"";
    CHECK(health(large, topic, "answers") == "ok");
    CHECK(health(large, topic, "its window has 4,096 tokens, profile.context_window 8,000") == "warning");
    CHECK(health(large, topic, "its chat template renders no tools") == "warning");
    CHECK(health(large, topic, "list of models") == "absent");
    CHECK(health(large, "cache", "local") == "ok");

    write_text(dir / "fits.json", with_model(R"({"context_window": 4096})", llama(url)));
    const CliResult fits = run_cli(dir, "doctor fits.json --json");
    CHECK(health(fits, topic, "its window has 4,096 tokens") == "ok");
    CHECK(health(fits, "cache", "go by \"no_cache\"") == "warning");

    write_text(dir / "other.json",
               with_model("{}", R"({"type": "openai", "model": "absent", "base_url": ")" + url + R"("})"));
    const CliResult other = run_cli(dir, "doctor other.json --json");
    CHECK(health(other, topic, "\"absent\" is not in its list of models: qwen") == "warning");
    CHECK(health(other, topic, "profile.context_window says nothing") == "warning");
    for (const std::string& request : server.requests()) CHECK(request.starts_with("GET /"));  // no model is run
}

TEST_CASE("doctor takes the window from a list of models, and survives what servers say", "[apps]") {
    const TempDir dir;
    for (const auto& [answer, expected] : std::vector<std::pair<std::string, std::string>>{
             {R"({"data": [{"id": "qwen", "max_model_len": 8192}]})", "its window has 8,192 tokens"},
             {R"({"data": [{"id": "other", "context_length": 2048}]})", "its window has 2,048 tokens"},
             {R"({"data": 7})", "answers"},
             {R"([])", "answers"},
             {"<html>", "answers"},
             {R"({"data": [{"id": 3, "max_model_len": "x"}, null]})", "answers"}}) {
        CAPTURE(answer);
        const std::string body = answer;
        const AnsweringServer server([body](const std::string& line) {
            return line == "GET /v1/models" ? body : line == "GET /props" ? std::string("[\"\\u001b\"]") : "";
        });
        write_text(dir / "chain.json", with_model(R"({"context_window": 2000})", llama(server.url("/v1/"))));
        const CliResult result = run_cli(dir, "doctor chain.json --json");
        if (has(result.out, "built without libcurl")) SKIP_WITH_MESSAGE("built without libcurl");
        CHECK(result.exit_code == 0);
        CHECK(health(result, "model \"m\"", expected) == "ok");
    }
}

TEST_CASE("doctor tells what a self-hosted server keeps, counts and cuts", "[apps]") {
    const TempDir dir;
    const std::string topic = "model \"m\"";
    const auto doctor = [&](std::function<std::string(const std::string&)> answer) {
        const AnsweringServer server(std::move(answer));
        write_text(dir / "chain.json", with_model(R"({"context_window": 8192})", llama(server.url("/v1"))));
        return run_cli(dir, "doctor chain.json --json");
    };
    const CliResult slots = doctor([](const std::string& line) -> std::string {
        if (line == "GET /v1/models") return R"({"data": [{"id": "qwen", "owned_by": "llamacpp", "meta": null}]})";
        if (line == "GET /props") return R"({"default_generation_settings": {"n_ctx": 8192}, "total_slots": 2})";
        return "";
    });
    if (has(slots.out, "built without libcurl")) SKIP_WITH_MESSAGE("built without libcurl");
    CHECK(health(slots, topic, "it keeps 2 conversations side by side") == "ok");
    CHECK(health(slots, topic, "it counts tokens by its own vocabulary") == "ok");
    CHECK(health(slots, topic, "its window has 8,192 tokens") == "ok");

    const CliResult ollama = doctor([](const std::string& line) -> std::string {
        if (line == "GET /v1/models") return R"({"data": [{"id": "qwen:latest", "owned_by": "library"}]})";
        if (line == "GET /api/ps") return R"({"models": [{"name": "qwen:latest", "context_length": 4096}]})";
        return "";
    });
    CHECK(health(ollama, topic, "silently truncates") == "warning");
    CHECK(health(ollama, topic, "its window has 4,096 tokens, profile.context_window 8,192") == "warning");
    CHECK(health(ollama, topic, "list of models") == "absent");
}

TEST_CASE("doctor names a key that is not there, a server that is not there, and leaves other machines alone",
          "[apps]") {
    const TempDir dir;
    write_text(dir / "key.json",
               with_model("{}", R"({"type": "anthropic", "model": "c", "api_key_env": "WHITTLE_NO_SUCH_KEY"})"));
    const CliResult key = run_cli(dir, "doctor key.json --json");
    CHECK(key.exit_code == 1);
    CHECK(key.err == "whittle: failed: model \"m\"\n");
    CHECK(health(key, "model \"m\"", "the environment has no value WHITTLE_NO_SUCH_KEY") == "failed");
    CHECK(health(key, "model \"m\"", "https://api.anthropic.com is not queried") == "ok");
    CHECK(health(key, "cache breakpoints", "up to 4 cache_control breakpoints") == "ok");

    std::string gone;
    {
        const AnsweringServer server([](const std::string&) { return std::string(); });
        gone = server.url("/v1");
    }
    write_text(dir / "gone.json", with_model("{}", llama(gone)));
    const CliResult absent = run_cli(dir, "doctor gone.json --json");
    if (has(absent.out, "built without libcurl")) SKIP_WITH_MESSAGE("built without libcurl");
    CHECK(absent.exit_code == 1);
    const auto found = finding(absent, "model \"m\"");
    REQUIRE(found);
    CHECK((*found)["health"] == "failed");
    CHECK((*found)["advice"] == "start the server, or correct base_url");
}

TEST_CASE("a server that only sends on to another address fails doctor", "[apps]") {
    const TempDir dir;
    HostileServer server([](Connection& connection) {
        while (!connection.read_request().empty())
            connection.send(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/v1/models\r\n"
                "Content-Length: 0\r\n\r\n");
    });
    write_text(dir / "chain.json", with_model(R"({"context_window": 2000})", llama(server.url("/v1"))));
    const CliResult result = run_cli(dir, "doctor chain.json --json");
    if (has(result.out, "built without libcurl")) SKIP_WITH_MESSAGE("built without libcurl");
    CHECK(result.exit_code == 1);
    CHECK(health(result, "model \"m\"", "sends on to another address (HTTP 307)") == "failed");
    CHECK(health(result, "model \"m\"", "answers") == "absent");
}
