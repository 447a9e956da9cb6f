#include "config_json_reader.hpp"

#include "whittle/token_saving/classifiers.hpp"

#include <array>

namespace whittle::inline v0::detail {

namespace {

struct TokenSavingDraft : TokenSavingConfig {
    std::string name = "token_saving";
    std::string model{};
    StorageSettings own_storage{};
};

void read_signals(ConfigReader& reader, NodeId at, TokenSavingDraft& draft) {
    constexpr std::array<std::string_view, 2> words{"none", "trajectory"};
    const auto found = reader.read_word(at, "signals", words);
    if (found) draft.signals_fn = *found == 1 ? SignalsFunction(trajectory_signals) : SignalsFunction();
}

/// "model" is filled in when the chain is made: until then the heuristic stands for it.
void read_classifier(ConfigReader& reader, NodeId at, TokenSavingDraft& draft) {
    constexpr std::array<std::string_view, 4> words{"none", "heuristic", "frequency", "model"};
    const auto found = reader.read_word(at, "classifier", words);
    if (!found) return;
    if (*found == 0) draft.perplexity_classifier = std::monostate{};
    if (*found == 1) draft.perplexity_classifier = WordScorer(heuristic_scores);
    if (*found == 2) draft.perplexity_classifier = frequency_scorer();
    if (*found == 3) draft.perplexity_classifier = RatioWordClassifier(heuristic_classifier);
}

constexpr std::array saving_times{SavingTime::on_arrival, SavingTime::batched};
constexpr std::array<std::string_view, 2> saving_time_words{"on_arrival", "batched"};

void read_when(ConfigReader& reader, NodeId at, TokenSavingDraft& draft) {
    if (const auto found = reader.read_word(at, "time", saving_time_words)) draft.when = saving_times[*found];
}

template <auto Member>
void read_ratio(ConfigReader& reader, NodeId at, TokenSavingDraft& draft) {
    reader.read_real(at, 0.0, 1.0, draft.*Member);
}

using TC = TokenSavingConfig;
constexpr std::array<Field<TokenSavingDraft>, 26> token_saving_fields{{
    {"type", "string", "required", "`token_saving`", &skip<TokenSavingDraft>},
    {"name", "string", &shown<&TokenSavingDraft::name>, name_meaning, &read_value<&TokenSavingDraft::name>},
    {"compress_threshold_chars", "integer", &shown<&TC::compress_threshold_chars>,
     "longer tool results are cut to head and tail", &read_integer<&TC::compress_threshold_chars, 1>},
    {"head_keep_chars", "integer", &shown<&TC::head_keep_chars>, "code points kept of the start",
     &read_integer<&TC::head_keep_chars, 0>},
    {"tail_keep_chars", "integer", &shown<&TC::tail_keep_chars>, "code points kept of the end",
     &read_integer<&TC::tail_keep_chars, 0>},
    {"head_keep_lines", "integer", &shown<&TC::head_keep_lines>,
     "first lines kept, of at most `head_keep_chars`; 0: all of these", &read_integer<&TC::head_keep_lines, 0>},
    {"tail_keep_lines", "integer", &shown<&TC::tail_keep_lines>,
     "last lines kept, of at most `tail_keep_chars`; 0: all of these", &read_integer<&TC::tail_keep_lines, 0>},
    {"keep_recent_tool_messages", "integer", &shown<&TC::keep_recent_tool_messages>,
     "newest tool results left whole; not with `on_arrival`", &read_integer<&TC::keep_recent_tool_messages, 0>},
    {"enable_compression", "true or false", &shown<&TC::enable_compression>, "cut tool results to head and tail",
     &read_value<&TC::enable_compression>},
    {"early_exit_min_call_index", "integer", &shown<&TC::early_exit_min_call_index>,
     "no nudge before that many model calls", &read_integer<&TC::early_exit_min_call_index, 0>},
    {"early_exit_text",
     "string",
     {"built in", &shown<&TC::early_exit_text>},
     "the nudge",
     &read_value<&TC::early_exit_text>},
    {"signals", "string", +[](const TokenSavingDraft& d) { return std::string(d.signals_fn ? "trajectory" : "none"); },
     "`none` or `trajectory`: what judges whether the agent runs in circles", &read_signals},
    {"enable_early_exit", "true or false", &shown<&TC::enable_early_exit>, "nudge an agent that runs in circles",
     &read_value<&TC::enable_early_exit>},
    {"enable_perplexity_compression", "true or false", &shown<&TC::enable_perplexity_compression>,
     "drop words of old texts", &read_value<&TC::enable_perplexity_compression>},
    {"perplexity_classifier", "string",
     +[](const TokenSavingDraft& d) { return std::string(is_empty(d.perplexity_classifier) ? "none" : "built in"); },
     "`none`, `heuristic`, `frequency` (by the conversation's own counts, never a vocabulary) or `model`: which words "
     "go",
     &read_classifier},
    {"model",
     "string",
     {"none", &shown<&TokenSavingDraft::model>},
     "with the classifier `model`: a name of `models`",
     &read_value<&TokenSavingDraft::model>},
    {"perplexity_recent_cutoff", "integer", &shown<&TC::perplexity_recent_cutoff>,
     "model calls ago; younger messages stay", &read_integer<&TC::perplexity_recent_cutoff, 0>},
    {"perplexity_mid_cutoff", "integer", &shown<&TC::perplexity_mid_cutoff>,
     "model calls ago; from here on a message is old", &read_integer<&TC::perplexity_mid_cutoff, 0>},
    {"perplexity_keep_ratio_mid", "number", &shown<&TC::perplexity_keep_ratio_mid>,
     "share of the unprotected words that stays at first", &read_ratio<&TC::perplexity_keep_ratio_mid>},
    {"perplexity_keep_ratio_old", "number", &shown<&TC::perplexity_keep_ratio_old>,
     "share that stays once a message is old", &read_ratio<&TC::perplexity_keep_ratio_old>},
    {"perplexity_window_words", "integer", &shown<&TC::perplexity_window_words>, "words of one classifier call",
     &read_integer<&TC::perplexity_window_words, 1>},
    {"perplexity_min_content_words", "integer", &shown<&TC::perplexity_min_content_words>, "texts of fewer words stay",
     &read_integer<&TC::perplexity_min_content_words, 0>},
    {"storage", "object", "the chain's", "own storage; keys as in `storage`", &read_own_storage<TokenSavingDraft>},
    {"minimum_gain_tokens", "integer", &shown<&TC::minimum_gain_tokens>,
     "word-level: a batch that frees less is postponed", &read_integer<&TC::minimum_gain_tokens, 0>},
    {"when", "string", +[](const TokenSavingDraft& d) { return word_of(d.when, saving_times, saving_time_words); },
     "`on_arrival` or `batched`: when tool results are cut", &read_when},
    {"batch_calls", "integer", &shown<&TC::batch_calls>, "model calls between batches",
     &read_integer<&TC::batch_calls, 1>},
}};

bool asks_model(const ConfigReader& reader, NodeId at) {
    const NodeId classifier = reader.json().member(at, "perplexity_classifier");
    return classifier != JsonPositions::none && reader.json()[classifier].kind == JsonPositions::Kind::string &&
           reader.json().text(classifier) == "model";
}

void read_token_saving(ConfigReader& reader, NodeId at, StageSettings& stage) {
    TokenSavingDraft draft;
    read_object<TokenSavingDraft>(reader, at, draft, token_saving_fields);
    const NodeId model = reader.json().member(at, "model");
    if (asks_model(reader, at) && model == JsonPositions::none) reader.missing(at, "model", "a name of `models`");
    if (!asks_model(reader, at) && model != JsonPositions::none)
        reader.unexpected(model, "no model unless `perplexity_classifier` is \"model\"");
    stage.model = draft.model;
    to_stage<TokenSavingConfig>(draft, stage);
}

void check_token_saving_stage(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    check_token_saving(std::get<TokenSavingConfig>(stage.config), place.chain, "", problems);
}

void add_token_saving_keys(std::vector<ConfigKey>& keys) {
    add_keys<TokenSavingDraft>(keys, "token_saving.", token_saving_fields);
}

}  // namespace

extern const StageType token_saving_type;
const StageType token_saving_type{"token_saving", &read_token_saving, &check_token_saving_stage,
                                  &add_token_saving_keys};

}  // namespace whittle::inline v0::detail
