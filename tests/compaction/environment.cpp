// Sizes from the environment, for a configuration in code.
#include "whittle/compaction/config.hpp"

#include "support/catch.hpp"

#include <map>
#include <optional>
#include <string>

using namespace whittle;

namespace {

EnvironmentLookup environment(std::map<std::string, std::string, std::less<>> values) {
    return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

}  // namespace

TEST_CASE("the environment's sizes win over those of the code, and over fractions", "[compaction]") {
    const CompactionConfig config{.threshold_tokens = 9'000, .threshold_fraction = 0.6, .target_tokens = 2'000};
    const CompactionConfig same = with_environment_variables(config, environment({{"AGENT_COMPACTION_TARGET", ""}}));
    CHECK(same.threshold_fraction == 0.6);
    CHECK(same.target_tokens == 2'000);
    CHECK(with_environment_variables(config, {}).threshold_tokens == 9'000);

    const CompactionConfig sized =
        with_environment_variables(config, environment({{"AGENT_COMPACTION_THRESHOLD", "2000"},
                                                        {"AGENT_COMPACTION_TARGET", "500"},
                                                        {"AGENT_COMPACTION_SUMMARY_SIZE", "200"}}));
    CHECK(sized.threshold_tokens == 2'000);
    CHECK(sized.threshold_fraction == 0.0);
    CHECK(sized.target_tokens == 500);
    CHECK(sized.summary_size_tokens == 200);
}

TEST_CASE("what is no size in the environment is named, all at once", "[compaction]") {
    try {
        (void)with_environment_variables({}, environment({{"AGENT_COMPACTION_THRESHOLD", "abc"},
                                                          {"AGENT_COMPACTION_TARGET", "12k"},
                                                          {"AGENT_COMPACTION_SUMMARY_SIZE", "0"}}));
        FAIL("three values that are no sizes");
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_config);
        const std::string text = error.what();
        CHECK(text.find("AGENT_COMPACTION_THRESHOLD = abc") != std::string::npos);
        CHECK(text.find("AGENT_COMPACTION_TARGET = 12k") != std::string::npos);
        CHECK(text.find("AGENT_COMPACTION_SUMMARY_SIZE = 0") != std::string::npos);
    }
}
