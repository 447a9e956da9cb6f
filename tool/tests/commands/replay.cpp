#include "cli.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

std::vector<json> lines_of(const std::string& text) {
    std::vector<json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
}

}  // namespace

TEST_CASE("replay --json gives the figures of each session and of all", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 10, 4'000) + session_line("b", 1, 100));
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --json");
    REQUIRE(result.exit_code == 0);
    const json shown = json::parse(result.out);
    CHECK(shown["total"]["cost"]["caches"] ==
          json::parse(R"([{"cache":"anthropic_5m","from":"choice","sessions":2}])"));
    CHECK(shown["counter"] == "chars/4");
    REQUIRE(shown["trajectories"].size() == 2);
    const json& a = shown["trajectories"][0];
    CHECK(a["trajectory"] == "a");
    CHECK(a["file"] == "s.jsonl");
    CHECK(a["calls"] == 11);
    CHECK(a["raw"]["peak_tokens"] == 2 + 10 * 1'001);
    CHECK(a["raw"]["calls_over_window"] == 2);
    CHECK(a["sent"]["peak_tokens"] < 4'000);
    CHECK(a["sent"]["resets"] == a["commits"]);
    CHECK(a["ratio"]["input_tokens"] < 0.6);
    CHECK(a["edits"]["clear"] > 0);
    CHECK(a["restorable"] == 1.0);
    CHECK(a["violations"] == 0);
    for (const char* side : {"raw", "sent"}) {
        const json& s = a[side];
        CHECK(s["cached_tokens"].get<int>() + s["written_tokens"].get<int>() + s["uncached_tokens"].get<int>() ==
              s["input_tokens"]);
    }
    const json& cost = a["cost"];
    CHECK(cost["with_refetches"] >= cost["sent"]);
    CHECK(cost["sent"] < cost["everything"]);
    CHECK(std::abs(cost["money"]["everything"].get<double>() - cost["everything"].get<double>() * 2e-6) < 1e-12);
    CHECK(std::abs(cost["money"]["sent"].get<double>() - cost["with_refetches"].get<double>() * 2e-6) < 1e-12);
    CHECK(shown["total"]["trajectories"] == 2);
    CHECK(shown["total"]["calls"] == 13);
    CHECK(shown["total"]["raw"]["input_tokens"] ==
          a["raw"]["input_tokens"].get<int>() + shown["trajectories"][1]["raw"]["input_tokens"].get<int>());
}

TEST_CASE("without prices there is no money", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"profile": {"cache": "openai"}})");
    write_text(dir / "s.jsonl", session_line("a", 2, 100));
    const json shown = json::parse(run_cli(dir, "replay s.jsonl --config chain.json --json --totals").out);
    CHECK_FALSE(shown["total"]["cost"].contains("money"));
    CHECK_FALSE(shown.contains("trajectories"));
    CHECK(run_cli(dir, "replay s.jsonl --config chain.json").out.find("money") == std::string::npos);
}

TEST_CASE("the text of a replay has aligned columns and a total", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "one.jsonl", session_line("a", 40, 4'000));
    write_text(dir / "two.jsonl", session_line("b", 1, 100));
    const CliResult result = run_cli(dir, "replay one.jsonl two.jsonl --config chain.json");
    REQUIRE(result.exit_code == 0);
    std::istringstream in(result.out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line) && !line.empty();) lines.push_back(line);
    REQUIRE(lines.size() == 7);  // header, a, = one, b, = two, rule, total
    CHECK(lines[0].starts_with("session"));
    CHECK(lines[1].starts_with("a "));
    CHECK(lines[2].starts_with("= one.jsonl"));
    CHECK(lines[6].starts_with("total of 2"));
    for (const std::string& line : lines) CHECK(line.size() == lines[0].size());
    CHECK(lines[6].find(",") != std::string::npos);
    CHECK(result.out.find("removed bytes that can be restored: 100.0 % of ") != std::string::npos);
}

TEST_CASE("requests are exactly what is sent, one line per call", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 6, 4'000) + session_line("b", 2, 10));
    REQUIRE(run_cli(dir, "replay s.jsonl --config chain.json --requests out.jsonl").exit_code == 0);
    const auto lines = lines_of(read_text(dir / "out.jsonl"));
    REQUIRE(lines.size() == 7 + 3);
    CHECK(lines[0]["trajectory"] == "a");
    CHECK(lines[0]["call"] == 0);
    CHECK(lines[0]["messages"] == json::parse(R"([{"role":"user","content":"go"}])"));
    CHECK(lines[0]["tokens"] == 2);
    CHECK(lines[0]["first_changed"].is_null());
    CHECK(lines[2]["messages"].size() == 5);
    CHECK(lines[2]["messages"][2]["content"] == std::string(4'000, 'a'));
    CHECK(lines[3]["first_changed"] == 2);
    CHECK(lines[3]["messages"][2]["content"].get<std::string>().starts_with("[Old read result cleared: 4000 bytes"));
    CHECK(lines[3]["tokens"] < lines[3]["tokens_raw"]);
    CHECK(lines[7]["trajectory"] == "b");
    CHECK(lines[7]["call"] == 0);
}

TEST_CASE("delta lines rebuild the full requests", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 12, 3'000) + session_line("b", 7, 2'000));
    REQUIRE(run_cli(dir, "replay s.jsonl --config chain.json --requests full.jsonl").exit_code == 0);
    REQUIRE(run_cli(dir, "replay s.jsonl --config chain.json --requests delta.jsonl --delta").exit_code == 0);
    const auto full = lines_of(read_text(dir / "full.jsonl"));
    const auto delta = lines_of(read_text(dir / "delta.jsonl"));
    REQUIRE(full.size() == delta.size());
    std::map<std::string, json> requests;
    for (std::size_t i = 0; i < full.size(); ++i) {
        CAPTURE(i);
        json& request = requests[delta[i]["trajectory"]];
        json rebuilt = json::array();
        for (std::size_t m = 0; m < delta[i]["keep"]; ++m) rebuilt.push_back(request.at(m));
        for (const json& m : delta[i]["messages"]) rebuilt.push_back(m);
        request = rebuilt;
        CHECK(rebuilt == full[i]["messages"]);
        CHECK_FALSE(full[i].contains("keep"));
        CHECK(delta[i]["tokens"] == full[i]["tokens"]);
        CHECK(delta[i]["first_changed"] == full[i]["first_changed"]);
    }
    CHECK(std::filesystem::file_size(dir / "delta.jsonl") < std::filesystem::file_size(dir / "full.jsonl") / 2);
}

TEST_CASE("replay draws the requests of one session, with and without the chain", "[apps]") {
    const TempDir dir;
    const std::string name = "a<b&\"c.json";
    write_text(dir / name, clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000));
    write_text(dir / "two.jsonl", session_line("a", 8, 4'000) + session_line("b", 8, 4'000));
    const std::string arguments = "replay s.jsonl --config 'a<b&\"c.json' ";
    const CliResult result = run_cli(dir, arguments + "--svg chart.svg --json");
    REQUIRE(result.exit_code == 0);
    const std::string chart = read_text(dir / "chart.svg");
    CHECK(chart.starts_with("<svg xmlns="));
    CHECK(has(chart, "a&#60;b&#38;&#34;c.json"));
    CHECK(has(chart, fmt::format("{} calls, ", json::parse(result.out)["total"]["calls"].get<int>())));
    for (const char* none : {"<script", "href", "onload", "nan", "inf"}) CHECK_FALSE(has(chart, none));
    const CliResult on_output = run_cli(dir, arguments + "--svg -");
    CHECK(on_output.out == chart);
    CHECK(has(on_output.err, "total of 1"));
    CHECK(run_cli(dir, arguments + "--svg s.jsonl").exit_code == 2);
    CHECK(run_cli(dir, arguments + "--svg - --requests -").exit_code == 2);
    const CliResult several = run_cli(dir, "replay two.jsonl --preset recommended --svg several.svg");
    CHECK(several.exit_code == 2);
    CHECK(has(several.err, "--svg draws one session"));
    CHECK_FALSE(std::filesystem::exists(dir / "several.svg"));
}

TEST_CASE("standard input, standard output and gzip work on both sides", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 6, 4'000));
    const std::string plain = run_cli(dir, "replay s.jsonl --config chain.json --requests -").out;
    CHECK(lines_of(plain).size() == 7);
    CHECK(run_cli(dir, "replay - --config chain.json --requests - < s.jsonl").out == plain);
    CHECK(run_cli(dir, "replay s.jsonl --config chain.json --requests -").err.find("total of 1") != std::string::npos);
    if (std::system("command -v gzip > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no gzip here");
    REQUIRE(std::system(("cd '" + dir.path().string() + "' && gzip -k s.jsonl && cat s.jsonl.gz s.jsonl.gz > twice.gz")
                            .c_str()) == 0);
    const CliResult packed = run_cli(dir, "replay s.jsonl.gz --config chain.json --requests out.jsonl.gz");
    if (packed.err.find("without zlib") != std::string::npos) SKIP_WITH_MESSAGE("built without zlib");
    REQUIRE(packed.exit_code == 0);
    REQUIRE(std::system(("cd '" + dir.path().string() + "' && gzip -dk out.jsonl.gz").c_str()) == 0);
    CHECK(read_text(dir / "out.jsonl") == plain);
    CHECK(run_cli(dir, "check twice.gz").out.starts_with("2 sessions"));
    std::filesystem::resize_file(dir / "s.jsonl.gz", std::filesystem::file_size(dir / "s.jsonl.gz") - 12);
    const CliResult cut = run_cli(dir, "check s.jsonl.gz");
    CHECK(cut.exit_code == 1);
    CHECK(cut.err.find("s.jsonl.gz: packed byte") != std::string::npos);
}

TEST_CASE("check prints each violation with rule, session, message and sentence", "[apps]") {
    const TempDir dir;
    write_text(dir / "good.jsonl", session_line("a", 2, 10));
    write_text(
        dir / "bad.jsonl",
        session_line("a", 1, 10) +
            R"({"id":"b","messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"zzz","content":"y"}]})" +
            "\n");
    const CliResult good = run_cli(dir, "check good.jsonl --profile openai_chat");
    CHECK(good.exit_code == 0);
    CHECK(good.out == "1 session checked for openai_chat: no violation\n");
    const CliResult bad = run_cli(dir, "check good.jsonl bad.jsonl");
    CHECK(bad.exit_code == 1);
    CHECK(bad.out.find("bad.jsonl: b: message 1 part 0: G2 (refused): ") != std::string::npos);
    CHECK(bad.out.find("zzz") != std::string::npos);
    const json shown = json::parse(run_cli(dir, "check bad.jsonl --json").out);
    CHECK(shown["violations"] == shown["violation_list"].size());
    CHECK(shown["violation_list"][0]["trajectory"] == "b");
    CHECK(shown["violation_list"][0]["message"] == 1);
    CHECK(shown["trajectories"] == 2);
}
