#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

TEST_CASE("config check says all problems at once, each with its place, and how many in its last line", "[apps]") {
    const TempDir dir;
    write_text(dir / "bad.json", R"({"limits": {"deadline": 5},
 "middlewares": [{"type": "reduction", "skip_truncation": true, "max_tokens_for_clear": 0}]})");
    const CliResult bad = run_cli(dir, "config check bad.json");
    CHECK(bad.exit_code == 1);
    CHECK(
        bad.out ==
        R"(bad.json:1:13: limits.deadline: unknown key "deadline"; did you mean "deadline_ms"? allowed: model_calls, store_bytes, deadline_ms
bad.json:2:65: middlewares[0].max_tokens_for_clear: found 0, expected an integer, 1 or more
)");
    CHECK(bad.err == "whittle: failed: bad.json: 2 problems\n");
    const json shown = json::parse(run_cli(dir, "config check bad.json --json").out);
    CHECK(shown["good"] == false);
    REQUIRE(shown["problems"].size() == 2);
    CHECK(shown["problems"][1] ==
          json({{"line", 2},
                {"column", 65},
                {"text", "middlewares[0].max_tokens_for_clear: found 0, expected an integer, 1 or more"}}));

    write_text(dir / "cut.json", "{");
    const CliResult cut = run_cli(dir, "config check - < cut.json");
    CHECK(cut.exit_code == 1);
    CHECK(cut.out.starts_with("stdin:1:2: syntax error"));
    CHECK(cut.err == "whittle: failed: stdin: 1 problem\n");
    CHECK(has(run_cli(dir, "config check absent.json").err, "absent.json: No such file"));
    CHECK(run_cli(dir, "config check absent.json").exit_code == 1);
    CHECK(run_cli(dir, "config check").exit_code == 2);
}

TEST_CASE("config check of a good file names its middlewares and warnings, and opens no store", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    const CliResult good = run_cli(dir, "config check chain.json");
    CHECK(good.exit_code == 0);
    CHECK(good.err.empty());
    CHECK(good.out == "chain.json: no problem: reduction\n");
    CHECK(files_in(dir) == std::vector<std::string>{"chain.json"});
    CHECK(run_cli(dir, "config check --preset cheap").out == "--preset cheap: no problem: trimming, reduction\n");
}

TEST_CASE("config show --origins says of every value whether a default, the preset or the file has it", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"preset": "recommended", "profile": {"context_window": 128000},
      "models": {"writer": {"type": "scripted", "replies": ["x"]}},
      "middlewares": [{"type": "trimming", "keep_rounds": 2}, {"type": "token_saving"}]})");
    const CliResult result = run_cli(dir, "config show chain.json --origins --json");
    REQUIRE(result.exit_code == 0);
    std::map<std::string, json> values;
    for (const json& value : json::parse(result.out)) CHECK(values.emplace(value["key"], value).second);
    const auto origin = [&](const std::string& key) { return values.at(key)["origin"]; };
    CHECK(values.at("preset")["value"] == "recommended");
    CHECK(origin("profile.context_window") == "file");
    CHECK(origin("profile.cache") == "preset");
    CHECK(origin("profile.validity") == "default");
    CHECK(values.at("profile.validity")["default"] == "openai_chat");
    CHECK(origin("storage.type") == "preset");
    CHECK(origin("models.writer.replies") == "file");
    CHECK(values.at("middlewares[0].keep_rounds") ==
          json({{"key", "middlewares[0].keep_rounds"}, {"origin", "file"}, {"value", 2}}));
    CHECK(origin("middlewares[0].force_above_window_fraction") == "preset");
    CHECK(origin("middlewares[0].start_tokens") == "default");
    CHECK(origin("middlewares[1].type") == "preset");
    CHECK(values.at("middlewares[3].type")["value"] == "token_saving");
    // What is written out stands there, each value once.
    const json whole = json::parse(run_cli(dir, "config show chain.json").out);
    for (const auto& [key, value] : whole["middlewares"][2].items()) {
        if (!value.is_object()) CHECK(values.at("middlewares[2]." + key)["value"] == value);
    }
    const CliResult text = run_cli(dir, "config show chain.json --origins");
    CHECK(has(text.out, "file          profile.context_window "));
    CHECK(has(run_cli(dir, "config show --preset cheap --window 9000 --origins").out,
              "command line  profile.context_window "));
    CHECK(run_cli(dir, "config show chain.json --json").exit_code == 2);
}

TEST_CASE("the schema of configurations takes what the reader takes, and refuses what is broken in one key", "[apps]") {
    const TempDir dir;
    if (std::system("command -v python3 > /dev/null") != 0) SKIP_WITH_MESSAGE("there is no python3 here");
    const std::string script = "python3 '" WHITTLE_SOURCE_DIR "/tool/tests/commands/config_schema.py' '" WHITTLE_CLI
                               "' '" WHITTLE_SOURCE_DIR "'";
    const int status = std::system((script + " > '" + (dir / "out") + "' 2>&1").c_str());
    const std::string reported = read_text(dir / "out");
    if (reported.starts_with("skipped: ")) SKIP_WITH_MESSAGE(reported);
    CAPTURE(reported);
    CHECK(status == 0);
}

TEST_CASE("the schema of configurations says type, range and meaning of a key", "[apps]") {
    const TempDir dir;
    const CliResult result = run_cli(dir, "config schema");
    REQUIRE(result.exit_code == 0);
    const json schema = json::parse(result.out);
    CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
    CHECK(schema["additionalProperties"] == false);
    const json& window = schema["properties"]["profile"]["properties"]["context_window"];
    CHECK(window["type"] == "integer");
    CHECK(window["minimum"] == 0);
    CHECK(window["description"] == "tokens that the model takes; 0: unknown; default: 0");
    CHECK(schema["properties"]["language"]["enum"] == json({"en", "zh"}));
    CHECK(schema["properties"]["profile"]["properties"]["prices"]["required"] == json({"input", "output"}));
}
