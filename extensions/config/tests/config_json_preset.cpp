// Presets in a configuration: what they stand for, what overrides them, and the same written out.
#include "whittle/config/config_json.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <variant>

using namespace whittle;
using nlohmann::json;

namespace {

constexpr const char* models = R"("models": {"writer": {"type": "scripted", "replies": ["short"]}})";

ChainSettings settings_of(const std::string& text) { return read_chain_settings(text, {.name = "chain.json"}); }

json written_out(const std::string& text) { return json::parse(expand_preset(text, {.name = "chain.json"})); }

/// The error's text; empty if there is none.
std::string preset_error(const std::string& text) {
    try {
        static_cast<void>(settings_of(text));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

template <typename Config>
const Config& config_at(const ChainSettings& settings, std::size_t stage) {
    return std::any_cast<const Config&>(settings.stages.at(stage).config);
}

bool has_line(const std::string& text, std::string_view line) { return text.find(line) != std::string::npos; }

}  // namespace

TEST_CASE("a preset in a configuration is the preset in code", "[config_json]") {
    for (const Preset preset : presets()) {
        const std::string name(to_string(preset));
        CAPTURE(name);
        const ChainSettings settings =
            settings_of(R"({"preset": ")" + name + R"(", "profile": {"context_window": 64000}, )" + models + "}");
        const PresetConfig expected = preset_config(preset, {.context_window = 64'000});
        CHECK(settings.config.profile.cache == expected.chain.profile.cache);
        CHECK(settings.storage_settings.type == "memory");
        CHECK(settings.stages.size() == (expected.summarization ? 3U : 2U));
        CHECK(config_at<TrimmingConfig>(settings, 0).start_tokens == expected.trimming.start_tokens);
        CHECK(config_at<TrimmingConfig>(settings, 0).trim_arguments == expected.trimming.trim_arguments);
        CHECK(config_at<ReductionConfig>(settings, 1).max_length_for_trunc == expected.reduction.max_length_for_trunc);
        if (!expected.summarization) continue;
        CHECK(config_at<SummarizationConfig>(settings, 2) == *expected.summarization);
        CHECK(settings.stages[2].models_by_key.at("model") == "writer");
    }
}

TEST_CASE("without a model a preset's summaries are written by rule, at the edge of a known window", "[config_json]") {
    CHECK(settings_of(R"({"preset": "recommended"})").stages.size() == 2);
    const ChainSettings settings = settings_of(R"({"preset": "recommended", "profile": {"context_window": 32000}})");
    REQUIRE(settings.stages.size() == 3);
    CHECK(settings.stages[2].models_by_key.empty());
    CHECK(config_at<SummarizationConfig>(settings, 2).rule_based_summary_tokens == 3'200);
    CHECK(settings_of(R"({"preset": "lossless", "profile": {"context_window": 32000}})").stages.size() == 2);
    CHECK(make_chain<ChatMessage>(settings).stages().size() == 3);
}

TEST_CASE("an entry with the name of a preset's stage changes only what it says", "[config_json]") {
    const ChainSettings settings = settings_of(std::string(R"({"middlewares": [
        {"type": "summarization", "keep_recent_tokens": 77, "preserve_skills": {"max_skills": 2}},
        {"type": "trimming", "keep_rounds": 3},
        {"type": "reduction", "name": "second", "max_tokens_for_clear": 5000},
        {"type": "pruning"}],
        "profile": {"cache": "openai", "context_window": 32000}, "storage": {"type": "file", "root": "here"}, )") +
                                               models + R"(, "preset": "recommended"})");
    const PresetConfig preset = recommended({.context_window = 32'000});
    REQUIRE(settings.stages.size() == 5);
    CHECK(config_at<TrimmingConfig>(settings, 0).keep_rounds == 3);
    CHECK(config_at<TrimmingConfig>(settings, 0).start_tokens == 8'000);
    CHECK(config_at<ReductionConfig>(settings, 1).max_fraction_for_clear == 0.85);
    const auto& summarization = config_at<SummarizationConfig>(settings, 2);
    CHECK(summarization.keep_recent_tokens == 77);
    CHECK(summarization.trigger == preset.summarization->trigger);
    CHECK(summarization.preserve_skills.max_skills == 2);
    CHECK(summarization.preserve_skills.skills_token_budget == 3'200);
    CHECK(settings.stages[3].name == "second");
    CHECK(config_at<ReductionConfig>(settings, 3).max_fraction_for_clear == 0.0);
    CHECK(settings.stages[4].type == "pruning");
    CHECK(settings.config.profile.cache.name == "openai");
    CHECK(settings.storage_settings.type == "file");
}

TEST_CASE("a provider without a cache stays one under a preset when the configuration says so", "[config_json]") {
    CHECK(settings_of(R"({"preset": "recommended", "profile": {"cache": "no_cache"}})").config.profile.cache.read ==
          1.0);
}

TEST_CASE("an unknown preset is named with those that there are", "[config_json]") {
    CHECK(has_line(preset_error(R"({"preset": "recomended"})"),
                   R"(chain.json:1:2: preset: unknown preset "recomended"; did you mean "recommended"? allowed: )"
                   "recommended, lossless, local, cheap"));
    CHECK(has_line(preset_error(R"({"preset": 1})"), "expected one of"));
}

TEST_CASE("tokens that an entry gives count in place of the preset's parts of the window", "[config_json]") {
    const ChainSettings settings = settings_of(R"({"preset": "recommended", "profile": {"context_window": 200000},
        "middlewares": [{"type": "reduction", "max_tokens_for_clear": 30000, "clear_target_tokens": 15000}]})");
    const ClearingLimits limits = limits_of(config_at<ReductionConfig>(settings, 1), 200'000);
    CHECK(limits.trigger_tokens == 30'000);
    CHECK(limits.target == 15'000);
    CHECK(limits.trigger_tokens_if_cache_cold == 0);
    CHECK(settings.warnings.empty());
}

TEST_CASE("a preset that is not known brings no other problems with it", "[config_json]") {
    const std::string error = preset_error(
        R"({"preset": "recomended", "middlewares": [{"type": "summarization", "keep_recent_tokens": 9}]})");
    CHECK(has_line(error, "1 problem\n"));
}

TEST_CASE("what is doubtful of a preset names its stage, and says whose value it is", "[config_json]") {
    const ChainSettings settings = settings_of(R"({"preset": "recommended", "profile": {"context_window": 1}})");
    REQUIRE_FALSE(settings.warnings.empty());
    CHECK(has_line(settings.warnings.front(), "preset.trimming.start_tokens: found 1 (of the preset)"));
}

TEST_CASE("prices that are not given follow the cache that a preset brings", "[config_json]") {
    const ChainSettings settings = settings_of(
        R"({"preset": "recommended", "profile": {"prices": {"input": 3, "cache_write": 9, "output": 15}}})");
    CHECK(std::abs(settings.config.profile.prices->cache_read - 0.3) < 1e-9);
    CHECK(settings.config.profile.prices->cache_write == 9.0);
}

TEST_CASE("a bad value of an entry that changes a preset has its place", "[config_json]") {
    CHECK(has_line(
        preset_error("{\"preset\": \"cheap\",\n \"middlewares\": [{\"type\": \"trimming\", \"keep_rounds\": 0}]}"),
        "middlewares[0].keep_rounds: found 0"));
}

TEST_CASE("a preset written out has the same chain without it", "[config_json]") {
    for (const Preset preset : presets()) {
        const std::string name(to_string(preset));
        CAPTURE(name);
        const std::string text =
            R"({"preset": ")" + name +
            R"(", "profile": {"context_window": 50000}, "explain": true, "middlewares": [)"
            R"({"type": "reduction", "clear_target_fraction": 0, "trunc_exclude_tools": ["a\"b"]},)"
            R"({"type": "token_saving"}], )" +
            models + "}";
        const json plain = written_out(text);
        CHECK_FALSE(plain.contains("preset"));
        CHECK(plain["explain"] == true);
        const ChainSettings a = settings_of(text);
        const ChainSettings b = settings_of(plain.dump());
        REQUIRE(a.stages.size() == b.stages.size());
        CHECK(a.config.profile.cache == b.config.profile.cache);
        for (std::size_t i = 0; i < a.stages.size(); ++i) CHECK(a.stages[i].name == b.stages[i].name);
        CHECK(written_out(plain.dump()) == plain);
        const auto& reduction = config_at<ReductionConfig>(b, 1);
        CHECK(reduction.clear_target_fraction == 0.0);
        CHECK(reduction.max_fraction_for_clear == 0.85);
        CHECK(reduction.trunc_exclude_tools == std::vector<std::string>{"a\"b"});
        CHECK(config_at<TrimmingConfig>(a, 0).min_result_bytes == config_at<TrimmingConfig>(b, 0).min_result_bytes);
        CHECK(config_at<TrimmingConfig>(a, 0).unit == config_at<TrimmingConfig>(b, 0).unit);
        if (a.stages.size() == 4) CHECK(config_at<SummarizationConfig>(a, 2) == config_at<SummarizationConfig>(b, 2));
    }
}

TEST_CASE("a configuration without a preset is written out as it is", "[config_json]") {
    const std::string text =
        R"({"storage": {"type": "memory"}, "middlewares": [{"type": "reduction", "tool_config": {}}]})";
    CHECK(written_out(text) == json::parse(text));
}
