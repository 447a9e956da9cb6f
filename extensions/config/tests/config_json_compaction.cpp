// "compaction" in a configuration file, and the environment names that go with it.
#include "support/catch.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/model/scripted_model.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>

using namespace whittle;

namespace {

using Environment = std::map<std::string, std::string, std::less<>>;

ChainSettings compaction_settings(const std::string& stage, const Environment& environment = {}) {
    const std::string json =
        R"({"models": {"cheap": {"type": "scripted", "replies": ["S"]}}, "middlewares": [)" + stage + R"(]})";
    return read_chain_settings(json, {.name = "chain.json", .lookup = [&](std::string_view name) {
                                          const auto found = environment.find(name);
                                          return found == environment.end() ? std::nullopt
                                                                            : std::optional(found->second);
                                      }});
}

CompactionConfig config_of(const ChainSettings& settings) {
    return std::any_cast<const CompactionConfig&>(settings.stages.at(0).config);
}

template <typename Call>
std::string error_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string compaction_error(const std::string& stage, const Environment& environment = {}) {
    return error_of([&] { compaction_settings(stage, environment); });
}

bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("compaction has the defaults of its structure, and every key is read", "[config_json]") {
    const CompactionConfig defaults = config_of(compaction_settings(R"({"type": "compaction"})"));
    CHECK(limits_of(defaults, 0) == CompactionLimits{40'000, 3'000, 1'000});
    CHECK(defaults.pruning);
    CHECK(defaults.retry == RetryConfig{2});
    const ChainSettings settings = compaction_settings(R"({"type": "compaction", "name": "ladder", "model": "cheap",
        "threshold_tokens": 9000, "target_tokens": 2000, "summary_size_tokens": 500, "skip_summary_margin_fraction": 0.2,
        "current_turn_keep_rounds": 3, "pruning": {"skip_boundary_turns": 1}, "media": "keep",
        "token_counter": {"counter": "pessimistic"}, "summary_role": "system", "user_instruction": "sum up",
        "model_options": {"temperature": 0}, "max_input_tokens": 4000, "retry": {"max_retries": 1},
        "failover": {"model": "cheap"}, "on_failure": "propagate", "failure_cool_down_tokens": 100})");
    const CompactionConfig config = config_of(settings);
    CHECK(settings.stages[0].name == "ladder");
    CHECK(settings.stages[0].models_by_key.at("model") == "cheap");
    CHECK(settings.stages[0].models_by_key.at("failover.model") == "cheap");
    CHECK(limits_of(config, 0) == CompactionLimits{9'000, 2'000, 500});
    CHECK(config.skip_summary_margin_fraction == 0.2);
    CHECK(config.current_turn_keep_rounds == 3);
    CHECK(config.pruning->skip_boundary_turns == 1);
    CHECK(config.media == MediaMode::keep);
    CHECK(config.token_counter->id() == pessimistic_counter()->id());
    CHECK(config.summary_role == SummaryRole::system);
    CHECK(config.user_instruction == "sum up");
    CHECK(config.model_options.temperature == 0.0);
    CHECK(config.max_input_tokens == 4'000);
    CHECK(config.retry == RetryConfig{1});
    CHECK(config.failover);
    CHECK(config.on_failure == OnFailure::propagate);
    CHECK(config.failure_cool_down_tokens == 100);
    CHECK_FALSE(config_of(compaction_settings(R"({"type": "compaction", "pruning": false})")).pruning);
}

TEST_CASE("sizes that contradict each other are refused with their place", "[config_json]") {
    const std::string error =
        compaction_error(R"({"type": "compaction", "threshold_tokens": 2000, "pruning": {"head_bytes": -1}})");
    CHECK(says(error, "middlewares[0].target_tokens"));
    CHECK(says(error, "below the threshold (2000)"));
    CHECK(says(error, "head_bytes"));
    CHECK(says(compaction_error(R"({"type": "compaction", "model": "dear"})"), "dear"));
    CHECK(says(compaction_error(R"({"type": "compaction", "pruning": true})"), "false or an object"));
}

TEST_CASE("the environment wins over the file, and an empty variable counts as unset", "[config_json]") {
    const Environment environment{{"AGENT_COMPACTION_THRESHOLD", "9000"},
                                  {"AGENT_COMPACTION_TARGET", "2000"},
                                  {"AGENT_COMPACTION_SUMMARY_SIZE", ""},
                                  {"AGENT_COMPACTION_MODEL", "cheap"}};
    const ChainSettings settings =
        compaction_settings(R"({"type": "compaction", "threshold_tokens": 50000})", environment);
    CHECK(limits_of(config_of(settings), 0) == CompactionLimits{9'000, 2'000, 1'000});
    CHECK(settings.stages[0].models_by_key.at("model") == "cheap");
    CHECK(
        limits_of(config_of(compaction_settings(R"({"type": "compaction"})", {{"AGENT_COMPACTION_THRESHOLD", ""}})), 0)
            .threshold == 40'000);
}

TEST_CASE("a variable that is no size names itself; 0 is a value, and a bad one", "[config_json]") {
    for (const std::string value : {"abc", "12k", "1.5", " 9000", "-1", "0", "99999999999999999999"}) {
        const std::string error =
            compaction_error(R"({"type": "compaction"})", {{"AGENT_COMPACTION_THRESHOLD", value}});
        CHECK(says(error, "environment variable AGENT_COMPACTION_THRESHOLD: found \"" + value + "\""));
    }
    CHECK(says(compaction_error(R"({"type": "compaction"})", {{"AGENT_COMPACTION_MODEL", "dear"}}),
               "environment variable AGENT_COMPACTION_MODEL: found \"dear\""));
    CHECK(compaction_error(R"({"type": "pruning"})", {{"AGENT_COMPACTION_THRESHOLD", "abc"}}) == "no error");
}

TEST_CASE("a stage may call a model by the name that its provider has, which the host's maker resolves",
          "[config_json]") {
    const std::string json = R"({"models": {"cheap": {"type": "scripted", "replies": ["S"]}},
                                 "middlewares": [{"type": "compaction"}]})";
    ConfigSource source;
    source.lookup = [](std::string_view name) {
        return name == "AGENT_COMPACTION_MODEL" ? std::optional<std::string>("vendor-small-4") : std::nullopt;
    };
    source.host_makes_model = [](std::string_view name) { return name.starts_with("vendor-") || name == "cheap"; };
    const ChainSettings settings = read_chain_settings(json, source);
    CHECK(settings.stages.at(0).models_by_key.at("model") == "vendor-small-4");
    REQUIRE(settings.models.size() == 2);
    CHECK(settings.models[1].type.empty());
    std::vector<std::string> resolved;
    const auto make = [&](const ModelSettings& model) -> std::shared_ptr<Model<ChatMessage>> {
        resolved.push_back(model.name);
        if (!model.type.empty()) return make_model<ChatMessage>(model);
        return std::make_shared<ScriptedModel<>>(std::vector{ChatMessage::assistant("S")});
    };
    (void)make_chain<ChatMessage>(settings, {}, make);
    CHECK(resolved == std::vector<std::string>{"cheap", "vendor-small-4"});
    CHECK(
        says(error_of([&] { (void)make_chain<ChatMessage>(settings); }), "vendor-small-4\": it is a provider's name"));
    source.lookup = [](std::string_view) { return std::optional<std::string>("unheard-of"); };
    CHECK(says(error_of([&] { (void)read_chain_settings(json, source); }), "maker of models knows"));
}

TEST_CASE("a chain from a file compacts with the model that the file names", "[config_json]") {
    const ChainSettings settings = compaction_settings(
        R"({"type": "compaction", "model": "cheap", "threshold_tokens": 500, "target_tokens": 200,
            "summary_size_tokens": 50})");
    const Chain<ChatMessage> chain = make_chain<ChatMessage>(settings);
    Conversation<> conversation;
    for (int i = 0; i < 10; ++i) {
        conversation.push_back(ChatMessage::user(std::string(200, 'q')));
        conversation.push_back(ChatMessage::assistant(std::string(200, 'a')));
    }
    CHECK(chain.before_model(conversation, {}).stages.at(0).outcome == Outcome::committed);
    CHECK(conversation.size() < 20);
}
