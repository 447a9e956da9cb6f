#include "whittle/chain/middleware_type.hpp"
#include "whittle/fields/detail/check_numbers.hpp"
#include "whittle/trimming/config.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

namespace {

ConfigFields<TrimmingConfig> trimming_fields() {
    using C = TrimmingConfig;
    return {
        own_storage_field(&C::storage),
        {.name = "unit",
         .member = word_member(&C::unit, {TrimUnit::passages, TrimUnit::lines}),
         .meaning = "what stays of an old text: whole `passages`, or single `lines`",
         .words = {"passages", "lines"}},
        {"start_tokens", &C::start_tokens, "cached text of requests of up to that size stays as it is"},
        {"cold_start_tokens", &C::cold_start_tokens, "the same after a pause longer than the cache lives"},
        {"keep_rounds", &C::keep_rounds, "newest model calls whose results stay as they came", 1},
        {"first_calls", &C::first_calls, "model calls that do not count as evidence that the run goes on"},
        {"use_pauses", &C::use_pauses, "trim when the cache has expired"},
        {"look_every_calls", &C::look_every_calls, "how often old lines are looked for, in model calls", 1},
        {"window_fraction", &C::window_fraction,
         "above this part of a known window what may go goes, whatever it costs; 0: off", 0, 1},
        {"trim_reads", &C::trim_reads, "trim the content of files"},
        {"trim_outputs", &C::trim_outputs, "trim what programs and searches print"},
        {"trim_edit_results", &C::trim_edit_results, "trim what edits say"},
        {"trim_arguments", &C::trim_arguments, "trim arguments of calls that worked"},
        {"trim_other_arguments", &C::trim_other_arguments, "also long texts in calls that are no edits"},
        {"min_result_bytes", &C::min_result_bytes, "shorter results stay"},
        {"min_argument_bytes", &C::min_argument_bytes, "shorter arguments stay"},
        {"argument_age_calls", &C::argument_age_calls, "age at which what an edit replaced goes", 1},
        {"whole_calls", &C::whole_calls, "model calls for which a result stays whole at least", 1},
        {"pause_whole_calls", &C::pause_whole_calls, "the same at a pause", 1},
        {"most_whole_calls", &C::most_whole_calls, "a read at most, however far back the agent's edits reach", 1},
        {"most_passages", &C::most_passages, "passages that stay of a result", 1},
        {"passage_lines", &C::passage_lines, "most lines of a passage", 1},
        {"passage_age_calls", &C::passage_age_calls, "age at which a passage goes that nothing came back to", 1},
        {"outcome_age_calls", &C::outcome_age_calls, "age up to which end and errors of an output stay"},
        {"written_age_calls", &C::written_age_calls,
         "age at which a text goes that a call wrote and nothing came back to", 1},
        {"drop_shown_lines", &C::drop_shown_lines, "by lines: drop those that stand elsewhere in the request"},
        {"strip_line_numbers", &C::strip_line_numbers, "drop line numbers within a stretch of lines"},
        {"drop_reminders", &C::drop_reminders, "drop `<system-reminder>` blocks"},
        {"expire_lines", &C::expire_lines, "drop lines that did not come up for long"},
        {"line_age_calls", &C::line_age_calls,
         "age at which a line goes near a rare word that user or model have written", 1},
        {"rare_line_age_calls", &C::rare_line_age_calls, "near a rare word that they have not", 1},
        {"plain_line_age_calls", &C::plain_line_age_calls, "any other", 1},
        {"pause_line_age_calls", &C::pause_line_age_calls, "`line_age_calls` at a pause", 1},
        {"pause_rare_line_age_calls", &C::pause_rare_line_age_calls, "`rare_line_age_calls` at a pause", 1},
        {"rare_word_lines", &C::rare_word_lines, "a word is rare in at most that many lines of a result"},
        {"near_lines", &C::near_lines, "lines around one with such a word that count with it"},
        {"extract_bytes", &C::extract_bytes, "bytes of the lines that stay of an output"},
        {"extract_line_bytes", &C::extract_line_bytes, "bytes of one of them", 1},
        {"error_line_bytes", &C::error_line_bytes, "bytes of one that tells of an error", 1},
        {"extract_age_calls", &C::extract_age_calls, "age at which one line of it is left; 0: never"},
        {"trim_on_arrival", &C::trim_on_arrival, "drop from new results what the model has before it already"},
        {"arrival_start_tokens", &C::arrival_start_tokens, "nothing of that before requests have that size"},
        {"arrival_min_bytes", &C::arrival_min_bytes, "shorter results stay when they come"},
        {"arrival_head_chars", &C::arrival_head_chars, "code points at their front that stay as they came", 1},
        {"exclude_tools", &C::exclude_tools, "beside `protected_tools` of the chain: never trimmed"},
    };
}

}  // namespace

void check_trimming(const TrimmingConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    detail::check_numbers(config, trimming_fields(), check);
    check.tool_names(config.exclude_tools, "exclude_tools");
    check.warn(
        config.line_age_calls < config.plain_line_age_calls, "line_age_calls", std::to_string(config.line_age_calls),
        fmt::format("{} (plain_line_age_calls) or more; smaller, it holds for all lines", config.plain_line_age_calls));
    const std::int64_t window = chain.config.profile.context_window;
    check.warn(window > 0 && config.start_tokens >= window, "start_tokens", std::to_string(config.start_tokens),
               fmt::format("less than the window ({}), else nothing that is cached is ever trimmed", window));
}

MiddlewareType<TrimmingConfig> trimming_type() {
    return {.type = "trimming",
            .fields = trimming_fields(),
            .check = [](const TrimmingConfig& config, const ChainInfo& chain, std::string_view, Problems& problems) {
                check_trimming(config, chain, "", problems);
            }};
}

}  // namespace whittle::inline v0
