#include "configuration/config_types.hpp"
#include "support/catch.hpp"

#include <whittle/config/config_json.hpp>
#include <whittle/openai/openai.hpp>

#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string agents_configuration() {
    std::ifstream in(WHITTLE_SOURCE_DIR "/tool/agent/chain.json", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the agent's configuration is accepted without a warning, its store not opened", "[agent]") {
    const auto settings = whittle::read_chain_settings(agents_configuration(),
                                                       {.name = "chain.json", .types = whittle::cli::config_types({})});
    CHECK(settings.warnings.empty());
    CHECK(settings.storage_settings.type == "memory");
    CHECK(settings.config.storage == nullptr);
}

TEST_CASE("a configuration that truncates needs a store: the chain's, its own or each tool's", "[agent]") {
    const std::string truncates = R"("middlewares":[{"type":"reduction")";
    const std::string store = R"({"type":"memory"})";
    const auto read = [](const std::string& json) {
        return whittle::read_chain_settings(json, {.types = whittle::cli::config_types({})}).stages.size();
    };
    CHECK_THROWS_AS(read("{" + truncates + "}]}"), whittle::Error);
    CHECK(read("{\"storage\":" + store + "," + truncates + "}]}") == 1);
    CHECK(read("{" + truncates + ",\"backend\":" + store + "}]}") == 1);
    CHECK(read("{" + truncates + R"(,"skip_truncation":true,"tool_config":{"t":{"skip_truncation":false,"backend":)" +
               store + "}}}]}") == 1);
}

TEST_CASE("a key that stands where the name of its variable belongs is refused and not shown", "[agent]") {
    for (const std::string text : {"gsk_realkey123", "sk-real", "0123456789ABCDEF", "REAL KEY", "Real"}) {
        const std::string model = R"({"type":"openai","model":"x","api_key_env":")" + text + "\"}";
        std::string error;
        try {
            (void)whittle::read_chain_settings(R"({"models":{"m":)" + model + "}}",
                                               {.types = whittle::cli::config_types({})});
        } catch (const whittle::Error& refusal) {
            error = refusal.what();
        }
        CHECK(error.find("api_key_env") != std::string::npos);
        CHECK(error.find(text) == std::string::npos);
    }
    CHECK_NOTHROW(whittle::read_chain_settings(R"({"models":{"m":{"type":"openai","model":"x","api_key_env":"_A1"}}})",
                                               {.types = whittle::cli::config_types({})}));
}
