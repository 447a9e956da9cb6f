#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

std::vector<std::string> lines_in(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

const json& strategy_in(const json& comparison, const std::string& name) {
    const auto& all = comparison.at("strategies");
    const auto found = std::ranges::find_if(all, [&](const json& one) { return one.at("name") == name; });
    REQUIRE(found != all.end());
    return *found;
}

/// The first stratum: all sessions.
const json& all_of(const json& comparison, const std::string& name) {
    return strategy_in(comparison, name).at("strata").at(0);
}

}  // namespace

TEST_CASE("compare shows simple strategies and configurations side by side, in 100 columns", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000) + session_line("b", 3, 300));
    for (const std::string all : {"", " --all"}) {
        const CliResult result = run_cli(dir, "compare s.jsonl --config chain.json --config ./chain.json" + all);
        CHECK(result.exit_code == 0);
        CHECK(result.err.empty());
        CHECK(has(result.out, all.empty() ? "2 sessions, 13 calls; 17 strategies, the cheapest first\n"
                                          : "all: 2 sessions, 13 calls, prices: billed\n"));
        for (const char* name : {"noop ", "mask10_step25 ", "window20 ", "chain.json ", ":chain.json "})
            CHECK(has(result.out, name));
        CHECK(has(result.out, "was run again"));
        for (const std::string& line : lines_in(result.out)) {
            CAPTURE(line);
            CHECK(line.size() <= 100);
        }
    }
    CHECK_FALSE(std::filesystem::exists(dir / "store"));
}

TEST_CASE("the first screen of compare has the cheapest strategy first, and says which one to take", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 40, 4'000));
    const CliResult result = run_cli(dir, "--version > version; COLUMNS=80 '" WHITTLE_CLI "' compare s.jsonl");
    REQUIRE(result.exit_code == 0);
    CAPTURE(result.out);
    const auto lines = lines_in(result.out);
    CHECK(lines.front() == "1 session, 41 calls; 15 strategies, the cheapest first");
    const auto end_of_screen =
        std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("tokens ratio: "); });
    CHECK(end_of_screen - lines.begin() <= 28);
    std::vector<double> costs;
    for (const std::string& line : lines) {
        std::istringstream cells(line);
        std::string name;
        double tokens = 0;
        double cost = 0;
        if (cells >> name >> tokens >> cost) costs.push_back(cost);
    }
    REQUIRE(costs.size() == 15);
    CHECK(std::ranges::is_sorted(costs));
    CHECK(has(result.out, "\nCheapest: "));
    for (const char* word :
         {"\ncost ratio: ", "\nedits possible: ", "\nneeded: ", "\nnoop: ", "\nwindow20: ", "\n--all: "})
        CHECK(has(result.out, word));
    CHECK_FALSE(has(result.out, "costlier"));  // of one session
}

TEST_CASE("compare --all prints no table twice where one size of sessions is all there is", "[apps]") {
    const TempDir dir;
    write_text(dir / "one.jsonl", session_line("a", 8, 4'000));
    write_text(dir / "two.jsonl", session_line("a", 8, 4'000) + session_line("b", 40, 4'000));
    const std::string one = run_cli(dir, "compare one.jsonl --strategy noop --all").out;
    CHECK(has(one, "all: 1 session, 9 calls, prices: billed\n"));
    CHECK_FALSE(has(one, "under 20k"));
    const std::string two = run_cli(dir, "compare two.jsonl --strategy noop --all").out;
    CHECK(has(two, "\nunder 20k: 1 session, 9 calls, prices: billed\n"));
    CHECK(has(two, "\n20k-100k: 1 session, 41 calls, prices: billed\n"));
}

TEST_CASE("compare as JSON has every figure of every stratum, and single sessions if they are wanted", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000));
    const std::string arguments = "compare s.jsonl --config chain.json --strategy noop --strategy mask2 --json";
    const json shown = json::parse(run_cli(dir, arguments).out);
    CHECK(shown["model_was_rerun"] == false);
    CHECK(shown["profiles"] == json({"billed", "anthropic_5m", "openai", "openai_2026", "no_cache"}));
    CHECK(shown["strategies"].size() == 3);
    CHECK(all_of(shown, "noop")["tokens"]["pooled"] == 1.0);
    CHECK(all_of(shown, "noop")["money"]["openai"]["with_refetches"]["median"] == 1.0);
    CHECK(all_of(shown, "mask2")["tokens"]["pooled"] < 0.5);
    CHECK(all_of(shown, "mask2")["resets"] > 0);
    CHECK(all_of(shown, "chain.json")["tokens"]["pooled"] < 1.0);
    CHECK(all_of(shown, "chain.json")["faults"]["messages_not_restorable"] == 0);
    CHECK(all_of(shown, "chain.json")["probes"]["constraint"]["1-10"]["visible"] == 9);
    CHECK_FALSE(strategy_in(shown, "noop").contains("sessions"));
    const json with_sessions = json::parse(run_cli(dir, arguments + " --sessions --profile openai").out);
    CHECK(with_sessions["profiles"] == json({"openai"}));
    CHECK(strategy_in(with_sessions, "mask2")["sessions"][0]["session"] == "a");
    CHECK(strategy_in(with_sessions, "mask2")["sessions"][0]["money"]["openai"]["everything"] > 0);
}

TEST_CASE("compare as CSV has a line for each strategy, group and profile, of the same columns", "[apps]") {
    const TempDir dir;
    write_text(dir / "a, b.jsonl", session_line("a", 8, 4'000));
    const CliResult result = run_cli(dir, "compare 'a, b.jsonl' --strategy noop --strategy mask2 --csv --by-file");
    CHECK(result.exit_code == 0);
    const auto lines = lines_in(result.out);
    REQUIRE(lines.size() == 1 + 2 * 5 * 5);  // all, under 20k, other, under 20k other, the file
    CHECK(lines[0].starts_with("strategy,stratum,profile,sessions,calls,tokens_median"));
    CHECK(lines[1].starts_with("noop,all,billed,1,9,1.000000"));
    CHECK(has(result.out, "mask2,\"a, b.jsonl\",no_cache,1,9,"));
    const auto commas = std::ranges::count(lines[0], ',');
    CHECK(std::ranges::count(lines[1], ',') == commas);
    CHECK(std::ranges::count(lines.back(), ',') == commas + 1);
}

TEST_CASE("compare reads standard input, packed files and both shapes of messages", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000));
    write_text(dir / "chain.json", clearing_chain);
    const std::string options = " --config chain.json --strategy noop --json";
    const json plain = json::parse(run_cli(dir, "compare s.jsonl" + options).out);
    const json piped = json::parse(run_cli(dir, "compare -" + options + " < s.jsonl").out);
    CHECK(piped["strategies"] == plain["strategies"]);
    write_text(dir / "a.jsonl",
               R"({"id":"x","messages":[{"role":"user","content":"go"},
                  {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]},
                  {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"text"}]},
                  {"role":"assistant","content":"done"}]})");
    const json both = json::parse(run_cli(dir, "compare s.jsonl a.jsonl" + options).out);
    CHECK(both["sessions"] == 2);
    CHECK(all_of(both, "chain.json")["calls"] == 11);
    if (std::system("command -v gzip > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no gzip here");
    REQUIRE(std::system(("cd '" + dir.path().string() + "' && gzip -k s.jsonl").c_str()) == 0);
    const CliResult packed = run_cli(dir, "compare s.jsonl.gz" + options);
    if (has(packed.err, "without zlib")) SKIP_WITH_MESSAGE("built without zlib");
    CHECK(json::parse(packed.out)["strategies"] == plain["strategies"]);
}

TEST_CASE("summaries of a configured model are paid for", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000));
    write_text(dir / "chain.json", R"({
      "models": {"m": {"type": "scripted", "replies": ["<summary>Eight files were read, all alike.</summary>"]}},
      "middlewares": [{"type": "summarization", "model": "m", "trigger": {"context_tokens": 4000},
                       "keep_recent_tokens": 1500}]})");
    const CliResult result = run_cli(dir, "compare s.jsonl --config chain.json --strategy noop --json --sessions");
    CHECK(result.err.empty());
    const json session = strategy_in(json::parse(result.out), "chain.json")["sessions"][0];
    CHECK(session["side_calls"] > 0);
    CHECK(session["side_tokens"] > 1'000);
    CHECK(session["tokens"] < session["tokens_raw"]);
}

TEST_CASE("compare ends with code 1 and the reason where the input or a chain is bad", "[apps]") {
    const TempDir dir;
    write_text(dir / "broken.jsonl", "{\"messages\":[{\"role\":1}]}\n");
    const CliResult broken = run_cli(dir, "compare broken.jsonl");
    CHECK(broken.exit_code == 1);
    CHECK(broken.out.empty());
    CHECK(has(broken.err, "broken.jsonl:1: messages[0].role: expected a string"));
    CHECK(run_cli(dir, "compare absent.jsonl").exit_code == 1);
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000));
    write_text(dir / "chain.json", R"({
      "models": {"m": {"type": "scripted", "replies": [{"error": "auth"}]}},
      "middlewares": [{"type": "summarization", "model": "m", "trigger": {"context_tokens": 4000}}]})");
    const CliResult failed = run_cli(dir, "compare s.jsonl --config chain.json --strategy noop");
    CHECK(failed.exit_code == 1);
    CHECK(has(failed.err, "failed: "));
    CHECK(has(failed.out, "chain.json"));
}

TEST_CASE("figures of a chain agree with what the judge says of the requests that replay writes", "[apps][data]") {
    const std::filesystem::path file =
        std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories" / "coding_pi_auth_go.jsonl";
    if (!std::filesystem::exists(file) || !std::filesystem::exists(WHITTLE_JUDGE) ||
        std::system("python3 --version > /dev/null 2>&1") != 0)
        SKIP_WITH_MESSAGE("there are no recorded trajectories, no judge or no Python here");
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "file", "root": "store"}, "middlewares": [
      {"type": "reduction", "max_length_for_trunc": 4000, "max_tokens_for_clear": 30000,
       "clear_target_tokens": 15000, "clear_retention_suffix_limit": 3}]})");
    const std::string quoted = "'" + file.string() + "'";
    REQUIRE(run_cli(dir, "replay " + quoted + " --config chain.json --requests r.jsonl --totals").exit_code == 0);
    REQUIRE(
        std::system(("cd '" + dir.path().string() + "' && python3 '" WHITTLE_JUDGE "' score --jobs 1 --trajectories " +
                     quoted + " --requests r.jsonl --store store --json judged.json > /dev/null")
                        .c_str()) == 0);
    const json judged = json::parse(read_text(dir / "judged.json"))["summary"]["all"];
    const json ours = all_of(
        json::parse(run_cli(dir, "compare " + quoted + " --config chain.json --front 0 --json").out), "chain.json");
    const auto is_near = [](const json& a, const json& b) {
        return std::abs(a.get<double>() - b.get<double>()) <= .005;
    };
    for (const char* profile : {"anthropic_5m", "openai", "openai_2026", "no_cache"}) {
        CAPTURE(profile, ours["money"][profile].dump(), judged[profile].dump());
        CHECK(is_near(ours["money"][profile]["sent"]["median"], judged[profile]["C"]["median"]));
        CHECK(is_near(ours["money"][profile]["sent_strict"]["median"], judged[profile]["C_strict"]["median"]));
        CHECK(is_near(ours["money"][profile]["with_line_refetches"]["median"], judged[profile]["Cstar"]["median"]));
        CHECK(is_near(ours["money"][profile]["hit"], judged[profile]["hit"]));
    }
    CHECK(is_near(ours["tokens"]["pooled"], judged["token_ratio"]["sum"]));
    CHECK(is_near(ours["resets_per_call"], judged["resets_per_call"]));
    CHECK(is_near(ours["newest_shown"], judged["arrival_kept"]));
    for (const char* kind : {"action_id", "action_line", "artifact", "error", "constraint"}) {
        std::string theirs = kind;
        std::ranges::replace(theirs, '_', '-');
        const json& rows = judged["probes"][theirs];
        CAPTURE(kind, ours["probes"][kind].dump(), rows.dump());
        for (const auto& [age, judges_age] : {std::pair{"1-10", "1-10"}, {"11-50", "11-50"}, {"over 50", ">50"}}) {
            const json& count = ours["probes"][kind][age];
            CHECK(count["needed"] == rows[judges_age][0]);
            CHECK(count["visible"] == rows[judges_age][1]);
            CHECK(count["recoverable"] == rows[judges_age][2]);
        }
    }
    CHECK(ours["faults"]["messages_not_restorable"] == 0);
}

TEST_CASE("compare draws a chart without scripts or links, whatever a configuration is called", "[apps]") {
    const TempDir dir;
    const std::string name = "a<b&\"c.json";
    write_text(dir / name, clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 8, 4'000));
    const std::string arguments = "compare s.jsonl --strategy noop --config 'a<b&\"c.json' --svg chart.svg --json";
    const CliResult result = run_cli(dir, arguments);
    REQUIRE(result.exit_code == 0);
    CHECK(json::parse(result.out)["strategies"].size() == 2);
    const std::string chart = read_text(dir / "chart.svg");
    CHECK(chart.starts_with("<svg xmlns="));
    CHECK(has(chart, "a&#60;b&#38;&#34;c.json: C*/C0 "));
    CHECK(has(chart, "all: cost, all sent is 1, billed"));
    for (const char* none : {"<script", "href", "onload", "nan", "inf"}) CHECK_FALSE(has(chart, none));
    CHECK(run_cli(dir, "compare s.jsonl --strategy noop --svg -").out.starts_with("<svg"));
    CHECK(run_cli(dir, "compare s.jsonl --strategy noop --svg - --json").exit_code == 2);
    CHECK(run_cli(dir, "compare s.jsonl --strategy noop --svg s.jsonl").exit_code == 2);
    CHECK(run_cli(dir, "compare s.jsonl --config 'a<b&\"c.json' --svg 'a<b&\"c.json'").exit_code == 2);
}
