// What scan says of bills, for what logs say of them.
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

/// A log of Claude Code: a prompt, and replies with the members of a message given.
std::string claude_log(const std::vector<std::string>& replies) {
    const auto record = [](std::size_t number, const std::string& rest) {
        const std::string parent = number == 0 ? "null" : "\"u" + std::to_string(number - 1) + "\"";
        return R"({"isSidechain":false,"sessionId":"s","version":"2.1.50","uuid":"u)" + std::to_string(number) +
               R"(","parentUuid":)" + parent + "," + rest + "}\n";
    };
    std::string log = record(0, R"("type":"user","message":{"role":"user","content":"go"})");
    for (std::size_t i = 0; i < replies.size(); ++i) {
        const std::string id = std::to_string(i);
        log += record(i + 1, R"("type":"assistant","requestId":"r)" + id + R"(","message":{"id":"m)" + id +
                                 R"(","role":"assistant","model":"claude-x",)" + replies[i] + "}");
    }
    return log;
}

std::string said(const std::string& text) { return R"("content":[{"type":"text","text":")" + text + R"("}])"; }

json scan_of(const TempDir& dir, const std::string& files) {
    const CliResult result = run_cli(dir, "scan " + files + " --json");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
}

}  // namespace

TEST_CASE("calls that were billed nothing but zeros are not billed calls, and have no cost", "[apps]") {
    const TempDir dir;
    write_text(
        dir / "s.jsonl",
        claude_log({said("Three.") + R"(,"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":0})"}));
    const json total = scan_of(dir, "s.jsonl")["total"];
    CHECK(total["calls"] == 1);
    CHECK(total["billed_calls"] == 0);
    CHECK(has(run_cli(dir, "scan s.jsonl").out,
              "\nclaude_code         1      1             0      0       0        0       0     -\n"));
}

TEST_CASE("a request without a bill and a reply is no billed call", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl",
               R"({"request":{"model":"m","messages":[{"role":"user","content":"hi"}]},"response":null})"
               "\n");
    CHECK(scan_of(dir, "s.jsonl")["total"]["billed_calls"] == 0);
    const CliResult result = run_cli(dir, "scan s.jsonl");
    CHECK(has(result.err, "unknown kinds of records: 1 response that holds no reply"));
}

TEST_CASE("calls of a sub-agent are billed once, in records of progress and in its own log", "[apps]") {
    const TempDir dir;
    const std::string step =
        R"("type":"assistant","requestId":"q","uuid":"x","message":{"id":"m9","role":"assistant","model":"claude-y",)" +
        said("Three.") + R"(,"usage":{"input_tokens":7,"cache_read_input_tokens":900,"output_tokens":2}})";
    write_text(
        dir / "s.jsonl",
        claude_log({said("Look.") + R"(,"usage":{"input_tokens":10,"output_tokens":5})"}) +
            R"({"sessionId":"s","isSidechain":false,"type":"progress","uuid":"p","data":{"type":"agent_progress",)"
            R"("agentId":"ag","message":{)" +
            step + "}}}\n");
    const json alone = scan_of(dir, "s.jsonl")["total"];
    CHECK(alone["sessions"] == 2);
    CHECK(alone["billed_calls"] == 2);
    CHECK(alone["billed"]["input_tokens"] == 17);
    CHECK(alone["billed"]["cache_read_tokens"] == 900);
    CHECK(alone["billed"]["output_tokens"] == 7);
    write_text(dir / "agent-ag.jsonl",
               R"({"sessionId":"s","isSidechain":true,"agentId":"ag","parentUuid":null,)" + step + "}\n");
    const json both = scan_of(dir, "s.jsonl agent-ag.jsonl")["total"];
    CHECK(both["billed"] == alone["billed"]);
    CHECK(both["repeated_calls"] == 1);
}

TEST_CASE("output that was recorded before the end of replies is said, and in no sum", "[apps]") {
    const TempDir dir;
    const auto reply = [](int characters, const std::string& end, int output) {
        return said(std::string(static_cast<std::size_t>(characters), 'a')) + R"(,"stop_reason":)" + end +
               R"(,"usage":{"input_tokens":10,"output_tokens":)" + std::to_string(output) + "}";
    };
    write_text(dir / "s.jsonl", claude_log({reply(4'000, "null", 2), reply(400, "null", 1), reply(400, "null", 90),
                                            reply(400, R"("end_turn")", 1)}));
    const json total = scan_of(dir, "s.jsonl")["total"];
    CHECK(total["billed"]["output_tokens"] == 94);
    CHECK(total["output_recorded_early"] == json{{"calls", 2}, {"estimated_tokens", 998 + 99}});
    const std::string said_below =
        "output of 2 calls is in no sum here, about 1,097 tokens: it was recorded before their end, or without a "
        "bill\n";
    CHECK(has(run_cli(dir, "scan s.jsonl").out, "\n" + said_below));
    const json twice = scan_of(dir, "s.jsonl s.jsonl")["total"];
    CHECK(twice["output_recorded_early"]["calls"] == 2);
    write_text(dir / "one.jsonl", claude_log({reply(40, R"("end_turn")", 10)}));
    CHECK_FALSE(has(run_cli(dir, "scan one.jsonl").out, "is in no sum"));
}

TEST_CASE("what was written to the cache costs what its lifetime costs, as the log tells it", "[apps]") {
    const TempDir dir;
    const auto cost = [&](int five_minutes, int hour, bool is_told) {
        const auto reply = [&](int read, int written, int share) {
            std::string usage = R"("input_tokens":4,"cache_read_input_tokens":)" + std::to_string(read) +
                                R"(,"cache_creation_input_tokens":)" + std::to_string(written) +
                                R"(,"output_tokens":50)";
            if (is_told)
                usage += R"(,"cache_creation":{"ephemeral_5m_input_tokens":)" + std::to_string(five_minutes / share) +
                         R"(,"ephemeral_1h_input_tokens":)" + std::to_string(hour / share) + "}";
            return said("Done.") + R"(,"stop_reason":"end_turn","usage":{)" + usage + "}";
        };
        write_text(dir / "s.jsonl", claude_log({reply(0, 20'000, 1), reply(20'000, 2'000, 10)}));
        return scan_of(dir, "s.jsonl");
    };
    const double rest = 8 + 20'000 * 0.1 + 100 * 5;
    const json minutes = cost(20'000, 0, true);
    CHECK(minutes["total"]["billed_cost"] == rest + 22'000 * 1.25);
    CHECK(minutes["total"]["billed"]["cache_write_5m_tokens"] == 22'000);
    CHECK(minutes["basis"]["caches"][0]["cache"] == "anthropic_5m");
    const json hour = cost(0, 20'000, true);
    CHECK(hour["total"]["billed_cost"] == rest + 22'000 * 2);
    CHECK(hour["total"]["billed"]["cache_write_1h_tokens"] == 22'000);
    CHECK(hour["basis"]["caches"][0]["cache"] == "anthropic_1h");
    CHECK(cost(15'000, 5'000, true)["total"]["billed_cost"] == rest + 16'500 * 1.25 + 5'500 * 2);
    CHECK(cost(5'000, 15'000, true)["total"]["billed_cost"] == rest + 5'500 * 1.25 + 16'500 * 2);
    CHECK(cost(0, 0, false)["total"]["billed_cost"] == minutes["total"]["billed_cost"]);
}

TEST_CASE("pauses tell how long the cache lives only where the log does not", "[apps]") {
    const TempDir dir;
    const auto cache = [&](const std::string& reported) {
        write_text(dir / "s.jsonl",
                   R"({"id":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},)"
                   R"({"role":"user","content":"c"},{"role":"assistant","content":"d"}],"meta":{"t":[0,1,600,601],)"
                   R"("usage":[[1,2,9000,0,1)" +
                       reported + R"(],[3,2,100,9000,1]]}})" + "\n");
        return scan_of(dir, "s.jsonl")["basis"]["caches"][0]["cache"].get<std::string>();
    };
    CHECK(cache("") == "anthropic_1h");  // read after 10 minutes
    CHECK(cache(",9000,0") == "anthropic_5m");
    CHECK(cache(",0,9000") == "anthropic_1h");
}
