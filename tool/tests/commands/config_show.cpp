#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

TEST_CASE("config show prints a preset as the configuration that it is, which replay takes", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 30, 4'000));
    const CliResult shown = run_cli(dir, "config show --preset recommended --window 16000 --cache openai");
    CHECK(shown.exit_code == 0);
    CHECK(shown.err.empty());
    const json chain = json::parse(shown.out);
    CHECK(chain["profile"] == json({{"context_window", 16000}, {"cache", "openai"}}));
    CHECK(chain["middlewares"][0]["type"] == "trimming");
    write_text(dir / "chain.json", shown.out);
    const CliResult by_file = run_cli(dir, "replay s.jsonl --config chain.json --json");
    const CliResult by_name = run_cli(dir, "replay s.jsonl --preset recommended --window 16000 --cache openai --json");
    CHECK(by_file.exit_code == 0);
    CHECK(by_file.out == by_name.out);
    CHECK(json::parse(by_file.out)["total"]["commits"] > 0);
}

TEST_CASE("config show writes out the preset of a file, from standard input too", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"preset": "cheap", "middlewares": [{"type": "trimming", "keep_rounds": 2}]})");
    const CliResult shown = run_cli(dir, "config show chain.json");
    CHECK(json::parse(shown.out)["middlewares"][0]["keep_rounds"] == 2);
    CHECK(run_cli(dir, "config show - < chain.json").out == shown.out);
}

TEST_CASE("config show and commands that take a chain name what is missing or unknown", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 2, 100));
    write_text(dir / "bad.json", R"({"preset": "best"})");
    CHECK(run_cli(dir, "config show").exit_code == 2);
    CHECK(run_cli(dir, "config").exit_code == 2);
    const CliResult unknown = run_cli(dir, "config show bad.json");
    CHECK(unknown.exit_code == 2);
    CHECK(unknown.err.find("bad.json:1:2: preset: unknown preset \"best\"") != std::string::npos);
    const CliResult none = run_cli(dir, "replay s.jsonl");
    CHECK(none.exit_code == 2);
    CHECK(none.err.find("--config CHAIN.json or --preset NAME") != std::string::npos);
    CHECK(run_cli(dir, "replay s.jsonl --config bad.json --preset cheap").exit_code == 2);
    CHECK(run_cli(dir, "replay s.jsonl --window 9000 --config bad.json").exit_code == 2);
}

TEST_CASE("compare has presets beside simple strategies, and only those that are named if some are", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 30, 4'000));
    const auto names = [&](const std::string& arguments) {
        std::vector<std::string> found;
        const json comparison = json::parse(run_cli(dir, "compare s.jsonl --json " + arguments).out);
        for (const json& one : comparison["strategies"]) found.push_back(one["name"]);
        return found;
    };
    const auto all = names("");
    CHECK(all.front() == "noop");
    CHECK(std::vector(all.end() - 3, all.end()) == std::vector<std::string>{"recommended", "lossless", "cheap"});
    CHECK(names("--strategy noop") == std::vector<std::string>{"noop"});
    CHECK(names("--strategy noop --preset local") == std::vector<std::string>{"noop", "local"});
}

TEST_CASE("every preset runs through recorded sessions at a small window without a failed stage", "[apps]") {
    const std::filesystem::path sessions = WHITTLE_DATA_DIR "/trajectories/coding_pi_auth_go.jsonl";
    if (!std::filesystem::exists(sessions)) SKIP_WITH_MESSAGE("no recorded sessions at " + sessions.string());
    const TempDir dir;
    for (const char* preset : {"recommended", "lossless", "local", "cheap"}) {
        CAPTURE(preset);
        const CliResult result =
            run_cli(dir, "replay '" + sessions.string() + "' --preset " + preset + " --window 16000 --json");
        CHECK(result.exit_code == 0);
        CHECK(json::parse(result.out)["total"]["failed_hooks"] == 0);
    }
}
