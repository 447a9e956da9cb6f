#include "whittle/chain/middleware_type.hpp"
#include "whittle/token_saving/classifiers.hpp"
#include "whittle/token_saving/config.hpp"

namespace whittle::inline v0 {

namespace {

WordMember<TokenSavingConfig> signals_member() {
    return {[](const TokenSavingConfig& config) { return std::size_t{config.signals_fn ? 1U : 0U}; },
            [](TokenSavingConfig& config, std::size_t word) {
                config.signals_fn = word == 1 ? SignalsFunction(trajectory_signals) : SignalsFunction();
            }};
}

bool asks_model(const TokenSavingConfig& config) {
    return std::holds_alternative<RatioWordClassifier>(config.perplexity_classifier);
}

/// The word "model" is filled in when the middleware is made: until then the heuristic stands for it.
WordMember<TokenSavingConfig> classifier_member() {
    return {[](const TokenSavingConfig& config) {
                if (is_empty(config.perplexity_classifier)) return std::size_t{0};
                const bool is_frequency = std::holds_alternative<WindowScorer>(config.perplexity_classifier);
                return std::size_t{asks_model(config) ? 3U : is_frequency ? 2U : 1U};
            },
            [](TokenSavingConfig& config, std::size_t word) {
                if (word == 0) config.perplexity_classifier = std::monostate{};
                if (word == 1) config.perplexity_classifier = WordScorer(heuristic_scores);
                if (word == 2) config.perplexity_classifier = frequency_scorer();
                if (word == 3) config.perplexity_classifier = RatioWordClassifier(heuristic_classifier);
            }};
}

ConfigFields<TokenSavingConfig> token_saving_fields() {
    using C = TokenSavingConfig;
    return {
        {"compress_threshold_chars", &C::compress_threshold_chars, "longer tool results are cut to head and tail", 1},
        {"head_keep_chars", &C::head_keep_chars, "code points kept of the start"},
        {"tail_keep_chars", &C::tail_keep_chars, "code points kept of the end"},
        {"head_keep_lines", &C::head_keep_lines, "first lines kept, of at most `head_keep_chars`; 0: all of these"},
        {"tail_keep_lines", &C::tail_keep_lines, "last lines kept, of at most `tail_keep_chars`; 0: all of these"},
        {"keep_recent_tool_messages", &C::keep_recent_tool_messages,
         "newest tool results left whole; not with `on_arrival`"},
        {"enable_compression", &C::enable_compression, "cut tool results to head and tail"},
        {"early_exit_min_call_index", &C::early_exit_min_call_index, "no nudge before that many model calls"},
        {.name = "early_exit_text",
         .member = &C::early_exit_text,
         .meaning = "the nudge",
         .documented_default = "built in"},
        {.name = "signals",
         .member = signals_member(),
         .meaning = "`none` or `trajectory`: what judges if the agent runs in circles",
         .words = {"none", "trajectory"}},
        {"enable_early_exit", &C::enable_early_exit, "nudge an agent that runs in circles"},
        {"enable_perplexity_compression", &C::enable_perplexity_compression, "drop words of old texts"},
        {.name = "perplexity_classifier",
         .member = classifier_member(),
         .meaning = "`none`, `heuristic`, `frequency` (by the conversation's own counts, not a vocabulary) or `model`: "
                    "which words go",
         .words = {"none", "heuristic", "frequency", "model"}},
        {.name = "model",
         .member = ModelMember{},
         .meaning = "with the classifier `model`: a name of `models`",
         .documented_default = "none"},
        {"perplexity_recent_cutoff", &C::perplexity_recent_cutoff, "model calls ago; younger messages stay"},
        {"perplexity_mid_cutoff", &C::perplexity_mid_cutoff, "model calls ago; from here on a message is old"},
        {"perplexity_keep_ratio_mid", &C::perplexity_keep_ratio_mid,
         "share of the unprotected words that stays at first", 0, 1},
        {"perplexity_keep_ratio_old", &C::perplexity_keep_ratio_old, "share that stays once a message is old", 0, 1},
        {"perplexity_window_words", &C::perplexity_window_words, "words of one classifier call", 1},
        {"perplexity_min_content_words", &C::perplexity_min_content_words, "texts of fewer words stay"},
        own_storage_field(&C::storage),
        {"minimum_gain_tokens", &C::minimum_gain_tokens, "word-level: a batch that frees less is postponed"},
        {.name = "when",
         .member = word_member(&C::when, {SavingTime::on_arrival, SavingTime::batched}),
         .meaning = "`on_arrival` or `batched`: when tool results are cut",
         .words = {"on_arrival", "batched"}},
        {"batch_calls", &C::batch_calls, "model calls between batches; 1: at every call", 1},
    };
}

void check_model(TokenSavingConfig& config, ConfigEntry& entry) {
    if (asks_model(config) && !entry.gives("model")) entry.missing("model", "a name of `models`");
    if (!asks_model(config) && entry.gives("model"))
        entry.unexpected("model", "no model unless `perplexity_classifier` is \"model\"");
}

}  // namespace

MiddlewareType<TokenSavingConfig> token_saving_type() {
    return {.type = "token_saving",
            .fields = token_saving_fields(),
            .check =
                [](const TokenSavingConfig& config, const ChainInfo& chain, std::string_view, Problems& problems) {
                    check_token_saving(config, {chain.config, {}}, "", problems);
                },
            .after_fields_read = check_model};
}

}  // namespace whittle::inline v0
