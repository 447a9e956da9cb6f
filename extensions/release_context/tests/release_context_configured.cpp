// The "release_context" stage of a configuration file.
#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/release_context/release_context.hpp"

#include <string>
#include <vector>

using namespace whittle;

namespace {

ConfigTypes with_release_context() {
    ConfigTypes types;
    types.register_middleware<ChatMessage>(release_context_type(), make_release_context);
    return types;
}

}  // namespace

TEST_CASE("every setting of release_context can be read", "[config_json]") {
    const ChainSettings settings = read_chain_settings(R"({"middlewares": [{"type": "release_context", "name": "r",
        "storage": {"type": "memory"}, "tool_name": "let_go", "protected_tools": ["recall"], "expected_further_calls": 3}]})",
                                                       {.name = "c", .types = with_release_context()});
    const auto& config = std::any_cast<const ReleaseContextConfig&>(settings.stages.at(0).config);
    CHECK(settings.stages[0].name == "r");
    CHECK(settings.stages[0].storages.at("storage").type == "memory");
    CHECK(config.tool_name == "let_go");
    CHECK(config.protected_tools == std::vector<std::string>{"recall"});
    CHECK(config.expected_further_calls == 3);
    const Chain<> chain = make_chain<ChatMessage>(settings);
    REQUIRE(chain.stages().size() == 1);
    const std::vector<Tool> tools = chain.tools();
    CHECK(std::ranges::find(tools, "let_go", &Tool::name) != tools.end());
}

TEST_CASE("problems of release_context have the place of their key", "[config_json]") {
    try {
        (void)read_chain_settings(R"({"middlewares": [{"type": "release_context",
 "expected_further_calls": -1, "tool": "x"}]})",
                                  {.name = "c", .types = with_release_context()});
        FAIL("read");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("c:2") != std::string::npos);
        CHECK(text.find("expected_further_calls") != std::string::npos);
        CHECK(text.find("did you mean") != std::string::npos);
    }
}

TEST_CASE("the page of release_context has the row of every key", "[config_json]") {
    CHECK(testing::undocumented_keys(with_release_context(), "extensions/release_context/README.md") == "");
}
