#include "whittle/config/config_json.hpp"
#include "whittle/openai/openai.hpp"

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <string>
#include <vector>

using namespace whittle;

namespace {

/// The lines of the error; empty if there is none.
std::vector<std::string> problems_of(std::string_view json, ConfigSource source = {.name = "chain.json"}) {
    try {
        static_cast<void>(read_chain_settings(json, source));
        return {};
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_config);
        const std::string_view text = error.what();
        std::vector<std::string> lines;
        for (std::size_t from = 0; from <= text.size();) {
            const std::size_t end = std::min(text.find('\n', from), text.size());
            lines.emplace_back(text.substr(from, end - from));
            from = end + 1;
        }
        CHECK(lines.front().starts_with("read configuration: "));
        lines.erase(lines.begin());
        return lines;
    }
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("every setting of a configuration reaches the chain", "[config_json]") {
    const ChainSettings settings = read_chain_settings(R"({
        "profile": {"name": "m", "context_window": 200000, "output_reserve": 8192, "validity": "openai_compatible",
                    "prices": {"input": 2.0, "cache_read": 0.25, "cache_write": 2.5, "output": 10}, "cache": "anthropic_5m",
                    "thinking_bound_to_prefix": true},
        "tokens": {"counter": "chars", "chars_per_token": 3.5, "round_up": true, "tokens_per_image": 900},
        "language": "zh",
        "storage": {"type": "memory", "max_bytes": 1000},
        "models": {"summarizer": {"type": "scripted", "replies": ["one", {"error": "overflow"}]}},
        "on_error": "propagate", "dry_run": true, "explain": true, "verify": false, "repair": true,
        "thinking_on_prefix_edit": "drop",
        "limits": {"model_calls": 3, "store_bytes": 4, "deadline_ms": 5},
        "protected_tools": ["skill", "ask"],
        "middlewares": [{"type": "reduction", "name": "first", "skip_truncation": true, "skip_clear": true, "read_file_tool_name": "cat",
            "root_dir": "r/d", "max_length_for_trunc": 1, "max_tokens_for_trunc": 2, "trunc_head_lines": 8, "trunc_tail_lines": 9, "trunc_exclude_tools": ["a"], "max_tokens_for_clear": 30,
            "clear_retention_suffix_limit": 4, "clear_at_least_tokens": 5, "clear_exclude_tools": ["b", "c"], "clear_target_tokens": 6,
            "max_bytes_without_store": 7, "clear_tool_inputs": false, "backend": {"type": "memory"},
            "tool_config": {"read": {"skip_clear": false, "backend": {"type": "memory", "max_bytes": 9}}}}]
    })");
    const ChainConfig& c = settings.config;
    CHECK(c.profile.name == "m");
    CHECK(c.profile.context_window == 200'000);
    CHECK(c.profile.output_reserve == 8'192);
    CHECK(c.profile.validity.name == "openai_compatible");
    CHECK(c.profile.prices == PricesPerMillion{2.0, 0.25, 2.5, 10.0});
    CHECK(c.profile.cache == CacheProfile{"anthropic_5m", 0.1, 1.25, 300, 1'024, 1});
    CHECK(c.profile.thinking_bound_to_prefix);
    CHECK(c.repair);
    CHECK(c.thinking_on_prefix_edit == ThinkingOnPrefixEdit::drop);
    CHECK(c.token_counter->id() == chars_counter({3.5, true, 900})->id());
    CHECK(c.language == Language::chinese);
    CHECK(c.on_error == OnError::propagate);
    CHECK(c.dry_run);
    CHECK(c.explain);
    CHECK_FALSE(c.verify);
    CHECK(c.limits.model_calls == 3);
    CHECK(c.limits.store_bytes == 4);
    CHECK(c.limits.deadline.count() == 5);
    CHECK(c.protected_tools == Lines{"skill", "ask"});
    CHECK(settings.storage_settings.type == "memory");
    CHECK(std::any_cast<const MemoryStorageOptions&>(settings.storage_settings.config).max_bytes == 1'000);
    REQUIRE(settings.models.size() == 1);
    const auto& model = std::any_cast<const ScriptedModelConfig&>(settings.models[0].config);
    CHECK(model.replies[0].text == "one");
    CHECK(model.replies[1].error == ModelErrorClass::overflow);

    REQUIRE(settings.stages.size() == 1);
    CHECK(settings.stages[0].name == "first");
    CHECK(settings.stages[0].storages.at("backend").type == "memory");
    const auto& r = std::any_cast<const ReductionConfig&>(settings.stages[0].config);
    CHECK(r.skip_truncation);
    CHECK(r.skip_clear);
    CHECK(r.read_file_tool_name == "cat");
    CHECK(r.root_dir == "r/d");
    CHECK(r.max_length_for_trunc == 1);
    CHECK(r.max_tokens_for_trunc == 2);
    CHECK(r.trunc_head_lines == 8);
    CHECK(r.trunc_tail_lines == 9);
    CHECK(r.trunc_exclude_tools == Lines{"a"});
    CHECK(r.max_tokens_for_clear == 30);
    CHECK(r.clear_retention_suffix_limit == 4);
    CHECK(r.clear_at_least_tokens == 5);
    CHECK(r.clear_exclude_tools == Lines{"b", "c"});
    CHECK(r.clear_target_tokens == 6);
    CHECK(r.max_bytes_without_store == 7);
    CHECK(r.tool_config.at("read").skip_clear == false);
    CHECK_FALSE(r.tool_config.at("read").skip_truncation.has_value());

    const auto chain = make_chain<ChatMessage>(settings);
    CHECK(chain.config().storage != nullptr);
    REQUIRE(chain.stages().size() == 1);
    CHECK(chain.stages()[0]->name() == "first");
    const auto& made = dynamic_cast<const Reduction<ChatMessage>&>(*chain.stages()[0]);
    CHECK(made.config().backend != nullptr);
    CHECK(made.config().tool_config.at("read").backend != nullptr);
}

TEST_CASE("an empty configuration is the default chain without middlewares", "[config_json]") {
    const auto chain = make_chain<openai::Message>(read_chain_settings("{}"));
    CHECK(chain.stages().empty());
    CHECK(chain.config().storage == nullptr);
    CHECK(chain.config().token_counter->id() == chars_counter()->id());
    CHECK(chain.config().protected_tools == Lines{"skill"});
}

TEST_CASE("all problems come at once, each with line, column, key, what was found and what is allowed",
          "[config_json]") {
    const Lines lines = problems_of(R"({
  "profile": {"context_window": -1, "output_reserve": 1.5, "validity": "openai_chatt"},
  "language": "fr",
  "dry_run": "yes",
  "limits": {"model_calls": 99999999999, "deadline": 3},
  "middlewares": [
    {"type": "reduction", "skip_truncation": true, "max_tokens_for_claer": 5,
     "clear_exclude_tools": ["a", 1]}
  ]
})");
    CHECK(lines ==
          Lines{
              "chain.json:2:15: profile.context_window: found -1, expected an integer, 0 or more",
              "chain.json:2:37: profile.output_reserve: found 1.5, expected an integer, 0 or more",
              "chain.json:2:60: profile.validity: unknown validity \"openai_chatt\"; did you mean "
              "\"openai_chat\"? allowed: openai_chat, "
              "openai_compatible, anthropic, anthropic_thinking, gemini",
              "chain.json:3:3: language: unknown language \"fr\"; allowed: en, zh",
              "chain.json:4:3: dry_run: found \"yes\", expected true or false",
              "chain.json:5:14: limits.model_calls: found 99999999999, expected an integer from 0 to 2147483647",
              "chain.json:5:42: limits.deadline: unknown key \"deadline\"; did you mean \"deadline_ms\"? allowed: "
              "model_calls, store_bytes, deadline_ms",
              lines.size() > 7 ? lines[7] : "",
              "chain.json:8:35: middlewares[0].clear_exclude_tools[1]: found 1, expected a string",
          });
    CHECK(lines[7].starts_with(
        "chain.json:7:52: middlewares[0].max_tokens_for_claer: unknown key \"max_tokens_for_claer\"; did you mean "
        "\"max_tokens_for_clear\"?"));
}

TEST_CASE("what the chain or a middleware would refuse is found with its line", "[config_json]") {
    CHECK(problems_of("{\n\"profile\": {\"context_window\": 10,\n \"output_reserve\": 10}}") ==
          Lines{"chain.json:3:2: profile.output_reserve: found 10, expected less than profile.context_window (10)"});
    CHECK(problems_of("{\"thinking_on_prefix_edit\": \"strip\"}")
              .front()
              .starts_with("chain.json:1:2: thinking_on_prefix_edit: "));
    CHECK(problems_of(
              "{\"middlewares\": [\n{\"type\": \"reduction\", \"skip_truncation\": true, \"root_dir\": \"../x\"}]}")
              .front()
              .starts_with("chain.json:2:48: middlewares[0].root_dir: found ../x, expected a valid key prefix"));
}

TEST_CASE("a target above the trigger is a warning with its line, and the chain is made", "[config_json]") {
    const ChainSettings settings = read_chain_settings(
        "{\"middlewares\": [{\"type\": \"reduction\", \"skip_truncation\": true,\n \"max_tokens_for_clear\": 5, "
        "\"clear_target_tokens\": 6}]}",
        {.name = "chain.json"});
    REQUIRE(settings.warnings.size() == 1);
    CHECK(settings.warnings[0].starts_with(
        "chain.json:2:29: middlewares[0].clear_target_tokens: found 6, expected below max_tokens_for_clear (5)"));
    CHECK(make_chain<ChatMessage>(settings).config_warnings().size() == 1);
}

TEST_CASE("a duplicate key is a problem where it stands again", "[config_json]") {
    CHECK(problems_of("{\"dry_run\": true,\n  \"dry_run\": false}") ==
          Lines{"chain.json:2:3: dry_run: duplicate key: it stands here for the second time or more"});
    CHECK(problems_of("{\"dry_run\": true, \"dry\\u005frun\": false}").size() == 1);
}

TEST_CASE("two middlewares need distinct names", "[config_json]") {
    const std::string stage = R"({"type": "reduction", "skip_truncation": true})";
    CHECK(problems_of("{\"middlewares\": [" + stage + ",\n" + stage + "]}") ==
          Lines{"chain.json:2:1: middlewares[1]: a second middleware named \"reduction\"; give each a \"name\" of its "
                "own"});
    CHECK(problems_of(R"({"middlewares": [{"type": "reduction", "skip_truncation": true, "name": "chain"}]})").size() ==
          1);
    CHECK(problems_of("{\"middlewares\": [" + stage +
                      R"(, {"type": "reduction", "name": "second", "skip_truncation": true}]})")
              .empty());
}

TEST_CASE("a text that is no JSON gets line and column", "[config_json]") {
    const auto first = [](std::string_view json) {
        const Lines lines = problems_of(json);
        return lines.size() == 1 ? lines[0].substr(0, lines[0].find(": ")) : std::string("not one line");
    };
    CHECK(first("") == "chain.json:1:1");
    CHECK(first("{\n  \"a\" 1}") == "chain.json:2:7");
    CHECK(first("{\"limits\": {\"model_calls\": NaN}}") == "chain.json:1:28");
    CHECK(first("{}\n{}") == "chain.json:2:1");
    CHECK(first(std::string_view("{}\0{}", 5)) == "chain.json:1:3");
    CHECK(first(std::string(100'000, '[')) == "chain.json:1:33");
    CHECK(first("{\"language\": \"\xFF\"}") == "chain.json:1:15");
    CHECK(first("{\"profile\": {\"prices\": {\"input\": 1e999}}}").starts_with("chain.json:1:"));
}

TEST_CASE("numbers that do not fit are refused, not cut", "[config_json]") {
    const auto window = [](std::string_view number) {
        return problems_of(fmt::format(R"({{"profile": {{"context_window": {}}}}})", number)).size();
    };
    CHECK(window("9223372036854775807") == 0);
    CHECK(window("9223372036854775808") == 1);
    CHECK(window("18446744073709551616") == 1);
    CHECK(window("1e3") == 1);
    CHECK(window("1000.0") == 1);
    CHECK(window("-0.5") == 1);
    CHECK(window("\"5\"") == 1);
    CHECK(window("null") == 1);
    CHECK(problems_of(R"({"tokens": {"chars_per_token": 0}})") ==
          Lines{"chain.json:1:13: tokens.chars_per_token: found 0, expected a number from 0.001 to 1000000"});
    CHECK(problems_of(R"({"profile": {"prices": {"input": -1, "output": 1}}})") ==
          Lines{"chain.json:1:25: profile.prices.input: found -1, expected a number, 0 or more"});
}

TEST_CASE("columns count characters, and a byte order mark is none", "[config_json]") {
    CHECK(problems_of("\xEF\xBB\xBF{\"language\": \"fr\"}").front().starts_with("chain.json:1:2: "));
    CHECK(problems_of("{\"protected_tools\": [\"\u00e9\u00e9\"], \"langage\": 1}")
              .front()
              .starts_with("chain.json:1:29: langage: unknown key"));
}

TEST_CASE("a cache profile is a name or numbers", "[config_json]") {
    const auto cache = [](std::string_view json) {
        return read_chain_settings(fmt::format(R"({{"profile": {{"cache": {}}}}})", json)).config.profile.cache;
    };
    CHECK(cache("\"anthropic_1h\"") == CacheProfile{"anthropic_1h", 0.1, 2.0, 3'600, 1'024, 1});
    CHECK(cache("\"openai\"") == CacheProfile{"openai", 0.1, 1.0, 600, 1'024, 128});
    CHECK(cache("\"openai_2026\"") == CacheProfile{"openai_2026", 0.1, 1.25, 1'800, 1'024, 128});
    CHECK(cache("\"no_cache\"") == CacheProfile{});
    CHECK(cache(R"({"read": 0.5, "write": 2, "ttl_seconds": 60, "min_prefix_tokens": 10, "prefix_step_tokens": 5})") ==
          CacheProfile{"custom", 0.5, 2.0, 60, 10, 5});
    CHECK(problems_of(R"({"profile": {"cache": {"prefix_step_tokens": 0}}})") ==
          Lines{"chain.json:1:24: profile.cache.prefix_step_tokens: found 0, expected an integer, 1 or more"});
    CHECK(problems_of(R"({"profile": {"cache": 5}})").size() == 1);
}

TEST_CASE("prices that are left out follow from the cache profile, in any order of keys", "[config_json]") {
    const auto settings =
        read_chain_settings(R"({"profile": {"prices": {"input": 2, "output": 10}, "cache": "anthropic_5m"}})");
    CHECK(settings.config.profile.prices == PricesPerMillion{2.0, 0.2, 2.5, 10.0});
    CHECK(problems_of(R"({"profile": {"prices": {"input": 2}}})") ==
          Lines{"chain.json:1:14: profile.prices.output: missing, expected a number, 0 or more"});
}

TEST_CASE("options of one counter are refused beside another", "[config_json]") {
    CHECK(read_chain_settings(R"({"tokens": {"counter": "pessimistic"}})").config.token_counter->id() ==
          pessimistic_counter()->id());
    CHECK(read_chain_settings(R"({"tokens": {"counter": "estimate"}})").config.token_counter->id() ==
          estimate_counter()->id());
    CHECK(problems_of(R"({"tokens": {"counter": "estimate", "chars_per_token": 4}})") ==
          Lines{"chain.json:1:36: tokens.chars_per_token: only for the counter \"chars\""});
}

TEST_CASE("a relative root is relative to the configuration file, and reading opens nothing", "[config_json]") {
    const testing::TempDir dir;
    const ConfigSource source{.name = "chain.json", .base_dir = dir.path().string()};
    const auto settings =
        read_chain_settings(R"({"storage": {"type": "file", "root": "store", "durability": "none"}})", source);
    CHECK(settings.storage_settings.place.path == dir / "store");
    CHECK(std::any_cast<const FileStoreConfig&>(settings.storage_settings.config).durability == Durability::none);
    CHECK_FALSE(std::filesystem::exists(settings.storage_settings.place.path));

    const auto chain = make_chain<ChatMessage>(settings);
    chain.config().storage->put_if_absent("a/b", "text");
    CHECK(std::filesystem::exists(settings.storage_settings.place.path + "/a/b"));
    const std::string elsewhere = (std::filesystem::temp_directory_path() / "abs").generic_string();
    CHECK(read_chain_settings(R"({"storage": {"type": "file", "root": ")" + elsewhere + "\"}}", source)
              .storage_settings.place.path == elsewhere);
}

TEST_CASE("a root can come from an injected environment, and from nowhere else", "[config_json]") {
    ConfigSource source{.name = "chain.json"};
    source.lookup = [](std::string_view name) {
        return name == "STATE" ? std::optional<std::string>("/state") : std::nullopt;
    };
    CHECK(read_chain_settings(R"({"storage": {"type": "file", "root_env": "STATE"}})", source)
              .storage_settings.place.path == "/state");
    CHECK(problems_of(R"({"storage": {"type": "file", "root_env": "PATH"}})") ==
          Lines{"chain.json:1:30: storage.root_env: the environment has no value \"PATH\""});
    CHECK(problems_of(R"({"storage": {"type": "file", "root_env": "STATE", "root": "x"}})", source).size() == 1);
}

TEST_CASE("a storage has only the keys of its type", "[config_json]") {
    CHECK(problems_of(R"({"storage": {}})") ==
          Lines{"chain.json:1:2: storage.type: missing, expected \"memory\" or \"file\""});
    CHECK(problems_of(R"({"storage": {"type": "file"}})") ==
          Lines{"chain.json:1:2: storage.root: missing, expected the path of a directory"});
    CHECK(problems_of(R"({"storage": {"type": "memory", "root": "x"}})") ==
          Lines{"chain.json:1:32: storage.root: only for storage of type \"file\""});
    CHECK(problems_of(R"({"storage": {"type": "file", "root": ""}})").size() == 1);
}

TEST_CASE("models are checked although none is used yet", "[config_json]") {
    CHECK(problems_of(R"({"models": {"m": {"type": "scripted"}}})") ==
          Lines{"chain.json:1:13: models.m.replies: missing, expected an array of at least one: what the model "
                "answers, in order; "
                "the last one repeats"});
    CHECK(problems_of(R"({"models": {"m": {"type": "scripted", "replies": []}}})").size() == 1);
    CHECK(problems_of(R"({"models": {"m": {"type": "scripted", "replies": [{"error": "overlow"}, 5, {}]}}})").size() ==
          3);
    CHECK(problems_of(R"({"models": {"m": {"type": "scriptd", "replies": ["x"]}}})")
              .front()
              .find("did you mean \"scripted\"?") != std::string::npos);
}

TEST_CASE("a root that is no object is refused", "[config_json]") {
    CHECK(problems_of("[]") == Lines{"chain.json:1:1: found an array, expected an object"});
    CHECK(problems_of("\"x\"") == Lines{"chain.json:1:1: found \"x\", expected an object"});
}

TEST_CASE("at most a hundred problems are listed, and the rest is counted", "[config_json]") {
    std::string json = "{\"protected_tools\": [1";
    for (int i = 0; i < 20'000; ++i) json += ",1";
    const Lines lines = problems_of(json + "]}");
    REQUIRE(lines.size() == 101);
    CHECK(lines.back() == "and 19901 more");
}
