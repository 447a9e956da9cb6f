// The "pruning" stage of a configuration file.
#include "support/catch.hpp"
#include "whittle/config/config_json.hpp"

#include <string>
#include <vector>

using namespace whittle;

namespace {

ChainSettings pruning_stage(const std::string& members) {
    return read_chain_settings(R"({"middlewares": [{"type": "pruning")" + members + "}]}", {.name = "c"});
}

std::string pruning_problems(const std::string& members) {
    try {
        static_cast<void>(pruning_stage(members));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("every setting of pruning can be read", "[config_json]") {
    const ChainSettings settings = pruning_stage(R"(, "name": "p", "storage": {"type": "memory"},
        "protected_tools": ["recall"], "skip_boundary_turns": 3, "protect_current_turn_only": true,
        "prune_failed_results": true, "protect_newest_tokens": 4, "minimum_gain_tokens": 5, "placeholder": "gone",
        "partial": true, "head_bytes": 6, "tail_bytes": 7, "head_lines": 8, "tail_lines": 9)");
    const auto& config = std::any_cast<const PruningConfig&>(settings.stages.at(0).config);
    CHECK(settings.stages[0].name == "p");
    CHECK(settings.stages[0].storages.at("storage").type == "memory");
    CHECK(config.protected_tools == std::vector<std::string>{"recall"});
    CHECK(config.skip_boundary_turns == 3);
    CHECK(config.protect_current_turn_only);
    CHECK(config.prune_failed_results);
    CHECK(config.protect_newest_tokens == 4);
    CHECK(config.minimum_gain_tokens == 5);
    CHECK(config.placeholder == "gone");
    CHECK(config.partial);
    CHECK(config.head_bytes == 6);
    CHECK(config.tail_bytes == 7);
    CHECK(config.head_lines == 8);
    CHECK(config.tail_lines == 9);
}

TEST_CASE("pruning without settings is the structure's defaults, and the documented ones", "[config_json]") {
    const PruningConfig defaults;
    const ChainSettings settings = pruning_stage("");
    const auto& config = std::any_cast<const PruningConfig&>(settings.stages.at(0).config);
    CHECK(config.skip_boundary_turns == defaults.skip_boundary_turns);
    CHECK(config.placeholder.empty());
    CHECK(settings.warnings.empty());
    for (const ConfigKey& key : config_keys()) {
        if (key.path == "pruning.skip_boundary_turns")
            CHECK(key.documented_default == std::to_string(config.skip_boundary_turns));
        if (key.path == "pruning.head_bytes") CHECK(key.documented_default == std::to_string(config.head_bytes));
        if (key.path == "pruning.tail_bytes") CHECK(key.documented_default == std::to_string(config.tail_bytes));
    }
}

TEST_CASE("nonsense in pruning is refused with its place", "[config_json]") {
    CHECK_THAT(
        pruning_problems(R"(, "skip_boundary_turns": -1)"),
        Catch::Contains("middlewares[0].skip_boundary_turns: found -1, expected an integer from 0 to 2147483647"));
    CHECK_THAT(pruning_problems(R"(, "placeholder": " ")"), Catch::Contains("middlewares[0].placeholder: found blank"));
    CHECK_THAT(pruning_problems(R"(, "partial": true, "head_bytes": 0, "tail_bytes": 0)"),
               Catch::Contains("middlewares[0].partial"));
    CHECK_THAT(pruning_problems(R"(, "protect": "all")"), Catch::Contains("unknown key \"protect\""));
}

TEST_CASE("a chain is made of the pruning stage with its own store", "[config_json]") {
    const auto chain = make_chain<ChatMessage>(pruning_stage(R"(, "name": "p", "storage": {"type": "memory"})"));
    const auto* stage = dynamic_cast<const Pruning<>*>(chain.stages().at(0).get());
    REQUIRE(stage != nullptr);
    CHECK(stage->name() == "p");
    CHECK(stage->config().storage != nullptr);
}
