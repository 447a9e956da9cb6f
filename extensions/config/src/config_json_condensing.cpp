#include "config_json_reader.hpp"

#include <array>

namespace whittle::inline v0::detail {

namespace {

struct CondensingDraft : CondensingConfig {
    std::string name = "condensing";
    std::string model{};
    StorageSettings own_storage{};
};

template <auto Member>
constexpr Field<CondensingDraft> condensing_flag(std::string_view name, std::string_view meaning) {
    return {name, "true or false", &shown<Member, CondensingDraft>, meaning, &read_value<Member, CondensingDraft>};
}

template <auto Member, std::int64_t Lowest>
constexpr Field<CondensingDraft> condensing_number(std::string_view name, std::string_view meaning) {
    return {name, "integer", &shown<Member, CondensingDraft>, meaning, &read_integer<Member, Lowest, CondensingDraft>};
}

using CO = CondensingConfig;
constexpr std::array condensing_fields{
    Field<CondensingDraft>{"type", "string", "required", "`condensing`", &skip<CondensingDraft>},
    Field<CondensingDraft>{"name", "string", &shown<&CondensingDraft::name>, name_meaning,
                           &read_value<&CondensingDraft::name>},
    Field<CondensingDraft>{"storage", "object", "the chain's", "own storage; keys as in `storage`",
                           &read_own_storage<CondensingDraft>},
    Field<CondensingDraft>{"model",
                           "string",
                           {"none", &shown<&CondensingDraft::model>},
                           "a name of `models`: writes extracts of what is still long",
                           &read_value<&CondensingDraft::model>},
    condensing_number<&CO::min_bytes, 0>("min_bytes", "shorter texts stay as they came"),
    Field<CondensingDraft>{"min_gain", "number", &shown<&CO::min_gain>,
                           "part of its bytes that a form has to save, from 0 to 1; else the text stays",
                           &read_fraction<&CO::min_gain, CondensingDraft>},
    condensing_number<&CO::max_held_bytes, 1>("max_held_bytes",
                                              "a longer result passes as it came; so much is held in memory"),
    condensing_flag<&CO::condense_reads>("condense_reads", "also what reads files: an edit needs their exact text"),
    Field<CondensingDraft>{"exclude_tools", "array of strings", &shown<&CO::exclude_tools>,
                           "their results stay as they came", &read_value<&CO::exclude_tools>},
    condensing_flag<&CO::condense_json>("condense_json", "JSON and JSON lines"),
    condensing_flag<&CO::condense_logs>("condense_logs", "logs, and what terminals are painted with"),
    condensing_flag<&CO::condense_diffs>("condense_diffs", "unified diffs"),
    condensing_flag<&CO::condense_html>("condense_html", "pages"),
    condensing_flag<&CO::condense_tables>("condense_tables", "CSV, TSV, Markdown, columns under capitals"),
    condensing_number<&CO::max_form_bytes, 400>("max_form_bytes", "a longer form keeps both ends"),
    condensing_number<&CO::lossless_bytes, 0>("lossless_bytes",
                                              "JSON of up to that size in its lossless form loses nothing"),
    condensing_number<&CO::max_rows, 1>("max_rows", "longer arrays and tables are cut"),
    condensing_number<&CO::head_rows, 1>("head_rows", "of those: rows at the front that stay"),
    condensing_number<&CO::tail_rows, 0>("tail_rows", "rows at the end that stay"),
    condensing_number<&CO::max_outliers, 0>("max_outliers", "rows between that stay: errors, rare and extreme values"),
    condensing_number<&CO::max_columns, 0>("max_columns", "JSON objects with more values stay objects"),
    condensing_number<&CO::max_string_bytes, 16>("max_string_bytes", "of one string in JSON that loses something"),
    condensing_number<&CO::diff_context_lines, 0>("diff_context_lines",
                                                  "unchanged lines of a diff that stay on each side of a change"),
    condensing_number<&CO::error_context_lines, 0>("error_context_lines",
                                                   "lines of a log that stay on each side of an error"),
    condensing_number<&CO::distil_min_bytes, 0>("distil_min_bytes",
                                                "with `model`: an extract of what is longer, in its form, than that"),
    condensing_number<&CO::distil_max_tokens, 16>("distil_max_tokens", "of an extract"),
    condensing_number<&CO::distil_max_input_bytes, 1'000>("distil_max_input_bytes",
                                                          "the model is shown both ends of a longer text"),
};

CondensingDraft condensing_draft(const StageSettings& stage) {
    auto draft = draft_of<CondensingDraft, CondensingConfig>(stage);
    draft.model = stage.model;
    return draft;
}

void read_condensing(ConfigReader& reader, NodeId at, StageSettings& stage) {
    auto draft = condensing_draft(stage);
    read_object<CondensingDraft>(reader, at, draft, condensing_fields);
    stage.model = draft.model;
    to_stage<CondensingConfig>(draft, stage);
}

void check_condensing_stage(const StageSettings& stage, const StagePlace&, Problems& problems) {
    check_condensing(std::get<CondensingConfig>(stage.config), "", problems);
}

void add_condensing_keys(std::vector<ConfigKey>& keys) {
    add_keys<CondensingDraft>(keys, "condensing.", condensing_fields);
}

std::string changed_condensing(const StageSettings& stage) {
    return changed_object<CondensingDraft>(condensing_draft(stage), condensing_fields);
}

}  // namespace

extern const StageType condensing_type;
const StageType condensing_type{"condensing", &read_condensing,   &check_condensing_stage, &add_condensing_keys,
                                {},           &changed_condensing};

}  // namespace whittle::inline v0::detail
