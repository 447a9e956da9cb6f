#include "cli.hpp"
#include "support/catch.hpp"

#include <stdlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

std::string fixture_file(const std::string& name) { return WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/" + name; }

/// The environment of a person whose home is a folder of ours.
class Home {
public:
    Home() {
        ::setenv("HOME", dir.path().c_str(), 1);
        ::setenv("TZ", "UTC", 1);
        for (const char* name :
             {"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "XDG_CONFIG_HOME",
              "XDG_DATA_HOME", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "OPENCLAW_STATE_DIR",
              "OPENCLAW_HOME", "COPILOT_HOME", "XDG_STATE_HOME", "CLINE_DIR", "CLINE_DATA_DIR"})
            ::unsetenv(name);
    }
    void put(const std::string& name, const std::string& at) const {
        const std::filesystem::path path = dir.path() / at;
        std::filesystem::create_directories(path.parent_path());
        std::filesystem::copy_file(fixture_file(name), path);
    }
    TempDir dir{};
};

}  // namespace

TEST_CASE("scan finds the sessions of agents where they keep them", "[apps]") {
    const Home home;
    home.put("claude_code.jsonl", ".claude/projects/-home-ann-shop/s-1.jsonl");
    home.put("codex.jsonl", ".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-c-1.jsonl");
    home.put("gemini_cli.json", ".gemini/tmp/abc/chats/session-2025.json");
    write_text(home.dir / ".gemini/tmp/abc/logs.json", "[]");
    const CliResult result = run_cli(home.dir, "scan --json");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const json shown = json::parse(result.out);
    REQUIRE(shown["locations"].size() == 15);
    CHECK(shown["locations"][0]["agent"] == "Claude Code");
    CHECK(shown["locations"][0]["files"] == 1);
    CHECK(shown["locations"][1]["exists"] == false);
    CHECK(shown["total"]["sessions"] == 4);
    CHECK(shown["total"]["calls"] == 4 + 1 + 4 + 1);
    CHECK(shown["agents"]["claude_code"]["billed"]["cache_read_tokens"] == 47'600);
    CHECK(shown["agents"]["claude_code"]["billed_calls"] == 6);  // with the one that was taken back
    CHECK(shown["agents"]["codex"]["billed"]["output_tokens"] == 465);
    CHECK(shown["compactions"]["number"] == 2);
    CHECK(shown["compactions"]["needed_later"]["constraint"]["lost"] > 0);
    CHECK(shown["most_expensive"].size() == 4);
    CHECK(shown["strategies"][0]["name"] == "as recorded");
    CHECK(shown["strategies"].size() == 5);
    CHECK(shown["notes"]["left_out"]["progress/hook_progress"] == 1);
    CHECK(files_in(home.dir).size() == 16);  // nothing was written
}

TEST_CASE("scan finds what Copilot CLI left, and bills its sums for all calls that they are of", "[apps]") {
    const Home home;
    home.put("copilot_cli.jsonl", ".copilot/session-state/cp-1/events.jsonl");
    home.put("copilot_cli_old.jsonl", ".copilot/session-state/cp-0.jsonl");
    home.put("copilot_history.json", ".copilot/history-session-state/session_cp-legacy_1759500000.json");
    write_text(home.dir / ".copilot/session-state/cp-1/files/notes.jsonl", "{}\n");
    const CliResult result = run_cli(home.dir, "scan --json");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.find("call that no session.shutdown bills") != std::string::npos);
    const json shown = json::parse(result.out);
    CHECK(shown["total"]["sessions"] == 5);
    CHECK(shown["notes"]["skipped_files"].empty());
    const json& agent = shown["agents"]["copilot_cli"];
    CHECK(agent["calls"] == 7 + 2 + 3 + 1 + 2);
    CHECK(agent["billed_calls"] == 2 + 3 + 3 + 1 + 3 + 3);
    CHECK(agent["billed"]["cache_read_tokens"] == 68'000 + 18'000);
    CHECK(agent["billed"]["output_tokens"] == 450 + 190);
    ::setenv("COPILOT_HOME", (home.dir / ".elsewhere").c_str(), 1);
    CHECK(run_cli(home.dir, "scan").exit_code == 1);
    ::unsetenv("COPILOT_HOME");
}

TEST_CASE("a conversation of OpenHands is a folder with a file for each event, and one session", "[apps]") {
    const Home home;
    const std::string folder = ".openhands/conversations/conv-1/";
    std::filesystem::create_directories(home.dir.path() / folder / "events");
    std::istringstream lines(read_text(fixture_file("openhands_v1.jsonl")));
    std::vector<std::string> files;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t number = files.size();
        const bool is_state = line.find("usage_to_metrics") != std::string::npos;
        files.push_back(folder + (is_state ? "base_state.json"
                                           : "events/event-" + std::string(number < 10 ? "0000" : "000") +
                                                 std::to_string(number) + "-00000000-e0.json"));
        write_text(home.dir / files.back(), json::parse(line).dump(1));  // over several lines
    }
    const CliResult result = run_cli(home.dir, "scan --json");
    REQUIRE(result.exit_code == 0);
    const json shown = json::parse(result.out);
    const auto place = std::ranges::find(shown["locations"], "OpenHands", [](const json& one) { return one["agent"]; });
    REQUIRE(place != shown["locations"].end());
    CHECK((*place)["files"] == 1);
    CHECK(shown["agents"]["openhands_v1"]["sessions"] == 1);
    CHECK(shown["agents"]["openhands_v1"]["calls"] == 3);
    CHECK(shown["agents"]["openhands_v1"]["billed"]["output_tokens"] == 68);
    CHECK(shown["most_expensive"][0]["session"] == "conv-1");
    CHECK(has(result.err, "unknown kinds of records: 1 WarpEvent"));
    const std::string requests = run_cli(home.dir, "replay " + files.at(0) + " --preset recommended --requests -").out;
    CHECK(has(requests, R"("trajectory":"conv-1","call":0)"));
    CHECK(run_cli(home.dir, "replay " + files.at(3) + " --preset recommended").exit_code !=
          0);  // no session of its own
}

namespace {

/// The lines of a fixture as the files of a folder.
void put_lines(const Home& home, const std::string& fixture, const std::string& folder,
               const std::vector<std::string>& names) {
    std::filesystem::create_directories(home.dir.path() / folder);
    std::istringstream lines(read_text(fixture_file(fixture)));
    std::string line;
    for (const std::string& name : names) {
        std::getline(lines, line);
        write_text(home.dir / (folder + name), line);
    }
}

}  // namespace

TEST_CASE("a task of Cline and its forks is a folder, and one session", "[apps]") {
    const Home home;
    const std::string storage = "/User/globalStorage/";
    const std::string cline = ".config/Code" + storage + "saoudrizwan.claude-dev/tasks/1770000000900/";
    put_lines(home, "cline.jsonl", cline,
              {"api_conversation_history.json", "ui_messages.json", "context_history.json", "task_metadata.json"});
    write_text(home.dir / (cline + "settings.json"), "{}");
    const std::string roo = ".vscode-server/data" + storage + "rooveterinaryinc.roo-cline/tasks/0197-roo/";
    put_lines(home, "roo_code.jsonl", roo, {"api_conversation_history.json", "ui_messages.json", "history_item.json"});
    const std::string session = ".cline/data/sessions/1785_lead/";
    home.put("cline_session.json", session + "1785_lead.messages.json");
    write_text(home.dir / (session + "1785_lead.json"), R"({"session_id": "1785_lead", "cwd": "/home/ann"})");
    const CliResult result = run_cli(home.dir, "scan --json");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const json shown = json::parse(result.out);
    REQUIRE(shown["locations"].size() == 15 + 3);  // only those that are there
    CHECK(shown["locations"][15]["agent"] == "Cline");
    CHECK(shown["locations"][15]["files"] == 1);
    CHECK(shown["locations"][16]["files"] == 1);
    CHECK(shown["locations"][17]["agent"] == "Roo Code");
    CHECK(shown["agents"]["cline"]["sessions"] == 3);
    CHECK(shown["agents"]["cline"]["billed"]["output_tokens"] == 297 + 115 + 35);
    CHECK(shown["notes"]["skipped_files"].empty());
    CHECK(has(result.out, "\"1770000000900\""));
    const std::string messages = cline + "api_conversation_history.json";
    const std::string bill = cline + "ui_messages.json";
    const json both = json::parse(run_cli(home.dir, "scan --json " + messages + " " + bill).out);
    CHECK(both["agents"]["cline"]["billed"]["output_tokens"] == 297);
    std::filesystem::remove(home.dir.path() / messages);
    const json alone = json::parse(run_cli(home.dir, "scan --json " + cline).out);
    CHECK(alone["agents"]["cline"]["billed"]["output_tokens"] == 297);
}

namespace {

/// Calls that come so many seconds after each other, each with one more result of 4,000 characters and a bill of what
/// was sent: the part of the request before is read from a cache, or all is written to it.
std::string billed_session(int gap, bool is_read) {
    json messages = json::array({{{"role", "user"}, {"content", std::string(8'000, 'q')}}});
    json usage = json::array();
    json times = json::array({0});
    int before = 0;
    int sent = 2'000;
    for (int i = 0; i < 20; ++i) {
        const std::string id = "c" + std::to_string(i);
        usage.push_back({messages.size(), 0, is_read ? sent - before : sent, is_read ? before : 0, 5});
        messages.push_back(
            {{"role", "assistant"},
             {"content", nullptr},
             {"tool_calls",
              {{{"id", id}, {"type", "function"}, {"function", {{"name", "read"}, {"arguments", "{}"}}}}}}});
        messages.push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", std::string(4'000, 'a')}});
        times.push_back(gap * (i + 1));
        times.push_back(gap * (i + 1) + 1);
        before = sent;
        sent += 1'000;
    }
    return json{{"id", "s"}, {"messages", messages}, {"meta", {{"usage", usage}, {"t", times}}}}.dump() + "\n";
}

}  // namespace

TEST_CASE("a session is counted by the cache that its bill tells of", "[apps]") {
    const TempDir dir;
    const auto difference = [&](int gap, bool is_read) {
        write_text(dir / "s.jsonl", billed_session(gap, is_read));
        const json shown = json::parse(run_cli(dir, "scan s.jsonl --json").out);
        return shown["agreement"]["hit_rate_difference"].at(0).get<double>();
    };
    CHECK(std::abs(difference(60, true)) < 0.02);      // within 5 minutes
    CHECK(std::abs(difference(600, true)) < 0.02);     // within an hour, and read still
    CHECK(std::abs(difference(600, false)) < 0.02);    // the same, and gone
    CHECK(std::abs(difference(4'000, false)) < 0.02);  // gone after any of them
    write_text(dir / "s.jsonl", billed_session(600, true));
    const double hour = json::parse(run_cli(dir, "scan s.jsonl --json").out)["strategies"][0]["cost"].get<double>();
    write_text(dir / "s.jsonl", billed_session(60, true));
    const double minutes = json::parse(run_cli(dir, "scan s.jsonl --json").out)["strategies"][0]["cost"].get<double>();
    CHECK(hour - minutes > 0.7 * 21'000);  // 0.75 more for each token that is written
}

TEST_CASE("scan goes by the variables that move an agent's folder", "[apps]") {
    const Home home;
    home.put("claude_code.jsonl", "moved/claude/projects/p/s.jsonl");
    home.put("codex.jsonl", "moved/codex/archived_sessions/rollout-x.jsonl");
    ::setenv("CLAUDE_CONFIG_DIR", (home.dir / "nowhere,").append(home.dir / "moved/claude").c_str(), 1);
    ::setenv("CODEX_HOME", (home.dir / "moved/codex").c_str(), 1);
    const json shown = json::parse(run_cli(home.dir, "scan --json").out);
    ::unsetenv("CLAUDE_CONFIG_DIR");
    ::unsetenv("CODEX_HOME");
    CHECK(shown["total"]["sessions"] == 3);
}

TEST_CASE("scan bills a call of a sub-agent of Qwen Code once, though its session was told of it", "[apps]") {
    const Home home;
    const auto scanned = [&] { return json::parse(run_cli(home.dir, "scan --json").out)["agents"]["qwen_code"]; };
    home.put("qwen_code.jsonl", ".qwen/projects/-home-ann-harbour/chats/s.jsonl");
    const json alone = scanned();
    CHECK(alone["billed_calls"] == 8);
    home.put("qwen_code_agent.jsonl", ".qwen/projects/-home-ann-harbour/subagents/s/agent-painter.jsonl");
    const json both = scanned();
    CHECK(both["billed_calls"] == 9);
    CHECK(both["billed"]["output_tokens"] == alone["billed"]["output_tokens"].get<int>() + 12);
    ::setenv("QWEN_RUNTIME_DIR", (home.dir / "moved").c_str(), 1);
    home.put("qwen_code_agent.jsonl", "moved/projects/p/subagents/s/agent-painter.jsonl");
    const json moved = scanned();
    ::unsetenv("QWEN_RUNTIME_DIR");
    CHECK(moved["billed_calls"] == 2);
}

TEST_CASE("scan finds sessions of pi and of OpenClaw, also those that were reset, deleted or moved", "[apps]") {
    const Home home;
    home.put("pi.jsonl", ".pi/agent/sessions/--home-ann-shop--/2026-02-02T02-40-00-000Z_p-1.jsonl");
    home.put("pi.jsonl", ".pi/agent/sessions/--home-ann-shop--/2026-02-02T03-00-00-000Z_fork.jsonl");
    home.put("openclaw.jsonl", ".openclaw/agents/main/sessions/claw-1.jsonl.reset.2026-02-03T04-05-06.789Z");
    home.put("pi_old.jsonl", ".clawdbot/agents/ann/sessions/old.jsonl.deleted.2026-02-03T04-05-06.789Z");
    write_text(home.dir / ".openclaw/agents/main/sessions/sessions.json", "{}");
    write_text(home.dir / ".openclaw/agents/main/sessions/claw-1.trajectory.jsonl", "{}\n");
    const json shown = json::parse(run_cli(home.dir, "scan --json").out);
    CHECK(shown["agents"]["pi"]["sessions"] == 3);
    CHECK(shown["total"]["repeated_calls"] == 11);  // of the fork
    CHECK(shown["agents"]["pi"]["billed"]["cache_read_tokens"] == 7'390 + 8'300 + 1'400);
    CHECK(shown["notes"]["skipped_files"].empty());
    std::filesystem::rename(home.dir / ".pi/agent", home.dir / "moved");
    std::filesystem::rename(home.dir / ".openclaw", home.dir / "claw");
    ::setenv("PI_CODING_AGENT_DIR", (home.dir / "moved").c_str(), 1);
    ::setenv("OPENCLAW_STATE_DIR", (home.dir / "claw").c_str(), 1);
    const json moved = json::parse(run_cli(home.dir, "scan --json").out);
    ::unsetenv("PI_CODING_AGENT_DIR");
    ::unsetenv("OPENCLAW_STATE_DIR");
    CHECK(moved["agents"]["pi"]["sessions"] == 2);
}

TEST_CASE("scan without any session says so", "[apps]") {
    const Home home;
    const CliResult result = run_cli(home.dir, "scan");
    CHECK(result.exit_code == 1);
    CHECK(has(result.out,
              "not found: Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, opencode, OpenHands, pi, "));
    CHECK(has(result.err, "failed: no sessions found"));
    const CliResult missing = run_cli(home.dir, "scan nowhere");
    CHECK(missing.exit_code == 1);
    CHECK(has(missing.err, "read nowhere: it is not there"));
    CHECK(run_cli(home.dir, "scan --csv --json").exit_code == 2);
}

TEST_CASE("a reply that stands in two files is billed once", "[apps]") {
    const Home home;
    home.put("claude_code.jsonl", "logs/a.jsonl");
    const json once = json::parse(run_cli(home.dir, "scan logs --json").out);
    home.put("claude_code.jsonl", "logs/b.jsonl");
    const json shown = json::parse(run_cli(home.dir, "scan logs --json").out);
    CHECK(shown["total"]["sessions"] == 2);
    CHECK(shown["total"]["billed"] == once["total"]["billed"]);  // also of what was taken back
    CHECK(shown["total"]["billed_calls"] == 6);
    CHECK(once["total"]["repeated_calls"] == 0);
    CHECK(shown["total"]["repeated_calls"] == 6);
    CHECK(has(run_cli(home.dir, "scan logs").out,
              "\n6 calls found again in copies, such as a resumed, forked or archived session, and not billed again; 2 "
              "sessions hold nothing else, and are in no figure\n"));
    const std::string csv = run_cli(home.dir, "scan logs --csv").out;
    CHECK(has(csv, ",repeated_calls,counted_cost_with_refetches,priced_calls,dollars\n"));
    CHECK(std::ranges::count(csv, '\n') == 3);
}

namespace {

/// A rollout of Codex: a prompt, a tool's round, an answer, with the sums of tokens; `behind` is what came then.
/// `hour`: when it was written, since a fork has times of its own.
std::string rollout(const std::string& metas, bool with_tools, const std::string& behind,
                    const std::string& hour = "10") {
    const std::string time = R"({"timestamp":"2026-03-02T)" + hour + R"(:00:00Z",)";
    const auto item = [&](const std::string& payload) {
        return time + R"("type":"response_item","payload":)" + payload + "}\n";
    };
    const auto sums = [&](const std::string& counts) {
        return time + R"("type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{)" + counts +
               "}}}}\n";
    };
    std::string text =
        metas + item(R"({"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]})");
    if (with_tools)
        text += item(R"({"type":"function_call","name":"ls","arguments":"{}","call_id":"k1"})") +
                sums(R"("input_tokens":100,"cached_input_tokens":0,"output_tokens":10)") +
                item(R"({"type":"function_call_output","call_id":"k1","output":"a"})");
    return text + item(R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]})") +
           sums(R"("input_tokens":250,"cached_input_tokens":90,"output_tokens":15)") + behind;
}

std::string meta_of(const std::string& id, const std::string& forked_from = "") {
    return R"({"timestamp":"2026-03-02T10:00:00Z","type":"session_meta","payload":{"id":")" + id + "\"" +
           (forked_from.empty() ? "" : R"(,"forked_from_id":")" + forked_from + "\"") + "}}\n";
}

const std::string went_on =
    R"({"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"more"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"More."}]}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":600,"cached_input_tokens":300,"output_tokens":25}}}}
)";

}  // namespace

TEST_CASE("what a forked session of Codex repeats of its parent is billed once, and what it goes on with is",
          "[apps]") {
    const std::string turn =
        R"({"type":"event_msg","payload":{"type":"task_started","turn_id":"0198aaaa-0000-7000-8000-000000000001"}})"
        "\n";
    for (const bool with_tools : {true, false}) {
        for (const bool has_metas : {true, false}) {
            const std::string known_by = has_metas ? "" : turn;  // without both nothing tells a copy
            CAPTURE(with_tools, has_metas);
            const Home home;
            std::filesystem::create_directories(home.dir.path() / "logs");
            write_text(home.dir / "logs/rollout-1.jsonl", rollout(meta_of("a") + known_by, with_tools, ""));
            write_text(home.dir / "logs/rollout-2.jsonl",
                       rollout(has_metas ? meta_of("b", "a") + meta_of("a") : meta_of("b") + known_by, with_tools,
                               went_on, "11"));
            const json shown = json::parse(run_cli(home.dir, "scan logs --json").out);
            CHECK(shown["total"]["sessions"] == 2);
            CHECK(shown["total"]["repeated_calls"] == (with_tools ? 2 : 1));
            CHECK(shown["total"]["billed_calls"] == (with_tools ? 3 : 2));
            CHECK(shown["total"]["billed"]["output_tokens"] == 25);
            CHECK(shown["total"]["billed"]["cache_read_tokens"] == 300);
        }
    }
}

TEST_CASE("two sessions of Codex that happen to be billed alike are both billed", "[apps]") {
    const Home home;
    std::filesystem::create_directories(home.dir.path() / "logs");
    write_text(home.dir / "logs/rollout-1.jsonl", rollout(meta_of("a"), false, ""));
    write_text(home.dir / "logs/rollout-2.jsonl", rollout(meta_of("b"), false, ""));
    const json shown = json::parse(run_cli(home.dir, "scan logs --json").out);
    CHECK(shown["total"]["repeated_calls"] == 0);
    CHECK(shown["total"]["billed"]["output_tokens"] == 30);
}

TEST_CASE("scan takes files and folders, and sessions in the library's own form", "[apps]") {
    const Home home;
    home.put("codex.jsonl", "logs/deep/er/c.jsonl");
    write_text(home.dir / "logs/notes.json", R"({"nothing": "here"})");
    write_text(home.dir / "own.jsonl", session_line("mine", 12, 4'000));
    const CliResult result = run_cli(home.dir, "scan logs own.jsonl");
    REQUIRE(result.exit_code == 0);
    CHECK(has(result.out, "recorded"));
    CHECK(has(result.out, "files without a session: JSON of no known form: logs/notes.json (keys nothing)"));
    CHECK(has(result.out, "results of read"));
    CHECK(has(result.out, "compactions by the agents: 1 in 1 session; needed later and lost:"));
}

TEST_CASE("the tables of a scan say what was billed and what each preset comes to", "[apps]") {
    const Home home;
    const std::string out = run_cli(home.dir, "scan '" + fixture_file("claude_code.jsonl") + "'").out;
    CHECK(has(out,
              ": 1 file\n\n2 sessions, 5 model calls; 6 calls were billed, $0.0585 by the prices of their models: "));
    CHECK(
        has(out, "\n\nbilled       dollars  sessions  calls  billed calls  input  cached  written  output    cost\n"));
    CHECK(has(out, "\nclaude_code  $0.0585         2      5             6    928  47,600   10,230     327  20,111\n"));
    CHECK(has(out, "\nas recorded "));
    CHECK(has(out, "\ncheap "));
    CHECK(has(out, "\nresults of Read "));
    CHECK(has(out, "needed later and lost: constraint 2 of 7"));
    CHECK(
        has(out, "in the logs and no part of a conversation: 1 assistant, made by the agent, 1 file-history-snapshot"));
}

TEST_CASE("what scan prints of a folder of logs is as it was: text, JSON, CSV, and text on a narrow terminal",
          "[apps]") {
    const Home home;
    for (const char* name : {"claude_code.jsonl", "codex.jsonl", "openhands.json", "langfuse.csv", "base64.har"})
        home.put(name, std::string("logs \xC3\xA9\xE6\xBC\xA2/") + name);
    const std::string scan = "scan 'logs \xC3\xA9\xE6\xBC\xA2'";
    const std::string narrow = "--version > version; COLUMNS=60 '" WHITTLE_CLI "' " + scan;
    for (const auto& [arguments, ending] : std::vector<std::pair<std::string, std::string>>{
             {scan, "txt"}, {scan + " --json", "json"}, {scan + " --csv", "csv"}, {narrow, "narrow.txt"}}) {
        CAPTURE(arguments);
        const CliResult result = run_cli(home.dir, arguments);
        CHECK(result.exit_code == 0);
        const std::string expected_file = WHITTLE_SOURCE_DIR "/tool/tests/commands/scan.expected." + ending;
        if (std::getenv("WHITTLE_WRITE_EXPECTED")) write_text(expected_file, result.out);
        CHECK(result.out == read_text(expected_file));
    }
}

TEST_CASE("scan prints a line for each session as CSV", "[apps]") {
    const Home home;
    const std::string out = run_cli(home.dir, "scan '" + fixture_file("claude_code.jsonl") + "' --csv").out;
    REQUIRE(std::ranges::count(out, '\n') == 3);
    CHECK(out.starts_with("agent,session,parent,file,calls,compactions,billed_calls,"));
    CHECK(has(out, "\nclaude_code,\"s-1\",\"\",\""));
    CHECK(has(out, "\",4,1,5,28,47600,10230,320,"));
    CHECK(has(out, "\nclaude_code,\"s-1/ag1\",\"s-1\",\""));
}

TEST_CASE("a bill whose messages were not recorded is scanned, and other commands say why they have nothing",
          "[apps]") {
    const TempDir dir;
    write_text(dir / "trace.json",
               R"({"id":"t1","observations":[{"id":"o1","traceId":"t1","type":"GENERATION","input":null,"output":null,)"
               R"("startTime":"2026-05-05T08:00:01.000Z","usageDetails":{"input":5000,"output":70}}]})");
    const CliResult result = run_cli(dir, "scan trace.json --json");
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    const json shown = json::parse(result.out);
    CHECK(shown["total"]["billed_calls"] == 1);
    CHECK(shown["total"]["billed"]["input_tokens"] == 5'000);
    CHECK(shown["total"]["billed"]["output_tokens"] == 70);
    CHECK(shown["notes"]["left_out"]["call whose messages the log lacks, billed elsewhere"] == 1);
    const CliResult counted = run_cli(dir, "count trace.json");
    CHECK(counted.exit_code == 1);
    CHECK(has(counted.err, "no session has messages: they were taken back or not recorded"));
}

TEST_CASE("a session of which only the sum was billed is compared with our count, but not by its cache", "[apps]") {
    const TempDir dir;
    const std::string history = R"([{"role":"user","content":")" + std::string(4'000, 'x') +
                                R"(","agent":"main"},{"role":"assistant","content":"done","agent":"main"}])";
    write_text(dir / "s.traj", R"({"environment":"e","trajectory":[],"history":)" + history +
                                   R"(,"info":{"model_stats":{"tokens_sent":1000,"tokens_received":9}}})");
    const CliResult text = run_cli(dir, "scan s.traj");
    CHECK(text.exit_code == 0);
    CHECK(has(text.out, "swe_agent             1   1,000    1,000             1.000           -"));
    CHECK(has(text.out, "counted / billed 1.00 (1.00, 1.00)\n"));
    const json shown = json::parse(run_cli(dir, "scan s.traj --json").out);
    CHECK(shown["agreement"]["counted_to_billed"].size() == 1);
    CHECK(shown["agreement"]["hit_rate_difference"].empty());
    CHECK(shown["total"]["billed_calls"] == 1);
}

TEST_CASE("scan masks what looks like a secret, unless it is told not to", "[apps]") {
    const Home home;
    const std::string key = "sk-proj-abcdefghijklmnop0123456789";
    write_text(home.dir / (key + ".jsonl"),
               R"({"id":")" + key +
                   R"(","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x"}]})"
                   "\n");
    for (const char* form : {"", " --json", " --csv"}) {
        CAPTURE(form);
        const CliResult hidden = run_cli(home.dir, "scan ." + std::string(form));
        CHECK(hidden.exit_code == 0);
        CHECK_FALSE(has(hidden.out, "abcdefghijklmnop"));
        CHECK(has(hidden.out, "sk-p***"));
        CHECK(has(run_cli(home.dir, "scan . --no-mask" + std::string(form)).out, key));
    }
}

TEST_CASE("one file that cannot be read does not end a scan", "[apps]") {
    const Home home;
    home.put("codex.jsonl", "logs/good.jsonl");
    write_text(home.dir / "logs/bad.jsonl.gz", std::string("\x1F\x8B\x08\x00") + "no gzip");
    const CliResult result = run_cli(home.dir, "scan logs");
    CHECK(result.exit_code == 1);
    CHECK(has(result.out, "codex"));
    CHECK(has(result.err, "failed: 1 file could not be read"));
}

TEST_CASE("sessions of opencode are read from its database, which stays as it is", "[apps]") {
    if (std::system("command -v sqlite3 > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const Home home;
    const std::string folder = ".local/share/opencode";
    std::filesystem::create_directories(home.dir.path() / folder);
    write_text(home.dir / "make.sql", R"(
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
INSERT INTO session VALUES ('ses_2', 'ses_1', '/w', '1.3.10', NULL, 2), ('ses_1', NULL, '/w', '1.3.10', NULL, 1);
INSERT INTO message VALUES ('m2', 'ses_1', 20, '{"role":"assistant","modelID":"m","tokens":{"input":7,"output":1,"reasoning":2,"cache":{"read":5,"write":0}}}'),
  ('m1', 'ses_1', 10, '{"role":"user"}'), ('m3', 'ses_2', 5, '{"role":"user"}');
INSERT INTO part VALUES ('p3', 'm2', 'ses_1', 3, '{"type":"text","text":"two"}'), ('p1', 'm1', 'ses_1', 1, '{"type":"text","text":"go"}'),
  ('p2', 'm2', 'ses_1', 2, '{"type":"text","text":"one"}'), ('p0', 'm3', 'ses_1', 0, '{"type":"text","text":"stray"}'), ('p4', 'm3', 'ses_2', 4, '{"type":"text","text":"go"}'), ('p5', 'm3', 'ses_2', 5, 'no json');
)");
    REQUIRE(std::system(
                ("cd '" + home.dir.path().string() + "' && sqlite3 " + folder + "/opencode.db < make.sql").c_str()) ==
            0);
    const auto files_before = files_in(home.dir);
    const CliResult result = run_cli(home.dir, "scan --json");
    if (has(result.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    REQUIRE(result.exit_code == 0);
    const json shown = json::parse(result.out);
    CHECK(shown["agents"]["opencode"]["sessions"] == 2);
    CHECK(shown["agents"]["opencode"]["calls"] == 1);
    CHECK(shown["agents"]["opencode"]["billed"]["cache_read_tokens"] == 5);
    CHECK(shown["agents"]["opencode"]["billed"]["output_tokens"] == 3);
    CHECK(files_in(home.dir) == files_before);
    const CliResult requests = run_cli(home.dir, "replay " + folder + "/opencode.db --preset recommended --requests -");
    CHECK(has(requests.out, R"("trajectory":"ses_1","call":0,"messages":[{"role":"user","content":"go"}])"));
    REQUIRE(std::system(("cd '" + home.dir.path().string() + "' && sqlite3 other.db 'CREATE TABLE x (y)'").c_str()) ==
            0);
    const CliResult other = run_cli(home.dir, "check other.db");
    CHECK(other.exit_code == 1);
    CHECK(has(other.err, "other.db: expected a database of opencode: no such table: session"));
}

TEST_CASE("the bill of opencode's database is that of the whole of it, with long texts cut", "[apps]") {
    if (std::system("command -v sqlite3 > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const TempDir dir;
    const std::string words(2'000, 'x');
    const std::string text = words + R"( \ud83d )" + words + R"( \"tokens\":{\"input\":1} )" + words;
    const std::string tokens = R"("tokens":{"input":7,"output":1,"cache":{"read":5,"write":0}})";
    write_text(dir / "make.sql", R"(
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
INSERT INTO session VALUES ('ses_1', NULL, '/w', '1.3.10', NULL, 1);
INSERT INTO message VALUES ('m1', 'ses_1', 10, '{"role":"user"}'), ('m2', 'ses_1', 20, '{"role":"assistant","modelID":"m","error":null,"note":")" +
                                     text + "\"," + tokens + R"(}'), ('m3', 'ses_1', 30, '{"role":"user","note":")" +
                                     text + R"(');
INSERT INTO part VALUES ('p1', 'm1', 'ses_1', 1, '{"type":"text","text":")" +
                                     text + R"("}'), ('p2', 'm2', 'ses_1', 2, '{"type":"text","text":")" + text +
                                     R"("}'), ('p3', 'm2', 'ses_1', 3, '{"type":"step-finish",)" + tokens + "}');\n");
    REQUIRE(std::system(("cd '" + dir.path().string() + "' && sqlite3 opencode.db < make.sql").c_str()) == 0);
    const CliResult whole = run_cli(dir, "scan opencode.db --json");
    if (has(whole.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    const CliResult bill = run_cli(dir, "scan opencode.db --bill --json");
    REQUIRE(whole.exit_code == 0);
    REQUIRE(bill.exit_code == 0);
    const json billed = json::parse(bill.out)["total"];
    CHECK(billed["billed"] == json::parse(whole.out)["total"]["billed"]);
    CHECK(billed["billed"]["input_tokens"] == 7);
    CHECK(billed["billed_calls"] == 1);
    INFO(whole.err << bill.err);
    CHECK(has(whole.err, "half of a surrogate pair"));
    CHECK_FALSE(has(bill.err, "half of a surrogate pair"));
    for (const CliResult& result : {whole, bill}) CHECK(has(result.err, "1 damaged line left out"));
}

TEST_CASE("sessions of opencode 2 are read from its own tables, once, and older ones beside them", "[apps]") {
    if (std::system("command -v sqlite3 > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const TempDir dir;
    const auto scanned = [&](const std::string& name, const std::string& sql) {
        write_text(dir / "make.sql", sql);
        REQUIRE(std::system(("cd '" + dir.path().string() + "' && sqlite3 " + name + " < make.sql").c_str()) == 0);
        return run_cli(dir, "scan " + name + " --json");
    };
    const std::string rows_v2 = R"(
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, version text, revert text, time_created integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, data text);
INSERT INTO session_v2 VALUES ('ses_1', NULL, '/w', '2.0.12', NULL, 1), ('ses_2', 'ses_1', '/w', '2.0.12', NULL, 2);
INSERT INTO session_message VALUES
  ('m2', 'ses_1', 'assistant', 7, 20, '{"model":{"id":"m"},"tokens":{"input":7,"output":1,"reasoning":2,"cache":{"read":5,"write":0}},"content":[{"type":"text","text":"two"}]}'),
  ('m1', 'ses_1', 'user', 3, 30, '{"text":"go"}'), ('m3', 'ses_2', 'user', 1, 10, '{"text":"go"}'), ('m4', 'ses_3', 'user', 1, 10, '{"text":"go"}');
)";
    const std::string rows_v1 = R"(
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
INSERT INTO session VALUES ('ses_1', NULL, '/w', '1.18.33', NULL, 1), ('ses_0', NULL, '/w', '1.18.33', NULL, 0), ('ses_3', NULL, '/w', '1.18.33', NULL, 3);
INSERT INTO message VALUES
  ('m2', 'ses_1', 20, '{"role":"assistant","modelID":"m","tokens":{"input":7,"output":1,"reasoning":2,"cache":{"read":5,"write":0}}}'),
  ('o1', 'ses_0', 20, '{"role":"assistant","modelID":"m","tokens":{"input":100,"output":10,"reasoning":0,"cache":{"read":0,"write":0}}}');
INSERT INTO part VALUES ('p1', 'm2', 'ses_1', 1, '{"type":"text","text":"two"}'), ('p2', 'o1', 'ses_0', 1, '{"type":"text","text":"old"}');
)";
    const CliResult alone = scanned("opencode.db", rows_v2);
    if (has(alone.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    REQUIRE(alone.exit_code == 0);
    CHECK(alone.err.empty());
    const json first = json::parse(alone.out)["agents"]["opencode"];
    CHECK(first["sessions"] == 2);
    CHECK(first["billed"]["input_tokens"] == 7);
    CHECK(first["billed"]["output_tokens"] == 3);
    CHECK(has(run_cli(dir, "replay opencode.db --preset recommended --requests -").out,
              R"("trajectory":"ses_1","call":0,"messages":[{"role":"user","content":"go"}])"));
    const json both = json::parse(scanned("opencode.db", rows_v1).out)["agents"]["opencode"];
    CHECK(both["sessions"] == 4);  // ses_3 is of 1.18, which has rows of its interface alone
    CHECK(both["billed"]["input_tokens"] == 107);
    // By what it holds, too.
    CHECK(json::parse(scanned("other.db", rows_v2).out)["agents"]["opencode"]["sessions"] == 2);
}

TEST_CASE("sessions of OpenClaw are read from its database, also packed records, and with their parents", "[apps]") {
    if (std::system("command -v sqlite3 > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const Home home;
    std::string sql = R"(
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, spawned_by TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, PRIMARY KEY (session_id, seq));
INSERT INTO session_nodes VALUES ('agent:main:main', 'claw-1');
INSERT INTO session_windows VALUES ('claw-1', 'agent:main:main', NULL), ('claw-2', 'agent:main:subagent:x', 'agent:main:main');
)";
    std::istringstream records(read_text(fixture_file("openclaw.jsonl")));
    int seq = 0;
    for (std::string record; std::getline(records, record);)
        sql +=
            "INSERT INTO transcript_events VALUES ('claw-1', " + std::to_string(seq++) + ", '" + record + "', NULL);\n";
    // {"type":"message","id":"z2",...,"usage":{"input":11,"output":2,"cacheRead":100,...}}, packed by zstd 1.5
    const std::string packed =
        "28b52ffd0458350600820e2a20604b9b03e8ba9a345edae6e5d8c2626b3fdfa980bbcc5b4126f65b800000840bcff33fdd78"
        "4a862180d06ab5d4045bdb7c0f0042e8a674b1144aee5adfd1ba0953f02334929a5085230f5fda66f910426fc35462071b9f"
        "17a31545d6e243788ce8e248663cef82ee017a95ae5a87cfab725bd25a1aadca62ece0d9e03f221d7ffc15e887811f02d293"
        "d16cc96dba24eb332258a54c329f5383d148e2b326646bba18ad8c61ed040900652341608a726682af061419815503e28f42"
        "e484d29c6b92014e547a7f";
    sql += R"(INSERT INTO transcript_events VALUES
  ('claw-2', 1, '{"type":"session","version":4,"id":"claw-2","timestamp":"2026-09-01T00:00:00.000Z","cwd":"/w"}', NULL),
  ('claw-2', 2, '{"type":"message","id":"z1","parentId":null,"message":{"role":"user","content":"go"}}', NULL),
  ('claw-2', 3, NULL, x')" +
           packed + "');\n";
    write_text(home.dir / "make.sql", sql);
    const std::string folder = ".openclaw/agents/main/agent";
    std::filesystem::create_directories(home.dir.path() / folder);
    REQUIRE(
        std::system(("cd '" + home.dir.path().string() + "' && sqlite3 " + folder + "/openclaw-agent.sqlite < make.sql")
                        .c_str()) == 0);
    home.put("openclaw.jsonl", ".openclaw/agents/main/sessions/claw-1.jsonl.deleted.2026-09-01T00-00-00.000Z");
    const CliResult result = run_cli(home.dir, "scan --json");
    if (has(result.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    const json shown = json::parse(result.out);
    CHECK(shown["agents"]["pi"]["sessions"] == 2);
    CHECK(shown["total"]["repeated_calls"] == 6);  // of the file that was left beside it
    const bool is_unpacked = !has(result.err, "record that could not be unpacked");
    CHECK(shown["agents"]["pi"]["billed"]["cache_read_tokens"] == 8'300 + (is_unpacked ? 100 : 0));
    CHECK(shown["notes"]["skipped_files"].empty());
}

TEST_CASE("our cache hit rate is near the billed one on recorded sessions", "[apps]") {
    const std::string file = WHITTLE_DATA_DIR "/trajectories/coding_opencode_session_bridge.jsonl";
    if (!std::filesystem::exists(file)) SKIP_WITH_MESSAGE("there are no recorded sessions here");
    const Home home;
    const json shown = json::parse(run_cli(home.dir, "scan '" + file + "' --json").out);
    std::vector<double> differences = shown["agreement"]["hit_rate_difference"];
    REQUIRE(differences.size() == 2);
    std::ranges::sort(differences);
    CHECK(std::abs(differences[0]) < 0.02);
    CHECK(differences[1] > 0.02);  // its provider missed prefixes: bench/hit_rates.py
    CHECK(differences[1] < 0.08);
}

TEST_CASE("what a log holds cannot steer the terminal", "[apps]") {
    const Home home;
    const std::string hostile = R"(a\u001b[2J\nwhittle: all is well\u202e\",1)";
    write_text(home.dir / "s.jsonl",
               R"({"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"sessionId":")" + hostile +
                   R"(","message":{"role":"user","content":"go"}})"
                   "\n"
                   R"({"type":")" +
                   hostile +
                   R"(","sessionId":"x"})"
                   "\n"
                   R"({"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":false,"version":"9)" +
                   hostile +
                   R"(","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":")" +
                   hostile +
                   R"(","input":{}}]}})"
                   "\n");
    for (const char* form : {"", " --json", " --csv"}) {
        CAPTURE(form);
        const CliResult result = run_cli(home.dir, "scan ." + std::string(form));
        CHECK(result.exit_code == 0);
        for (const std::string& text : {result.out, result.err}) {
            CHECK_FALSE(has(text, "\x1b"));
            CHECK_FALSE(has(text, "\nwhittle: all"));
            CHECK_FALSE(has(text, "\xE2\x80\xAE"));
        }
    }
}
