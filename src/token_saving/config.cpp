#include "whittle/token_saving/config.hpp"

#include "whittle/base/detail/field_check.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

std::string_view default_early_exit_text(Language language) noexcept {
    if (language == Language::chinese)
        return "你似乎陷入了循环：最近的步骤没有带来新的进展。请停止继续调查，立即提交你目前最好的答案。";
    return "You seem to be stuck in a loop: your latest steps bring nothing new. Stop investigating and submit your "
           "current best answer now.";
}

namespace {

void check_ratio(double value, std::string_view field, FieldCheck& check) {
    check.error(!(value > 0.0 && value <= 1.0), field, fmt::format("{}", value), "above 0, at most 1");
}

void check_saving_sizes(const TokenSavingConfig& config, FieldCheck& check) {
    check.at_least(config.compress_threshold_chars, 1, "compress_threshold_chars");
    check.at_least(config.head_keep_chars, 0, "head_keep_chars");
    check.at_least(config.tail_keep_chars, 0, "tail_keep_chars");
    check.at_least(config.head_keep_lines, 0, "head_keep_lines");
    check.at_least(config.tail_keep_lines, 0, "tail_keep_lines");
    check.at_least(config.keep_recent_tool_messages, 0, "keep_recent_tool_messages");
    const bool is_sane =
        config.compress_threshold_chars >= 1 && config.head_keep_chars >= 0 && config.tail_keep_chars >= 0;
    const bool fits = config.head_keep_chars < config.compress_threshold_chars &&
                      config.tail_keep_chars < config.compress_threshold_chars - config.head_keep_chars;
    check.error(is_sane && !fits, "head_keep_chars",
                fmt::format("{} + tail_keep_chars {}", config.head_keep_chars, config.tail_keep_chars),
                fmt::format("together below compress_threshold_chars ({})", config.compress_threshold_chars));
}

void check_words(const TokenSavingConfig& config, FieldCheck& check) {
    check.at_least(config.perplexity_recent_cutoff, 0, "perplexity_recent_cutoff");
    check.error(config.perplexity_mid_cutoff < config.perplexity_recent_cutoff, "perplexity_mid_cutoff",
                std::to_string(config.perplexity_mid_cutoff),
                fmt::format("at least perplexity_recent_cutoff ({})", config.perplexity_recent_cutoff));
    check_ratio(config.perplexity_keep_ratio_mid, "perplexity_keep_ratio_mid", check);
    check_ratio(config.perplexity_keep_ratio_old, "perplexity_keep_ratio_old", check);
    check.error(config.perplexity_keep_ratio_old > config.perplexity_keep_ratio_mid, "perplexity_keep_ratio_old",
                fmt::format("{}", config.perplexity_keep_ratio_old),
                fmt::format("at most perplexity_keep_ratio_mid ({})", config.perplexity_keep_ratio_mid));
    check.at_least(config.perplexity_window_words, 1, "perplexity_window_words");
    check.at_least(config.perplexity_min_content_words, 0, "perplexity_min_content_words");
    check.at_least(config.minimum_gain_tokens, 0, "minimum_gain_tokens");
    check.warn(config.enable_perplexity_compression && is_empty(config.perplexity_classifier),
               "enable_perplexity_compression", "true without a perplexity_classifier",
               "a classifier, else nothing is compressed word by word");
}

}  // namespace

void check_token_saving(const TokenSavingConfig& config, const ChainInfo& chain, std::string_view name,
                        Problems& problems) {
    FieldCheck check(name, problems);
    check_saving_sizes(config, check);
    check_words(config, check);
    check.at_least(config.early_exit_min_call_index, 0, "early_exit_min_call_index");
    check.at_least(config.batch_calls, 1, "batch_calls");
    check.warn(!chain.middlewares.empty() && chain.middlewares.back() != name, "place",
               fmt::format("before \"{}\"", chain.middlewares.empty() ? "" : chain.middlewares.back()),
               "the end of the chain: else what it shortens is in the way of the middlewares behind it");
}

}  // namespace whittle::inline v0
