// One session under one preset and one cache costs the same share of everything in `scan`, `replay` and `compare`.
#include "cli.hpp"
#include "support/catch.hpp"
#include "support/soak.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

/// C* / C0 by session; those of one id in order.
using Ratios = std::map<std::string, std::vector<double>>;

double quotient(double part, double whole) { return whole > 0 ? part / whole : 1.0; }

Ratios of_replay(const TempDir& dir, const std::string& file) {
    const CliResult result = run_cli(dir, "replay '" + file + "' --preset recommended --json");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    Ratios ratios;
    const json shown = json::parse(result.out);
    for (const json& session : shown.at("trajectories"))
        ratios[session.at("trajectory")].push_back(
            quotient(session["cost"]["with_refetches"], session["cost"]["everything"]));
    return ratios;
}

Ratios of_compare(const TempDir& dir, const std::string& file) {
    const CliResult result =
        run_cli(dir, "compare '" + file + "' --preset recommended --strategy noop --profile billed --json --sessions");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    Ratios ratios;
    const json shown = json::parse(result.out);
    for (const json& session : shown.at("strategies").at(1).at("sessions")) {
        const json& money = session.at("money").at("billed");
        ratios[session.at("session")].push_back(quotient(money["with_refetches"], money["everything"]));
    }
    return ratios;
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool is_quoted = false;
    for (const char c : line) {
        if (c == '"') is_quoted = !is_quoted;
        if (c == ',' && !is_quoted) {
            cells.emplace_back();
        } else if (c != '"') {
            cells.back() += c;
        }
    }
    return cells;
}

Ratios of_scan(const TempDir& dir, const std::string& file) {
    const CliResult result = run_cli(dir, "scan '" + file + "' --csv --no-mask");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> names = cells_of(line);
    const auto column = [&](const char* name) {
        return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    };
    Ratios ratios;
    while (std::getline(lines, line)) {
        const std::vector<std::string> cells = cells_of(line);
        const double everything = std::stod(cells.at(column("cost_everything_sent")));
        if (everything == 0) continue;  // a bill without messages
        ratios[cells.at(column("session"))].push_back(
            quotient(std::stod(cells.at(column("cost_with_refetches_recommended"))), everything));
    }
    return ratios;
}

void check_same(const Ratios& a, const Ratios& b, double tolerance) {
    REQUIRE(a.size() == b.size());
    for (const auto& [session, ratios] : a) {
        CAPTURE(session);
        REQUIRE(b.contains(session));
        REQUIRE(b.at(session).size() == ratios.size());
        for (std::size_t i = 0; i < ratios.size(); ++i) CHECK(std::abs(ratios[i] - b.at(session)[i]) <= tolerance);
    }
}

void check_file(const TempDir& dir, const std::string& file) {
    CAPTURE(file);
    const Ratios replayed = of_replay(dir, file);
    check_same(replayed, of_compare(dir, file), 1e-9);
    check_same(replayed, of_scan(dir, file), 1e-4);  // CSV has tenths of tokens
}

/// Rounds of a read of 4,000 bytes, billed with `front` tokens in front of the messages.
std::string billed_session(int rounds, int front) {
    json session = json::parse(session_line("billed", rounds, 4'000));
    json usage = json::array();
    for (int call = 0; call <= rounds; ++call) {
        const int sent = 4 + call * 1'003;
        usage.push_back(
            {1 + 2 * call, 1, call == 0 ? front + sent - 1 : 1'003, call == 0 ? 0 : front + sent - 1'003, 5});
    }
    session["meta"]["usage"] = usage;
    return session.dump() + "\n";
}

json cost_in(const TempDir& dir, const std::string& arguments) {
    const CliResult result = run_cli(dir, arguments + " --json");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
}

}  // namespace

TEST_CASE("a recorded session costs the same share in scan, replay and compare", "[apps][data]") {
    const std::filesystem::path folder = std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories";
    if (!std::filesystem::exists(folder)) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const TempDir dir;
    const std::uintmax_t most = is_soak() ? UINTMAX_MAX : 1'000'000;  // bytes of a file
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".jsonl" || file.file_size() > most) continue;
        check_file(dir, file.path().string());
        ++files;
    }
    CHECK(files > 2);
}

TEST_CASE("a log of an agent costs the same share in scan, replay and compare", "[apps]") {
    const TempDir dir;
    for (const char* log : {"claude_code.jsonl", "codex.jsonl", "gemini_cli.json"})
        check_file(dir, std::string(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/") + log);
}

TEST_CASE("what the first call was billed beyond its messages is paid with every call", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", billed_session(12, 15'000));
    const json cost = cost_in(dir, "replay s.jsonl --preset recommended")["total"]["cost"];
    CHECK(cost["front"]["sessions"] == 1);
    CHECK(std::abs(cost["front"]["median_tokens"].get<int>() - 15'000) < 50);
    const auto c0 = [&](const std::string& front) {
        const json shown =
            cost_in(dir, "compare s.jsonl --strategy noop --profile anthropic_5m --sessions --front " + front);
        return shown["strategies"][0]["sessions"][0]["money"]["anthropic_5m"]["everything"].get<double>();
    };
    CHECK(std::abs(c0("recorded") - cost["everything"].get<double>()) < 1);
    // 13 calls: once written, then read.
    CHECK(std::abs(c0("recorded") - c0("0") - 15'000 * (1.25 + 12 * 0.1)) < 2'000);
    CHECK(std::abs(c0("15000") - c0("recorded")) < 100);
    CHECK(c0("33%") > c0("0"));
    CHECK(run_cli(dir, "compare s.jsonl --front half").exit_code == 2);
    check_file(dir, (dir / "s.jsonl"));
}

TEST_CASE("the cache comes from the choice, the bill or the model, and what is assumed is said", "[apps]") {
    const TempDir dir;
    write_text(dir / "billed.jsonl", billed_session(3, 5'000));
    write_text(dir / "unknown.jsonl", session_line("unknown", 3, 400));
    json named = json::parse(session_line("named", 3, 400));
    named["meta"]["model"] = "gpt-5";
    write_text(dir / "named.jsonl", named.dump() + "\n");
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}})");
    write_text(dir / "own.json", R"({"storage": {"type": "memory"}, "profile": {"cache": "no_cache"}})");
    const auto cache = [&](const std::string& arguments) {
        const json caches = cost_in(dir, "replay " + arguments)["total"]["cost"]["caches"];
        REQUIRE(caches.size() == 1);
        return caches[0]["cache"].get<std::string>() + " by " + caches[0]["from"].get<std::string>();
    };
    CHECK(cache("billed.jsonl --preset recommended") == "anthropic_5m by bill");
    CHECK(cache("billed.jsonl --config chain.json") == "anthropic_5m by bill");
    CHECK(cache("billed.jsonl --config own.json") == "no_cache by choice");
    CHECK(cache("billed.jsonl --preset recommended --cache openai") == "openai by choice");
    CHECK(cache("named.jsonl --preset recommended") == "openai by model");
    CHECK(cache("unknown.jsonl --preset recommended") == "anthropic_5m by assumed");
    const std::string text = run_cli(dir, "replay unknown.jsonl --preset recommended").out;
    CHECK(has(text, "anthropic_5m (assumed, since nothing says it"));
    CHECK(has(text, "in front of the messages of 1 session: what is recorded"));
    for (const char* command : {"compare unknown.jsonl --strategy noop", "scan unknown.jsonl"})
        CHECK(has(run_cli(dir, command).out, "assumed, since nothing says it"));
}

TEST_CASE("edits possible are those that edit_ready.py counts from the requests", "[apps][data]") {
    const std::filesystem::path judge = std::filesystem::path(WHITTLE_JUDGE).parent_path() / "edit_ready.py";
    const std::filesystem::path folder = std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories";
    if (!std::filesystem::exists(judge) || !std::filesystem::exists(folder) ||
        std::system("python3 --version > /dev/null 2>&1") != 0)
        SKIP_WITH_MESSAGE("there are no recorded trajectories, no edit_ready.py or no Python here");
    const std::uintmax_t most = is_soak() ? UINTMAX_MAX : 600'000;  // bytes of a file
    std::string command = "python3 '" WHITTLE_SOURCE_DIR "/tool/tests/commands/edits_possible.py' '" WHITTLE_CLI "' '" +
                          judge.string() + "'";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().filename().string().starts_with("coding_") && file.file_size() <= most)
            command += " '" + file.path().string() + "'";
    }
    const TempDir dir;
    const int status = std::system((command + " > '" + (dir / "out") + "' 2>&1").c_str());
    INFO(read_text(dir / "out"));
    CHECK(status == 0);
}
