// Names of tools in settings: one rule, and a warning where a setting cannot have an effect.
#include "support/catch.hpp"
#include "tools.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::vector<std::string> warned_fields(const AnyChain& chain) {
    std::vector<std::string> fields;
    for (const Problem& problem : chain.warnings()) fields.push_back(problem.field + " = " + problem.value);
    return fields;
}

AnyChain chain_of(ReductionConfig config, ReductionCallbacks<> callbacks = {}, ChainConfig settings = {}) {
    settings.storage = memory_storage();
    return AnyChain(*message_types().front(), std::move(settings), std::move(config), std::move(callbacks));
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a protected tool is meant in any case, by its bare or qualified name", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    for (const char* tool : {"Skill", "mcp__docs__SKILL", "read"}) {
        c.push_back(ChatMessage::assistant("").call(tool, tool));
        c.push_back(ChatMessage::result(tool, tool, std::string(2'000, 'x')));
    }
    c.push_back(ChatMessage::assistant("").call("last", "read"));
    c.push_back(ChatMessage::result("last", "read", "short"));
    ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 100};
    AnyChain(type, ChainConfig{}, config).before_model(c);
    CHECK(c.text(2) == std::string(2'000, 'x'));
    CHECK(c.text(4) == std::string(2'000, 'x'));
    CHECK(c.text(6) == plain_placeholder(Language::english));
}

TEST_CASE("a name that can mean no tool is warned of", "[reduction]") {
    ReductionConfig config;
    config.trunc_exclude_tools = {"*", "grep"};
    config.clear_exclude_tools = {""};
    config.clear_tool_inputs = std::vector<std::string>{"mcp__*"};
    config.tool_config["two words"] = {};
    ChainConfig settings;
    settings.protected_tools = {"*"};
    const AnyChain chain = chain_of(config, {}, settings);
    CHECK(warned_fields(chain) == Lines{"protected_tools = \"*\"", "reduction.trunc_exclude_tools = \"*\"",
                                        "reduction.clear_exclude_tools = \"\"",
                                        "reduction.clear_tool_inputs = \"mcp__*\"",
                                        "reduction.tool_config = \"two words\""});
}

TEST_CASE("a tool's own setting that a list makes void is warned of", "[reduction]") {
    ReductionConfig config;
    config.trunc_exclude_tools = {"grep"};
    config.clear_exclude_tools = {"Grep"};
    config.tool_config["grep"] = {.skip_truncation = false, .skip_clear = false};
    config.tool_config["skill"] = {.skip_clear = false};
    config.tool_config["read"] = {.skip_truncation = false, .skip_clear = false};
    CHECK(warned_fields(chain_of(config)) == Lines{"reduction.tool_config.grep.skip_truncation = false",
                                                   "reduction.tool_config.grep.skip_clear = false",
                                                   "reduction.tool_config.skill.skip_clear = false"});
}

TEST_CASE("a handler that is never called is warned of", "[reduction]") {
    const ToolReductionCallbacks both{.trunc_handler = [](const ToolDetail&) { return TruncResult{}; },
                                      .clear_handler = [](const ToolDetail&) { return ClearResult{}; }};
    ReductionCallbacks<> callbacks;
    for (const char* tool : {"excluded", "read", "skipped"}) callbacks.tool_config[tool] = both;
    ReductionConfig config;
    config.trunc_exclude_tools = {"excluded"};
    config.clear_exclude_tools = {"excluded"};
    config.tool_config["skipped"] = {.skip_truncation = true, .skip_clear = true};
    CHECK(warned_fields(chain_of(config, callbacks)) == Lines{"reduction.tool_config.excluded.trunc_handler = set",
                                                              "reduction.tool_config.excluded.clear_handler = set",
                                                              "reduction.tool_config.skipped.trunc_handler = set",
                                                              "reduction.tool_config.skipped.clear_handler = set"});
}
