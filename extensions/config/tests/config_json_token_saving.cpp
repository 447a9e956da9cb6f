// The "token_saving" stage of a configuration file.
#include "support/catch.hpp"
#include "whittle/config/config_json.hpp"

#include <string>
#include <string_view>

using namespace whittle;

namespace {

std::string token_saving_chain(const std::string& members) {
    return R"({"models": {"m": {"type": "scripted", "replies": ["[1]"]}},
               "middlewares": [{"type": "token_saving")" +
           members + "}]}";
}

std::string token_saving_problems(const std::string& json) {
    try {
        static_cast<void>(read_chain_settings(json, {.name = "c"}));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("every setting of token saving can be read", "[config_json]") {
    const ChainSettings settings =
        read_chain_settings(token_saving_chain(R"(, "name": "s", "compress_threshold_chars": 100,
        "head_keep_chars": 40, "tail_keep_chars": 30, "head_keep_lines": 4, "tail_keep_lines": 2,
        "keep_recent_tool_messages": 5, "enable_compression": false,
        "early_exit_min_call_index": 7, "early_exit_text": "stop", "signals": "trajectory", "enable_early_exit": false,
        "enable_perplexity_compression": true, "perplexity_classifier": "heuristic", "perplexity_recent_cutoff": 1,
        "perplexity_mid_cutoff": 2, "perplexity_keep_ratio_mid": 0.8, "perplexity_keep_ratio_old": 0.2,
        "perplexity_window_words": 9, "perplexity_min_content_words": 8, "storage": {"type": "memory"},
        "minimum_gain_tokens": 6, "when": "on_arrival", "batch_calls": 3)"));
    const auto& config = std::any_cast<const TokenSavingConfig&>(settings.stages.at(0).config);
    CHECK(settings.stages[0].name == "s");
    CHECK(config.compress_threshold_chars == 100);
    CHECK(config.head_keep_chars == 40);
    CHECK(config.tail_keep_chars == 30);
    CHECK(config.head_keep_lines == 4);
    CHECK(config.tail_keep_lines == 2);
    CHECK(config.keep_recent_tool_messages == 5);
    CHECK_FALSE(config.enable_compression);
    CHECK(config.early_exit_min_call_index == 7);
    CHECK(config.early_exit_text == "stop");
    CHECK(config.signals_fn != nullptr);
    CHECK_FALSE(config.enable_early_exit);
    CHECK(config.enable_perplexity_compression);
    CHECK(std::holds_alternative<WordScorer>(config.perplexity_classifier));
    CHECK(config.perplexity_recent_cutoff == 1);
    CHECK(config.perplexity_mid_cutoff == 2);
    CHECK(config.perplexity_keep_ratio_mid == 0.8);
    CHECK(config.perplexity_keep_ratio_old == 0.2);
    CHECK(config.perplexity_window_words == 9);
    CHECK(config.perplexity_min_content_words == 8);
    CHECK(settings.stages[0].storages.at("storage").type == "memory");
    CHECK(config.minimum_gain_tokens == 6);
    CHECK(config.when == SavingTime::on_arrival);
    CHECK(config.batch_calls == 3);
}

TEST_CASE("token saving without settings is the structure's defaults", "[config_json]") {
    const ChainSettings settings = read_chain_settings(token_saving_chain(""));
    const auto& config = std::any_cast<const TokenSavingConfig&>(settings.stages.at(0).config);
    CHECK(config.compress_threshold_chars == TokenSavingConfig{}.compress_threshold_chars);
    CHECK(config.batch_calls == TokenSavingConfig{}.batch_calls);
    CHECK_FALSE(config.signals_fn);
    CHECK(is_empty(config.perplexity_classifier));
    CHECK(settings.warnings.empty());
}

TEST_CASE("nonsense in token saving is refused with its place", "[config_json]") {
    CHECK_THAT(token_saving_problems(token_saving_chain(R"(, "head_keep_chars": 1500)")),
               Catch::Contains("middlewares[0].head_keep_chars: found 1500 + tail_keep_chars 700"));
    CHECK_THAT(token_saving_problems(token_saving_chain(R"(, "perplexity_keep_ratio_mid": 0)")),
               Catch::Contains("above 0, at most 1"));
    CHECK_THAT(token_saving_problems(token_saving_chain(R"(, "perplexity_classifier": "magic")")),
               Catch::Contains("heuristic"));
    CHECK_THAT(token_saving_problems(token_saving_chain(R"(, "perplexity_classifier": "model")")),
               Catch::Contains("middlewares[0].model"));
    CHECK_THAT(token_saving_problems(token_saving_chain(R"(, "perplexity_classifier": "model", "model": "x")")),
               Catch::Contains("\"x\""));
    CHECK_THAT(token_saving_problems(token_saving_chain(R"(, "model": "m")")),
               Catch::Contains("perplexity_classifier"));
}

TEST_CASE("a chain from a file asks the named model which words to keep", "[config_json]") {
    const auto chain = make_chain<ChatMessage>(read_chain_settings(token_saving_chain(
        R"(, "enable_perplexity_compression": true, "perplexity_classifier": "model", "model": "m",
             "minimum_gain_tokens": 0, "batch_calls": 1)")));
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    std::string text = "first";
    for (int i = 0; i < 40; ++i) text += " word";
    c.push_back(ChatMessage::assistant(text));
    for (int i = 0; i < 4; ++i) c.push_back(ChatMessage::assistant("go on"));
    chain.before_model(c);
    CHECK(text_of(c.messages()[1]) == "first");
}
