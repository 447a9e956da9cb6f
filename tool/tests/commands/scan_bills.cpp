// The bills of all sessions: each call once, wherever it stands; by day, model and project.
#include "cli.hpp"
#include "logged_replies.hpp"
#include "support/catch.hpp"

#include <stdlib.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

json json_of_scan(const TempDir& dir, const std::string& arguments) {
    const CliResult result = run_cli(dir, "scan " + arguments + " --json");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
}

json row_of(const json& rows, const char* kind, const std::string& name) {
    for (const json& row : rows) {
        if (row[kind] == name) return row;
    }
    return nullptr;
}

const LoggedReply first_reply{"1", "2026-11-01T10:00:00.000Z", 100, 10};
const LoggedReply second_reply{"2", "2026-11-02T10:00:00.000Z", 200, 20, "claude-y"};
const LoggedReply third_reply{"3", "2026-11-03T10:00:00.000Z", 400, 40};

}  // namespace

TEST_CASE("scan --bill shows what was billed by agent, model, project and day, and nothing else", "[apps]") {
    ::setenv("TZ", "UTC", 1);
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {first_reply, second_reply}));
    write_text(dir / "b.jsonl", log_of_replies("b", {third_reply}, "/home/ann/other"));
    const json bill = json_of_scan(dir, "a.jsonl b.jsonl --bill");
    CHECK(bill["total"]["sessions"] == 2);
    CHECK(bill["total"]["billed_calls"] == 3);
    CHECK(bill["total"]["billed"]["input_tokens"] == 700);
    CHECK(bill["total"]["billed"]["output_tokens"] == 70);
    CHECK(bill["agents"]["claude_code"]["billed"] == bill["total"]["billed"]);
    REQUIRE(bill["days"].size() == 3);
    CHECK(row_of(bill["days"], "day", "2026-11-02")["billed"]["input_tokens"] == 200);
    CHECK(row_of(bill["models"], "model", "claude-x")["billed"]["input_tokens"] == 500);
    CHECK(row_of(bill["models"], "model", "claude-x")["sessions"] == 2);
    CHECK(row_of(bill["projects"], "project", "/home/ann/shop")["billed"]["output_tokens"] == 30);
    REQUIRE(bill["bills"].size() == 2);
    CHECK(bill["bills"][0]["session"] == "a");
    CHECK(bill["bills"][0]["first"] == "2026-11-01T10:00:00Z");
    CHECK(bill["bills"][0]["last"] == "2026-11-02T10:00:00Z");
    CHECK(bill["bills"][0]["models"] == json{"claude-x", "claude-y"});
    CHECK_FALSE(bill.contains("strategies"));
    const json whole = json_of_scan(dir, "a.jsonl b.jsonl");
    for (const char* part : {"days", "models", "projects", "bills"}) CHECK(whole[part] == bill[part]);
    CHECK(whole["total"]["billed"] == bill["total"]["billed"]);
    const std::string text = run_cli(dir, "scan a.jsonl b.jsonl --bill").out;
    CHECK(
        has(text,
            "\n2 sessions, 3 model calls; 3 calls were billed: 700 tokens of input (0 % of it read from the cache) and "
            "70 of output, which cost as much as 1,050 tokens of plain input.\n"));
    CHECK(has(text, "\nby day"));
    CHECK(has(text, "\n/home/ann/other "));
    CHECK_FALSE(has(text, "recommended"));
    const std::string csv = run_cli(dir, "scan a.jsonl b.jsonl --bill --csv").out;
    CHECK(has(csv, "\nclaude_code,\"b\",\"\",\"b.jsonl\",\"/home/ann/other\",1,1,400,0,0,40,600.0,0,0,\n"));
}

TEST_CASE("days are those of the place where the machine is", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {{"1", "2026-11-01T23:30:00.000Z", 100, 10}}));
    const auto day = [&](const char* zone) {
        ::setenv("TZ", zone, 1);
        const json days = json_of_scan(dir, "a.jsonl --bill")["days"];
        ::setenv("TZ", "UTC", 1);
        return days[0]["day"].get<std::string>();
    };
    CHECK(day("UTC") == "2026-11-01");
    CHECK(day("UTC-1") == "2026-11-02");  // an hour ahead, as POSIX writes it
}

TEST_CASE("since a day only its calls and later ones count", "[apps]") {
    ::setenv("TZ", "UTC", 1);
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {first_reply, second_reply, third_reply}));
    write_text(dir / "b.jsonl", log_of_replies("b", {{"9", "2026-10-01T10:00:00.000Z", 5, 5}}));
    write_text(dir / "own.jsonl", session_line("mine", 2, 10));
    for (const std::string bill : {"--bill", ""}) {
        CAPTURE(bill);
        const json since = json_of_scan(dir, ". --since 2026-11-02 " + bill);
        CHECK(since["total"]["sessions"] == 1);
        CHECK(since["total"]["calls"] == 2);
        CHECK(since["total"]["billed"]["input_tokens"] == 600);
        CHECK(since["bills"].size() == 1);
        CHECK(since["calls_without_time"] == 3);
    }
    CHECK(has(run_cli(dir, "scan . --bill --since 2026-11-02").out,
              "3 calls without a time are left out, since --since was given\n"));
    CHECK(json_of_scan(dir, ". --since 2030-01-01")["total"]["sessions"] == 0);
    for (const char* wrong : {"2026-13-01", "2026-02-30", "yesterday", "2026-1-1", "2026-11-01x", "2026-+1-01"}) {
        CAPTURE(wrong);
        const CliResult result = run_cli(dir, std::string("scan . --since ") + wrong);
        CHECK(result.exit_code == 2);
        CHECK(has(result.err, "expected a day, such as 2026-11-01"));
    }
    CHECK(run_cli(dir, "scan . --bill --html r.html").exit_code == 2);
    const CliResult nothing = run_cli(dir, "scan . --since 2030-01-01 --html r.html");
    CHECK(nothing.exit_code == 1);
    CHECK(has(nothing.err, "no report was written: no model call is on or after --since"));
}

TEST_CASE("a session that stands whole in another file is one session, whichever is read first", "[apps]") {
    const TempDir dir;
    for (const bool is_longer_first : {true, false}) {
        CAPTURE(is_longer_first);
        write_text(dir / "a.jsonl", log_of_replies("a", is_longer_first ? std::vector{first_reply, second_reply}
                                                                        : std::vector{first_reply}));
        write_text(dir / "b.jsonl", log_of_replies("b", is_longer_first ? std::vector{first_reply}
                                                                        : std::vector{first_reply, second_reply}));
        const json shown = json_of_scan(dir, "a.jsonl b.jsonl");
        CHECK(shown["total"]["sessions"] == 1);
        CHECK(shown["total"]["calls"] == 2);
        CHECK(shown["total"]["repeated_calls"] == 1);
        CHECK(shown["total"]["billed"]["input_tokens"] == 300);
        CHECK(shown["copied_sessions"] == 1);
        CHECK(shown["bills"][0]["session"] == (is_longer_first ? "a" : "b"));
        CHECK(shown["strategies"][0] == json_of_scan(dir, is_longer_first ? "a.jsonl" : "b.jsonl")["strategies"][0]);
        const std::string text = run_cli(dir, "scan a.jsonl b.jsonl").out;
        CHECK(has(text, "\n1 session, 2 model calls; 2 calls were billed: "));
        CHECK(has(text, "; 1 session holds nothing else, and is in no figure\n"));
    }
}

TEST_CASE("a file that is named twice, or beside its folder, is read once", "[apps]") {
    const TempDir dir;
    std::filesystem::create_directories(dir.path() / "logs");
    write_text(dir / "logs/a.jsonl", log_of_replies("a", {first_reply}));
    for (const char* paths : {"logs logs/a.jsonl", "logs/a.jsonl ./logs/a.jsonl"}) {
        CAPTURE(paths);
        const json shown = json_of_scan(dir, paths);
        CHECK(shown["total"]["sessions"] == 1);
        CHECK(shown["total"]["repeated_calls"] == 0);
    }
}

TEST_CASE("a file that fails behind its sessions is named once, and these count", "[apps]") {
    const TempDir dir;
    write_text(dir / "own.jsonl", session_line("mine", 2, 10) + "{\"id\": \n");
    const CliResult result = run_cli(dir, "scan own.jsonl --json");
    CHECK(result.exit_code == 1);
    CHECK(has(result.err, "failed: 1 file could not be read (own.jsonl)"));
    const json shown = json::parse(result.out);
    CHECK(shown["total"]["sessions"] == 1);
    CHECK(shown["strategies"][0]["sent_tokens"] > 0);
}

TEST_CASE("sessions of the library's own form that say the same are copies only if they are called the same",
          "[apps]") {
    const TempDir dir;
    write_text(dir / "a.jsonl", session_line("mine", 2, 10));
    write_text(dir / "b.jsonl", session_line("other", 2, 10));
    CHECK(json_of_scan(dir, "a.jsonl b.jsonl --bill")["total"]["sessions"] == 2);
    write_text(dir / "b.jsonl", session_line("mine", 2, 10));
    CHECK(json_of_scan(dir, "a.jsonl b.jsonl --bill")["total"]["sessions"] == 1);
}

TEST_CASE("of the copies of a call the largest is billed", "[apps]") {
    const TempDir dir;
    LoggedReply early = first_reply;
    early.output = 1;
    write_text(dir / "a.jsonl", log_of_replies("a", {early}));
    write_text(dir / "b.jsonl", log_of_replies("b", {first_reply}));
    CHECK(json_of_scan(dir, "a.jsonl b.jsonl --bill")["total"]["billed"]["output_tokens"] == 10);
    CHECK(json_of_scan(dir, "b.jsonl a.jsonl --bill")["total"]["billed"]["output_tokens"] == 10);
}

TEST_CASE("what a fork repeats is in no figure: it costs as much as the original and the rest of the fork", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {first_reply, second_reply}));
    write_text(dir / "b.jsonl", log_of_replies("b", {first_reply, third_reply}));
    const json both = json_of_scan(dir, "a.jsonl b.jsonl");
    CHECK(both["total"]["sessions"] == 2);
    CHECK(both["total"]["calls"] == 3);
    CHECK(both["total"]["billed"]["input_tokens"] == 700);
    const auto sent = [](const json& shown) { return shown["strategies"][0]["sent_tokens"].get<int>(); };
    const json a = json_of_scan(dir, "a.jsonl");
    const json b = json_of_scan(dir, "b.jsonl");
    CHECK(sent(both) < sent(a) + sent(b));
    CHECK(sent(both) > sent(a));
    CHECK(both["agreement"]["counted_to_billed"].size() == 2);
}

TEST_CASE("a copy of a file without ids is found by what it says, also when it is written otherwise", "[apps]") {
    const TempDir dir;
    const std::string head = R"({"environment":"e","trajectory":[],"history":[{"role":"user","content":"go"},)";
    const std::string tail = R"("info":{"model_stats":{"tokens_sent":1000,"tokens_received":9}}})";
    const std::string reply = R"({"role":"assistant","content":"done"}],)";
    write_text(dir / "a.traj", head + reply + tail);
    std::filesystem::create_directories(dir.path() / "copy");
    write_text(dir / "copy/b.traj", json::parse(head + reply + tail).dump(2));
    write_text(dir / "c.traj", head + R"({"role":"assistant","content":"done!"}],)" + tail);
    const json shown = json_of_scan(dir, ". --bill");
    CHECK(shown["total"]["sessions"] == 2);
    CHECK(shown["total"]["billed"]["input_tokens"] == 2'000);
    CHECK(shown["copied_sessions"] == 1);
}

TEST_CASE("a session of Gemini CLI as an old document and as new lines is billed once", "[apps]") {
    const TempDir dir;
    const auto message = [](const std::string& id, const std::string& type, const std::string& text,
                            const std::string& rest) {
        return R"({"id":")" + id + R"(","timestamp":"2026-05-05T08:00:0)" + id + R"(.000Z","type":")" + type +
               R"(","content":")" + text + "\"" + rest + "}";
    };
    const auto tokens = [](int input) {
        return R"(,"model":"gemini-x","tokens":{"input":)" + std::to_string(input) +
               R"(,"output":7,"cached":0,"thoughts":0,"tool":0,"total":)" + std::to_string(input + 7) + "}";
    };
    const std::string head =
        R"("sessionId":"g-1","projectHash":"p","startTime":"2026-05-05T08:00:00.000Z","lastUpdated":"2026-05-05T08:00:00.000Z")";
    const std::vector<std::string> messages{message("1", "user", "go", ""), message("2", "gemini", "Yes.", tokens(100)),
                                            message("3", "user", "more", ""),
                                            message("4", "gemini", "No.", tokens(200))};
    write_text(dir / "session-1.json", "{" + head + R"(,"messages":[)" + messages[0] + "," + messages[1] + "]}");
    std::string lines = "{" + head + "}\n";
    for (const std::string& line : messages) lines += line + "\n";
    write_text(dir / "session-1.jsonl", lines);
    const json shown = json_of_scan(dir, "session-1.json session-1.jsonl");
    CHECK(shown["total"]["sessions"] == 1);
    CHECK(shown["total"]["billed_calls"] == 2);
    CHECK(shown["total"]["billed"]["input_tokens"] == 300);
    // The same numbers in a session of another id are other calls.
    std::string other = lines;
    for (std::size_t at = other.find("g-1"); at != std::string::npos; at = other.find("g-1", at))
        other.replace(at, 3, "g-2");
    write_text(dir / "session-2.jsonl", other);
    CHECK(json_of_scan(dir, ". --bill")["total"]["billed_calls"] == 4);
}

TEST_CASE("a session that comes through a pipe is scanned as one of a file is", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {first_reply, second_reply}));
    const json file = json_of_scan(dir, "a.jsonl");
    const json piped = json_of_scan(dir, "- < a.jsonl");
    CHECK(piped["strategies"] == file["strategies"]);
    CHECK(piped["total"] == file["total"]);
    CHECK(json_of_scan(dir, "- --bill < a.jsonl")["total"]["billed"] == file["total"]["billed"]);
}
