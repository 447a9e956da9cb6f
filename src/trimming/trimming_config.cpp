#include "whittle/trimming/config.hpp"

#include "whittle/base/detail/field_check.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

namespace {

void check_ages(const TrimmingConfig& config, FieldCheck& check) {
    check.at_least(config.keep_rounds, 1, "keep_rounds");
    check.at_least(config.first_calls, 0, "first_calls");
    check.at_least(config.look_every_calls, 1, "look_every_calls");
    check.at_least(config.whole_calls, 1, "whole_calls");
    check.at_least(config.pause_whole_calls, 1, "pause_whole_calls");
    check.at_least(config.most_whole_calls, 1, "most_whole_calls");
    check.at_least(config.passage_age_calls, 1, "passage_age_calls");
    check.at_least(config.outcome_age_calls, 0, "outcome_age_calls");
    check.at_least(config.written_age_calls, 1, "written_age_calls");
    check.at_least(config.plain_line_age_calls, 1, "plain_line_age_calls");
    check.at_least(config.line_age_calls, 1, "line_age_calls");
    check.at_least(config.rare_line_age_calls, 1, "rare_line_age_calls");
    check.at_least(config.pause_line_age_calls, 1, "pause_line_age_calls");
    check.at_least(config.pause_rare_line_age_calls, 1, "pause_rare_line_age_calls");
    check.at_least(config.extract_age_calls, 0, "extract_age_calls");
    check.at_least(config.argument_age_calls, 1, "argument_age_calls");
    check.warn(
        config.line_age_calls < config.plain_line_age_calls, "line_age_calls", std::to_string(config.line_age_calls),
        fmt::format("{} (plain_line_age_calls) or more; smaller, it holds for all lines", config.plain_line_age_calls));
}

void check_sizes(const TrimmingConfig& config, FieldCheck& check) {
    check.at_least(config.start_tokens, 0, "start_tokens");
    check.at_least(config.cold_start_tokens, 0, "cold_start_tokens");
    check.at_least(config.arrival_start_tokens, 0, "arrival_start_tokens");
    check.at_least(config.most_passages, 1, "most_passages");
    check.at_least(config.passage_lines, 1, "passage_lines");
    check.at_least(config.rare_word_lines, 0, "rare_word_lines");
    check.at_least(config.near_lines, 0, "near_lines");
    check.at_least(config.min_result_bytes, 0, "min_result_bytes");
    check.at_least(config.extract_bytes, 0, "extract_bytes");
    check.at_least(config.extract_line_bytes, 1, "extract_line_bytes");
    check.at_least(config.error_line_bytes, 1, "error_line_bytes");
    check.at_least(config.min_argument_bytes, 0, "min_argument_bytes");
    check.at_least(config.arrival_min_bytes, 0, "arrival_min_bytes");
    check.at_least(config.arrival_head_chars, 1, "arrival_head_chars");
}

}  // namespace

void check_trimming(const TrimmingConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check_ages(config, check);
    check_sizes(config, check);
    check.fraction(config.window_fraction, "window_fraction");
    check.tool_names(config.exclude_tools, "exclude_tools");
    const std::int64_t window = chain.config.profile.context_window;
    check.warn(window > 0 && config.start_tokens >= window, "start_tokens", std::to_string(config.start_tokens),
               fmt::format("less than the window ({}), else nothing that is cached is ever trimmed", window));
}

}  // namespace whittle::inline v0
