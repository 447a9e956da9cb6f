// extensions/config/README.md and keys.md against the tables that read a configuration.
#include "provider_types.hpp"
#include "whittle/config/config_json.hpp"

#include "support/catch.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

using namespace whittle;

namespace {

std::string read_docs(const std::string& page = "extensions/config/README.md") {
    std::ifstream in(std::string(WHITTLE_SOURCE_DIR) + "/" + page, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

ChainSettings settings_from(const std::string& path, const std::string& directory) {
    std::ifstream in(path, std::ios::binary);
    const std::string json{std::istreambuf_iterator<char>(in), {}};
    return read_chain_settings(json, {.name = path, .base_dir = directory});  // throws one Error with all problems
}

Chain<ChatMessage> chain_from(const ChainSettings& settings) { return make_chain<ChatMessage>(settings); }

}  // namespace

TEST_CASE("the pages of extensions/config have the row of every key, as the reader knows it", "[config_json]") {
    const std::string docs = read_docs() + read_docs("extensions/config/keys.md");
    for (const ConfigKey& key : config_keys()) {
        const std::string fallback = key.documented_default.empty() ? std::string("empty") : key.documented_default;
        const std::string row = fmt::format("| `{}` | {} | {} | {} |\n", key.path, key.type, fallback, key.meaning);
        INFO("the row to add is: " << row);
        CHECK(docs.find(row) != std::string::npos);
    }
}

TEST_CASE("a default in the tables of extensions/config is that of the structure", "[config_json]") {
    const std::string docs = read_docs() + read_docs("extensions/config/keys.md");
    const auto documented = [&](const std::string& key) {
        const std::size_t row = docs.find("| `" + key + "` | ");
        if (row == std::string::npos) return std::string("no such key");
        const std::size_t begin = docs.find(" | ", docs.find(" | ", row) + 3) + 3;
        return docs.substr(begin, docs.find(" | ", begin) - begin);
    };
    const auto number = [](auto value) { return fmt::format("{:.15g}", static_cast<double>(value)); };
    const ChainConfig chain;
    CHECK(documented("limits.model_calls") == number(chain.limits.model_calls));
    CHECK(documented("limits.store_bytes") == number(chain.limits.store_bytes));
    CHECK(documented("limits.deadline_ms") == number(chain.limits.deadline.count()));
    CHECK(documented("profile.validity") == chain.profile.validity.name);
    CHECK(documented("profile.cache") == chain.profile.cache.name);
    CHECK(documented("verify") == fmt::format("{}", chain.verify));
    CHECK(documented("protected_tools") == fmt::format("[\"{}\"]", chain.protected_tools.at(0)));
    CHECK(documented("tokens.tokens_per_image") == number(CharsOptions{}.tokens_per_image));
    CHECK(documented("storage.temporary_max_age_seconds") == number(FileStorageOptions{}.temporary_max_age_seconds));
    const ReductionConfig reduction;
    CHECK(documented("reduction.max_length_for_trunc") == number(reduction.max_length_for_trunc));
    CHECK(documented("reduction.max_tokens_for_clear") == number(reduction.max_tokens_for_clear));
    CHECK(documented("reduction.max_buffered_bytes_for_store") == number(reduction.max_buffered_bytes_for_store));
    CHECK(documented("reduction.read_file_tool_name") == reduction.read_file_tool_name);
    const SummarizationConfig summarization;
    CHECK(documented("summarization.trigger") ==
          fmt::format("{{\"context_tokens\": {}}}", summarization.trigger.context_tokens));
    CHECK(documented("summarization.keep_recent_tokens") == number(summarization.keep_recent_tokens));
    CHECK(documented("summarization.preserve_skills.skills_token_budget") ==
          number(summarization.preserve_skills.skills_token_budget));
    const TokenSavingConfig saving;
    CHECK(documented("token_saving.compress_threshold_chars") == number(saving.compress_threshold_chars));
    CHECK(documented("token_saving.perplexity_keep_ratio_mid") == number(saving.perplexity_keep_ratio_mid));
    CHECK(documented("token_saving.when") == (saving.when == SavingTime::batched ? "batched" : "on_arrival"));
    CHECK(documented("pruning.head_bytes") == number(PruningConfig{}.head_bytes));
    const CompactionConfig compaction;
    CHECK(documented("compaction.threshold_tokens") == number(compaction.threshold_tokens));
    CHECK(documented("compaction.skip_summary_margin_fraction") == number(compaction.skip_summary_margin_fraction));
    CHECK(documented("compaction.media") == to_string(compaction.media));
    CHECK(documented("compaction.retry") == fmt::format("{{\"max_retries\": {}}}", compaction.retry->max_retries));
}

TEST_CASE("the example of extensions/config/README.md is a configuration", "[config_json]") {
    const std::string docs = read_docs();
    const std::size_t begin = docs.find("```json\n");
    REQUIRE(begin != std::string::npos);
    const std::string json = docs.substr(begin + 8, docs.find("\n```", begin + 8) - begin - 8);
    const ChainSettings settings = read_chain_settings(json, {.name = "extensions/config/README.md"});
    CHECK(settings.stages.size() == 1);
    CHECK(settings.warnings.empty());
}

TEST_CASE("the settings of docs/choosing.md for who comes from another system are configurations", "[config_json]") {
    const std::string docs = read_docs("docs/choosing.md");
    const std::size_t section = docs.find("\n## Coming from another system\n");
    int count = 0;
    for (std::size_t begin = docs.find("```json\n", section); begin != std::string::npos;
         begin = docs.find("```json\n", begin)) {
        begin += 8;
        const std::string json = docs.substr(begin, docs.find("\n```", begin) - begin);
        CAPTURE(json);
        CHECK_NOTHROW(read_chain_settings(json, {.name = "docs/choosing.md", .types = testing::provider_types()}));
        ++count;
    }
    CHECK(count == 5);
}

TEST_CASE("a configuration file becomes a chain", "[config_json]") {
    const std::string path = std::string(WHITTLE_SOURCE_DIR) + "/extensions/config/tests/no_such_file.json";
    CHECK_THROWS_AS(settings_from(path, ""), Error);  // an empty text is no JSON
    CHECK(chain_from({}).stages().empty());
}
