#include "cli.hpp"
#include "http_server.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

std::string folding_with(const std::string& model) {
    return R"({"storage": {"type": "memory"}, "models": {"writer": )" + model + R"(},
      "middlewares": [{"type": "summarization", "model": "writer", "trigger": {"context_tokens": 3000},
                       "keep_recent_tokens": 1200}]})";
}

std::string model_at(const std::string& url) {
    return R"({"type": "openai", "model": "m", "api_key_env": "WHITTLE_TEST_KEY", "base_url": ")" + url + R"("})";
}

constexpr const char* chat_reply =
    R"({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Five files were read by hand."}}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 12}})";

}  // namespace

TEST_CASE("the tool asks models of a configuration on loopback, with the key of the environment", "[apps]") {
    const TempDir dir;
    const AnsweringServer server([](const std::string& line) {
        return line == "POST /v1/chat/completions" ? std::string(chat_reply) : std::string();
    });
    write_text(dir / "chain.json", folding_with(model_at(server.url("/v1"))));
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    setenv("WHITTLE_TEST_KEY", "sk-of-the-test", 1);
    const CliResult applied = run_cli(dir, "apply --config chain.json --in talk.json --out small.json --json");
    const CliResult replayed = run_cli(dir, "replay talk.json --config chain.json --json");
    const CliResult explained = run_cli(dir, "explain talk.json --config chain.json --json");
    unsetenv("WHITTLE_TEST_KEY");
    if (has(applied.err, "built without libcurl")) SKIP_WITH_MESSAGE("built without libcurl");
    CAPTURE(applied.err);
    REQUIRE(applied.exit_code == 0);
    CHECK(has(read_text(dir / "small.json"), "Five files were read by hand."));
    CHECK(replayed.exit_code == 0);
    CHECK(json::parse(replayed.out)["total"]["side_calls"]["input_tokens"] >= 900);
    CHECK(explained.exit_code == 0);
    CHECK(has(explained.out, "Five files were read by hand."));
    REQUIRE(server.requests().size() >= 3);
    for (const std::string& request : server.requests())
        CHECK(has(request, "Authorization: Bearer sk-of-the-test\r\n"));
    for (const CliResult& result : {applied, replayed, explained}) CHECK_FALSE(has(result.out + result.err, "sk-of"));

    const CliResult without_key = run_cli(dir, "replay talk.json --config chain.json");
    CHECK(without_key.exit_code == 2);
    CHECK(has(without_key.err, "the environment has no value \"WHITTLE_TEST_KEY\""));
}

TEST_CASE("a model on another machine is asked only with --allow-remote", "[apps]") {
    const TempDir dir;
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    setenv("WHITTLE_TEST_KEY", "sk-of-the-test", 1);
    for (const std::string url :
         {"https://api.example.invalid/v1", "http://localhost.example.invalid/v1", "http://127.0.0.1.example.invalid",
          "http://localhost@example.invalid/v1", "http://example.invalid\\\\@localhost/", "http://0177.0.0.1/v1",
          "http://127.1/v1", "http://10.0.0.1/v1", "http://[::2]/v1", "http://127.0.0.1#@example.invalid"}) {
        CAPTURE(url);
        write_text(dir / "chain.json", folding_with(model_at(url)));
        for (const std::string arguments :
             {"replay talk.json --config chain.json", "apply --in talk.json --out o.json --config chain.json",
              "explain talk.json --config chain.json", "diff talk.json --config chain.json --config chain.json",
              "compare talk.json --strategy noop --config chain.json"}) {
            CAPTURE(arguments);
            const CliResult result = run_cli(dir, arguments);
            CHECK(result.exit_code == 2);
            CHECK(has(result.err, "whittle: model \"writer\" is at http"));
            CHECK(has(result.err, "--allow-remote"));
        }
    }
    const std::string providers_own = R"({"type": "anthropic", "model": "m", "api_key_env": "WHITTLE_TEST_KEY"})";
    write_text(dir / "chain.json", folding_with(providers_own));
    CHECK(has(run_cli(dir, "replay talk.json --config chain.json").err, "is at https://api.anthropic.com"));
    // Allowed, it is asked: a name that no resolver knows makes the summary fail, not the command line.
    write_text(dir / "chain.json", folding_with(model_at("https://api.example.invalid/v1")));
    const CliResult allowed = run_cli(dir, "replay talk.json --config chain.json --allow-remote");
    unsetenv("WHITTLE_TEST_KEY");
    CHECK(allowed.exit_code == 1);
    CHECK_FALSE(has(allowed.err, "--allow-remote"));
    CHECK_FALSE(has(allowed.err, "sk-of"));
}
