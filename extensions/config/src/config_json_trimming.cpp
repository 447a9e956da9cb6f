#include "config_json_reader.hpp"

#include <array>

namespace whittle::inline v0::detail {

namespace {

struct TrimmingDraft : TrimmingConfig {
    std::string name = "trimming";
    StorageSettings own_storage{};
};

template <auto Member>
constexpr Field<TrimmingDraft> flag(std::string_view name, std::string_view meaning) {
    return {name, "true or false", &shown<Member, TrimmingDraft>, meaning, &read_value<Member, TrimmingDraft>};
}

template <auto Member, std::int64_t Lowest>
constexpr Field<TrimmingDraft> number(std::string_view name, std::string_view meaning) {
    return {name, "integer", &shown<Member, TrimmingDraft>, meaning, &read_integer<Member, Lowest, TrimmingDraft>};
}

using TR = TrimmingConfig;

constexpr std::array units{TrimUnit::passages, TrimUnit::lines};
constexpr std::array<std::string_view, 2> unit_words{"passages", "lines"};

void read_unit(ConfigReader& reader, NodeId at, TrimmingDraft& draft) {
    if (const auto found = reader.read_word(at, "unit", unit_words)) draft.unit = units[*found];
}

constexpr std::array trimming_fields{
    Field<TrimmingDraft>{"type", "string", "required", "`trimming`", &skip<TrimmingDraft>},
    Field<TrimmingDraft>{"name", "string", &shown<&TrimmingDraft::name>, name_meaning,
                         &read_value<&TrimmingDraft::name>},
    Field<TrimmingDraft>{"storage", "object", "the chain's", "own storage; keys as in `storage`",
                         &read_own_storage<TrimmingDraft>},
    Field<TrimmingDraft>{"unit", "string", +[](const TrimmingDraft& d) { return word_of(d.unit, units, unit_words); },
                         "what stays of an old text: whole `passages`, or single `lines`", &read_unit},
    number<&TR::start_tokens, 0>("start_tokens", "cached text of requests of up to that size stays as it is"),
    number<&TR::cold_start_tokens, 0>("cold_start_tokens", "the same after a pause longer than the cache lives"),
    number<&TR::keep_rounds, 1>("keep_rounds", "newest model calls whose results stay as they came"),
    number<&TR::first_calls, 0>("first_calls", "model calls that do not count as evidence that the run goes on"),
    flag<&TR::use_pauses>("use_pauses", "trim when the cache has expired"),
    number<&TR::look_every_calls, 1>("look_every_calls", "how often old lines are looked for, in model calls"),
    Field<TrimmingDraft>{"window_fraction", "number", &shown<&TR::window_fraction>,
                         "above this part of a known window what may go goes, whatever it costs; 0: off",
                         &read_fraction<&TR::window_fraction, TrimmingDraft>},
    flag<&TR::trim_reads>("trim_reads", "trim the content of files"),
    flag<&TR::trim_outputs>("trim_outputs", "trim what programs and searches print"),
    flag<&TR::trim_edit_results>("trim_edit_results", "trim what edits say"),
    flag<&TR::trim_arguments>("trim_arguments", "trim arguments of calls that worked"),
    flag<&TR::trim_other_arguments>("trim_other_arguments", "also long texts in calls that are no edits"),
    number<&TR::min_result_bytes, 0>("min_result_bytes", "shorter results stay"),
    number<&TR::min_argument_bytes, 0>("min_argument_bytes", "shorter arguments stay"),
    number<&TR::argument_age_calls, 1>("argument_age_calls", "age at which what an edit replaced goes"),
    number<&TR::whole_calls, 1>("whole_calls", "model calls for which a result stays whole at least"),
    number<&TR::pause_whole_calls, 1>("pause_whole_calls", "the same at a pause"),
    number<&TR::most_whole_calls, 1>("most_whole_calls", "a read at most, however far back the agent's edits reach"),
    number<&TR::most_passages, 1>("most_passages", "passages that stay of a result"),
    number<&TR::passage_lines, 1>("passage_lines", "most lines of a passage"),
    number<&TR::passage_age_calls, 1>("passage_age_calls", "age at which a passage goes that nothing came back to"),
    number<&TR::outcome_age_calls, 0>("outcome_age_calls", "age up to which end and errors of an output stay"),
    number<&TR::written_age_calls, 1>("written_age_calls",
                                      "age at which a text goes that a call wrote and nothing came back to"),
    flag<&TR::drop_shown_lines>("drop_shown_lines", "by lines: drop those that stand elsewhere in the request"),
    flag<&TR::strip_line_numbers>("strip_line_numbers", "drop line numbers within a stretch of lines"),
    flag<&TR::drop_reminders>("drop_reminders", "drop `<system-reminder>` blocks"),
    flag<&TR::expire_lines>("expire_lines", "drop lines that did not come up for long"),
    number<&TR::line_age_calls, 1>("line_age_calls",
                                   "age at which a line goes near a rare word that user or model have written"),
    number<&TR::rare_line_age_calls, 1>("rare_line_age_calls", "near a rare word that they have not"),
    number<&TR::plain_line_age_calls, 1>("plain_line_age_calls", "any other"),
    number<&TR::pause_line_age_calls, 1>("pause_line_age_calls", "`line_age_calls` at a pause"),
    number<&TR::pause_rare_line_age_calls, 1>("pause_rare_line_age_calls", "`rare_line_age_calls` at a pause"),
    number<&TR::rare_word_lines, 0>("rare_word_lines", "a word is rare in at most that many lines of a result"),
    number<&TR::near_lines, 0>("near_lines", "lines around one with such a word that count with it"),
    number<&TR::extract_bytes, 0>("extract_bytes", "bytes of the lines that stay of an output"),
    number<&TR::extract_line_bytes, 1>("extract_line_bytes", "bytes of one of them"),
    number<&TR::error_line_bytes, 1>("error_line_bytes", "bytes of one that tells of an error"),
    number<&TR::extract_age_calls, 0>("extract_age_calls", "age at which one line of it is left; 0: never"),
    flag<&TR::trim_on_arrival>("trim_on_arrival", "drop from new results what the model has before it already"),
    number<&TR::arrival_start_tokens, 0>("arrival_start_tokens", "nothing of that before requests have that size"),
    number<&TR::arrival_min_bytes, 0>("arrival_min_bytes", "shorter results stay when they come"),
    number<&TR::arrival_head_chars, 1>("arrival_head_chars", "code points at their front that stay as they came"),
    Field<TrimmingDraft>{"exclude_tools", "array of strings", &shown<&TR::exclude_tools>,
                         "beside `protected_tools` of the chain: never trimmed", &read_value<&TR::exclude_tools>},
};

void read_trimming(ConfigReader& reader, NodeId at, StageSettings& stage) {
    auto draft = draft_of<TrimmingDraft, TrimmingConfig>(stage);
    read_object<TrimmingDraft>(reader, at, draft, trimming_fields);
    to_stage<TrimmingConfig>(draft, stage);
}

void check_trimming_stage(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    check_trimming(std::get<TrimmingConfig>(stage.config), place.chain, "", problems);
}

void add_trimming_keys(std::vector<ConfigKey>& keys) { add_keys<TrimmingDraft>(keys, "trimming.", trimming_fields); }

std::string changed_trimming(const StageSettings& stage) {
    return changed_object<TrimmingDraft>(draft_of<TrimmingDraft, TrimmingConfig>(stage), trimming_fields);
}

}  // namespace

extern const StageType trimming_type;
const StageType trimming_type{"trimming", &read_trimming,   &check_trimming_stage, &add_trimming_keys,
                              {},         &changed_trimming};

}  // namespace whittle::inline v0::detail
