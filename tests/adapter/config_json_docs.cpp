// docs/configuration.md against the tables that read a configuration.
#include "whittle/adapter/config_json.hpp"

#include "support/catch.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

using namespace whittle;

namespace {

std::string read_docs() {
    std::ifstream in(std::string(WHITTLE_SOURCE_DIR) + "/docs/configuration.md", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// [read]
ChainSettings settings_from(const std::string& path, const std::string& directory) {
    std::ifstream in(path, std::ios::binary);
    const std::string json{std::istreambuf_iterator<char>(in), {}};
    return read_chain_settings(json, {.name = path, .base_dir = directory});  // throws one Error with all problems
}

Chain<ChatMessage> chain_from(const ChainSettings& settings) { return make_chain<ChatMessage>(settings); }
// [/read]

}  // namespace

TEST_CASE("docs/configuration.md has the row of every key, as the reader knows it", "[config_json]") {
    const std::string docs = read_docs();
    for (const ConfigKey& key : config_keys()) {
        const std::string fallback = key.fallback.empty() ? std::string("empty") : key.fallback;
        const std::string row = fmt::format("| `{}` | {} | {} | {} |\n", key.path, key.type, fallback, key.meaning);
        INFO("the row to add is: " << row);
        CHECK(docs.find(row) != std::string::npos);
    }
}

TEST_CASE("a default that the docs name is the default of the structure", "[config_json]") {
    const auto fallback_of = [](std::string_view path) {
        for (const ConfigKey& key : config_keys()) {
            if (key.path == path) return key.fallback;
        }
        return std::string("no such key");
    };
    const ReductionConfig reduction;
    const ChainConfig chain;
    CHECK(fallback_of("reduction.max_length_for_trunc") == std::to_string(reduction.max_length_for_trunc));
    CHECK(fallback_of("reduction.max_tokens_for_trunc") == std::to_string(reduction.max_tokens_for_trunc));
    CHECK(fallback_of("reduction.max_tokens_for_clear") == std::to_string(reduction.max_tokens_for_clear));
    CHECK(fallback_of("reduction.clear_retention_suffix_limit") ==
          std::to_string(reduction.clear_retention_suffix_limit));
    CHECK(fallback_of("reduction.clear_at_least_tokens") == std::to_string(reduction.clear_at_least_tokens));
    CHECK(fallback_of("reduction.clear_target_tokens") == std::to_string(reduction.clear_target_tokens));
    CHECK(fallback_of("reduction.max_bytes_without_store") == std::to_string(reduction.max_bytes_without_store));
    CHECK(fallback_of("reduction.max_bytes_without_stream") == std::to_string(reduction.max_bytes_without_stream));
    CHECK(fallback_of("reduction.read_file_tool_name") == reduction.read_file_tool_name);
    CHECK(fallback_of("limits.model_calls") == std::to_string(chain.limits.model_calls));
    CHECK(fallback_of("limits.store_bytes") == std::to_string(chain.limits.store_bytes));
    CHECK(fallback_of("limits.deadline_ms") == std::to_string(chain.limits.deadline.count()));
    CHECK(fallback_of("profile.validity") == chain.profile.validity.name);
    CHECK(fallback_of("profile.cache") == chain.profile.cache.name);
    CHECK(fallback_of("tokens.tokens_per_image") == std::to_string(CharsOptions{}.tokens_per_image));
    CHECK(fallback_of("storage.temporary_max_age_seconds") ==
          std::to_string(FileStorageOptions{}.temporary_max_age_seconds));
    CHECK(fallback_of("verify") == (chain.verify ? "true" : "false"));
}

TEST_CASE("the example of docs/configuration.md is a configuration", "[config_json]") {
    const std::string docs = read_docs();
    const std::size_t begin = docs.find("```json\n");
    REQUIRE(begin != std::string::npos);
    const std::string json = docs.substr(begin + 8, docs.find("\n```", begin + 8) - begin - 8);
    const ChainSettings settings = read_chain_settings(json, {.name = "docs/configuration.md"});
    CHECK(settings.stages.size() == 1);
    CHECK(settings.warnings.empty());
}

TEST_CASE("a configuration file becomes a chain", "[config_json]") {
    const std::string path = std::string(WHITTLE_SOURCE_DIR) + "/tests/adapter/no_such_file.json";
    CHECK_THROWS_AS(settings_from(path, ""), Error);  // an empty text is no JSON
    CHECK(chain_from({}).stages().empty());
}
