#include "whittle/chain/middleware_type.hpp"
#include "whittle/condensing/config.hpp"

namespace whittle::inline v0 {

namespace {

ConfigFields<CondensingConfig> condensing_fields() {
    using C = CondensingConfig;
    return {
        own_storage_field(&C::storage),
        {.name = "model",
         .member = ModelMember{},
         .meaning = "a name of `models`: writes extracts of what is still long",
         .documented_default = "none"},
        {"min_bytes", &C::min_bytes, "shorter texts stay as they came"},
        {"min_gain", &C::min_gain, "part of its bytes that a form has to save, from 0 to 1; else the text stays", 0, 1},
        {"max_buffered_bytes", &C::max_buffered_bytes, "a longer result passes as it came; so much is held in memory",
         1},
        {"condense_file_reads", &C::condense_file_reads, "also what reads files: an edit needs their exact text"},
        {"exclude_tools", &C::exclude_tools, "tools whose results stay as they came"},
        {"condense_json", &C::condense_json, "JSON and JSON lines"},
        {"condense_logs", &C::condense_logs, "logs, and what terminals are painted with"},
        {"condense_diffs", &C::condense_diffs, "unified diffs"},
        {"condense_html", &C::condense_html, "HTML pages"},
        {"condense_tables", &C::condense_tables, "CSV, TSV, Markdown, columns under capitals"},
        {"max_condensed_bytes", &C::max_condensed_bytes, "a longer form keeps both ends", 400},
        {"max_lossless_json_bytes", &C::max_lossless_json_bytes,
         "JSON of up to that size in its lossless form loses nothing"},
        {"cut_above_rows", &C::cut_above_rows, "longer arrays and tables are cut", 1},
        {"head_rows", &C::head_rows, "of those: rows at the front that stay", 1},
        {"tail_rows", &C::tail_rows, "rows at the end that stay"},
        {"max_outliers", &C::max_outliers, "rows between that stay: errors, rare and extreme values"},
        {"max_string_bytes", &C::max_string_bytes, "bytes of one string in JSON that loses something", 16},
        {"distil_min_bytes", &C::distil_min_bytes,
         "with a model: an extract of what is longer, in its form, than that"},
        {"distil_max_input_bytes", &C::distil_max_input_bytes, "the model is shown both ends of a longer text", 1'000},
    };
}

}  // namespace

MiddlewareType<CondensingConfig> condensing_type() {
    return {.type = "condensing",
            .fields = condensing_fields(),
            .check = [](const CondensingConfig& config, const ChainInfo&, std::string_view, Problems& problems) {
                check_condensing(config, "", problems);
            }};
}

}  // namespace whittle::inline v0
