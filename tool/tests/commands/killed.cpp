// `apply` is killed at each step that changes a file, and what runs next is killed too: a library that is preloaded
// counts the steps (tests/support/kill_at_step.cpp).
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

const std::string killed_chain = R"({"storage": {"type": "memory"}, "middlewares": [
  {"type": "reduction", "skip_truncation": true, "max_tokens_for_clear": 3000}]})";

const std::string apply_in_place = "apply --config chain.json --in talk.json --out talk.json";

constexpr int most_steps = 60;  // far more than a run of `apply` has

/// A conversation and its side table, which is empty if there is none.
struct Turn {
    std::string talk{};
    std::string table{};
};

void put(const TempDir& dir, const Turn& turn) {
    std::filesystem::remove(dir / "talk.json.whittle.json");
    write_text(dir / "talk.json", turn.talk);
    if (!turn.table.empty()) write_text(dir / "talk.json.whittle.json", turn.table);
}

Turn taken_from(const TempDir& dir) {
    return {read_text(dir / "talk.json"), read_text(dir / "talk.json.whittle.json")};
}

/// The conversation as its host continues it: two more rounds.
Turn continued(Turn turn) {
    ordered_json talk = ordered_json::parse(turn.talk);
    const ordered_json more = ordered_json::parse(session_line("more", 2, 4'000));
    for (std::size_t i = 1; i < 5; ++i) {
        ordered_json message = more["messages"][i];
        const std::string id = "n" + std::to_string(talk["messages"].size() / 2 * 2);  // of a call and its result
        if (message.contains("tool_call_id")) message["tool_call_id"] = id;
        if (message.contains("tool_calls")) message["tool_calls"][0]["id"] = id;
        talk["messages"].push_back(message);
    }
    turn.talk = talk.dump() + "\n";
    return turn;
}

/// Runs `apply`, which gets `signal` at its step number `step`. True if it came so far.
bool is_ended(const TempDir& dir, int step, int signal) {
    const std::string variables = "LD_PRELOAD='" WHITTLE_KILL_AT_STEP "' WHITTLE_KILL_AT=" + std::to_string(step) +
                                  " WHITTLE_KILL_WITH=" + std::to_string(signal);
    const CliResult result =
        run_cli(dir, "--version > /dev/null; " + variables + " '" WHITTLE_CLI "' " + apply_in_place);
    if (result.exit_code == 128 + signal) return true;
    CAPTURE(step, result.err);
    REQUIRE(result.exit_code == 0);
    return false;
}

std::vector<std::string> hidden_files(const TempDir& dir) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
        if (entry.path().filename().string().starts_with('.')) names.push_back(entry.path().filename().string());
    }
    return names;
}

std::size_t journal_size(const std::string& table) { return ordered_json::parse(table)["journal"].size(); }

/// The next run ends with what an undisturbed one writes, knows its marks, and leaves nothing beside it.
void check_next_run(const TempDir& dir, const Turn& expected) {
    const CliResult next = run_cli(dir, apply_in_place);
    CAPTURE(next.err);
    REQUIRE(next.exit_code == 0);
    const Turn now = taken_from(dir);
    CHECK(now.talk == expected.talk);
    CHECK(journal_size(now.table) == journal_size(expected.table));
    CHECK(hidden_files(dir).empty());
}

struct Scenario {
    std::string name{};
    Turn before{};
    Turn after{};
};

/// The first run has no side table to read, the second one goes on with the first one's.
std::vector<Scenario> scenarios(const TempDir& dir) {
    write_text(dir / "chain.json", killed_chain);
    std::vector<Scenario> all;
    Turn before{session_line("talk", 5, 4'000), {}};
    for (const std::string name : {"first run", "second run"}) {
        put(dir, before);
        REQUIRE(run_cli(dir, apply_in_place).exit_code == 0);
        all.push_back({name, before, taken_from(dir)});
        before = continued(all.back().after);
    }
    return all;
}

}  // namespace

TEST_CASE("apply killed at any step leaves the old conversation or the new one, and the next run goes on", "[apps]") {
    if (std::string_view(WHITTLE_KILL_AT_STEP).empty()) SKIP_WITH_MESSAGE("this build takes no preloaded library");
    const TempDir dir;
    for (const Scenario& scenario : scenarios(dir)) {
        int step = 1;
        for (put(dir, scenario.before); step < most_steps && is_ended(dir, step, SIGKILL); ++step) {
            CAPTURE(scenario.name, step);
            const std::string talk = read_text(dir / "talk.json");
            CHECK((talk == scenario.before.talk || talk == scenario.after.talk));
            check_next_run(dir, scenario.after);
            put(dir, scenario.before);
        }
        CAPTURE(scenario.name, step);
        CHECK((step > 10 && step < most_steps));
    }
}

TEST_CASE("a host may go on with its conversation after apply was killed at any step", "[apps]") {
    if (std::string_view(WHITTLE_KILL_AT_STEP).empty()) SKIP_WITH_MESSAGE("this build takes no preloaded library");
    const TempDir dir;
    for (const Scenario& scenario : scenarios(dir)) {
        int step = 1;
        for (put(dir, scenario.before); step < most_steps && is_ended(dir, step, SIGKILL); ++step) {
            CAPTURE(scenario.name, step);
            write_text(dir / "talk.json", continued(taken_from(dir)).talk);
            const CliResult next = run_cli(dir, apply_in_place);
            CAPTURE(next.err);
            CHECK(next.exit_code == 0);
            CHECK(hidden_files(dir).empty());
            put(dir, scenario.before);
        }
        CHECK(step > 10);
    }
}

TEST_CASE("apply killed once more while it mends what a kill left still loses nothing", "[apps]") {
    if (std::string_view(WHITTLE_KILL_AT_STEP).empty()) SKIP_WITH_MESSAGE("this build takes no preloaded library");
    const TempDir dir;
    for (const Scenario& scenario : scenarios(dir)) {
        bool is_far_enough = true;
        for (int first = 1; first < most_steps && is_far_enough; first += 3) {
            for (int second = 1 + first % 4; second < most_steps; second += 4) {
                CAPTURE(scenario.name, first, second);
                put(dir, scenario.before);
                is_far_enough = is_ended(dir, first, SIGKILL);
                if (!is_far_enough || !is_ended(dir, second, SIGKILL)) break;
                const std::string talk = read_text(dir / "talk.json");
                CHECK((talk == scenario.before.talk || talk == scenario.after.talk));
                check_next_run(dir, scenario.after);
            }
        }
    }
}

TEST_CASE("apply that gets a signal at any step leaves whole files and nothing beside them", "[apps]") {
    if (std::string_view(WHITTLE_KILL_AT_STEP).empty()) SKIP_WITH_MESSAGE("this build takes no preloaded library");
    const TempDir dir;
    for (const Scenario& scenario : scenarios(dir)) {
        for (int step = 1; step < most_steps; ++step) {
            CAPTURE(scenario.name, step);
            put(dir, scenario.before);
            const bool came = is_ended(dir, step, SIGTERM);
            const Turn now = taken_from(dir);
            const Turn& whole = now.talk == scenario.before.talk ? scenario.before : scenario.after;
            CHECK(now.talk == whole.talk);
            CHECK(now.table.empty() == whole.table.empty());
            if (!now.table.empty()) CHECK(journal_size(now.table) == journal_size(whole.table));
            CHECK(hidden_files(dir).empty());
            if (!came && step > 20) break;  // a signal between two looks lets the run finish
        }
    }
}
