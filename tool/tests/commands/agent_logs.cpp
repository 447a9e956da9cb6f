// Logs of agents go through the commands as they are.
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

std::string fixture(const std::string& name) {
    return "'" WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/" + name + "'";
}

}  // namespace

TEST_CASE("replay takes a log of Claude Code without being told what it is", "[apps]") {
    const TempDir dir;
    const CliResult result =
        run_cli(dir, "replay " + fixture("claude_code.jsonl") + " --preset recommended --window 200000 --json");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const json shown = json::parse(result.out);
    REQUIRE(shown["trajectories"].size() == 2);
    CHECK(shown["trajectories"][0]["trajectory"] == "s-1");
    CHECK(shown["trajectories"][0]["calls"] == 4);
    CHECK(shown["trajectories"][1]["trajectory"] == "s-1/ag1");
}

TEST_CASE("explain and diff take one session of a log, as replay takes all", "[apps]") {
    const TempDir dir;
    const std::string file = fixture("claude_code.jsonl");
    const CliResult explained =
        run_cli(dir, "explain " + file + " --session s-1/ag1 --call 0 --preset recommended --json");
    REQUIRE(explained.exit_code == 0);
    CHECK(json::parse(explained.out)["trajectory"] == "s-1/ag1");
    const CliResult compared = run_cli(dir, "diff " + file + " --preset recommended --preset cheap --json");
    REQUIRE(compared.exit_code == 0);
    CHECK(json::parse(compared.out)["trajectory"] == "s-1");
    const CliResult unknown = run_cli(dir, "explain " + file + " --session s-2 --preset recommended");
    CHECK(unknown.exit_code == 1);
    CHECK(has(unknown.err, "claude_code.jsonl: no session has the id \"s-2\""));
}

TEST_CASE("what of a log could not be read is said on standard error", "[apps]") {
    const TempDir dir;
    const CliResult result = run_cli(dir, "check " + fixture("claude_code_odd.jsonl"));
    CHECK(result.exit_code == 0);
    CHECK(
        has(result.err, "claude_code_odd.jsonl: claude_code: 5 damaged lines left out (8, 9, 11, 12, 13; the first: "));
    CHECK(has(result.err, "unknown kinds of records: 1 hologram"));
    CHECK(has(result.err, "written by versions newer than this reader: claude_code 3.0.1 (1 file)"));
}

TEST_CASE("logs of every format, and packed ones, go through check", "[apps]") {
    const TempDir dir;
    const CliResult all = run_cli(dir, "check " + fixture("codex.jsonl") + " " + fixture("gemini_cli.json") + " " +
                                           fixture("swe_agent.traj") + " " + fixture("exchanges.jsonl") + " " +
                                           fixture("session.har") + " " + fixture("claude_code.jsonl"));
    CHECK(all.exit_code == 0);
    CHECK(all.out == "8 sessions checked for anthropic, openai_chat: no violation\n");
    CHECK(run_cli(dir, "check - < " + fixture("codex.jsonl")).out.starts_with("1 session "));
    if (std::system("command -v gzip > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no gzip here");
    const CliResult packed = run_cli(dir, "check - < " + fixture("codex.jsonl") + " --json");
    REQUIRE(std::system(("gzip -c " + fixture("codex.jsonl") + " > '" + (dir / "c.gz") + "'").c_str()) == 0);
    const CliResult unpacked = run_cli(dir, "check c.gz --json");
    if (has(unpacked.err, "without zlib")) SKIP_WITH_MESSAGE("built without zlib");
    CHECK(unpacked.out == packed.out);
}

TEST_CASE("check names half of a surrogate pair, which providers refuse, and goes on", "[apps]") {
    const TempDir dir;
    write_text(dir / "many.jsonl", R"({"id":"one","messages":[{"role":"user","content":"hi"}]})"
                                   "\n"
                                   R"({"id":"two","messages":[{"role":"user","content":"x \ud83d"}]})"
                                   "\n"
                                   R"({"id":"three","system":"\udcff","messages":[{"role":"user","content":"hi"},)"
                                   R"({"role":"tool","tool_call_id":"none","content":"orphan"}]})"
                                   "\n");
    const CliResult result = run_cli(dir, "check many.jsonl");
    CHECK(result.exit_code == 1);
    CHECK(has(result.out, "two: message 0 part 0: G1 (refused): the text was recorded with half of a surrogate pair"));
    CHECK(has(result.out, "three: the list: G1 (refused): the system text or a tool was recorded with half"));
    CHECK(has(result.out, "three: message 1 part 0: G2 (refused)"));
    CHECK(has(result.out, "3 sessions checked"));
    CHECK(has(result.err, "many.jsonl:2: half of a surrogate pair, or bytes that are no UTF-8: read as U+FFFD"));
    std::string text = read_text(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/claude_code.jsonl");
    text.insert(text.find("Fix it instead."), R"(\udcff)");
    write_text(dir / "log.jsonl", text);
    const CliResult log = run_cli(dir, "check log.jsonl");
    CHECK(log.exit_code == 1);
    CHECK(has(log.out, "G1 (refused)"));
    CHECK(has(log.err, "record with half of a surrogate pair, or bytes that are no UTF-8, read as U+FFFD (line 14)"));
}

TEST_CASE("a log without a session is an error that says so", "[apps]") {
    const TempDir dir;
    write_text(dir / "empty.jsonl", R"({"type":"summary","summary":"x","leafUuid":"y"})"
                                    "\n");
    const CliResult result = run_cli(dir, "check empty.jsonl");
    CHECK(result.exit_code == 1);
    CHECK(has(result.err, "empty.jsonl: expected sessions, found none"));
}

TEST_CASE("logs that are packed by zstd are read like others", "[apps]") {
    if (std::system("command -v zstd > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no zstd here");
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 400, 4'000));
    const std::string in_dir = "cd '" + dir.path().string() + "' && ";
    REQUIRE(
        std::system((in_dir + "zstd -q s.jsonl -o s.zst && cat s.zst s.zst > twice.zst && head -c 3000 s.zst > cut.zst")
                        .c_str()) == 0);
    REQUIRE(std::system(("zstd -q " + fixture("codex.jsonl") + " -o '" + (dir / "rollout.jsonl.zst") + "'").c_str()) ==
            0);
    const CliResult log = run_cli(dir, "check rollout.jsonl.zst");
    if (has(log.err, "without libzstd")) SKIP_WITH_MESSAGE("built without libzstd");
    CHECK(log.out == "1 session checked for openai_chat: no violation\n");
    CHECK(run_cli(dir, "check - < twice.zst").out.starts_with("2 sessions"));
    const CliResult cut = run_cli(dir, "check cut.zst");
    CHECK(cut.exit_code == 1);
    CHECK(has(cut.err, "cut.zst: packed byte 3000: expected zstd data, found the end"));
    const CliResult bomb = run_cli(dir, "check twice.zst --max-ratio 20");
    CHECK(bomb.exit_code == 0);  // below 16M
    const CliResult broken = run_cli(dir, "check s.zst --max-input 1000");
    CHECK(broken.exit_code == 1);
}

TEST_CASE("a session that has a bill alone is scanned, and passed over elsewhere", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", R"({"sessionId":"s","projectHash":"h"}
{"id":"p1","type":"user","content":"one?"}
{"id":"a1","type":"gemini","content":"one.","tokens":{"input":100,"output":10},"model":"gemini-x"}
{"$rewindTo":"p1"}
)");
    const CliResult scanned = run_cli(dir, "scan s.jsonl --json --html s.html");
    REQUIRE(scanned.exit_code == 0);
    const json shown = json::parse(scanned.out);
    CHECK(shown["total"]["sessions"] == 1);
    CHECK(shown["agents"]["gemini_cli"]["billed_calls"] == 1);
    CHECK(shown["agents"]["gemini_cli"]["billed"]["output_tokens"] == 10);
    for (const std::string command : {"check s.jsonl", "replay s.jsonl --preset recommended --window 200000",
                                      "explain s.jsonl --preset recommended --window 200000"}) {
        const CliResult result = run_cli(dir, command);
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "s.jsonl: no session has messages"));
    }
}
