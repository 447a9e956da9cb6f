#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/model/model.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Settings of `Condensing`: extensions/condensing/README.md says what the forms look like.
struct CondensingConfig {
    // When.
    std::int64_t min_bytes = 4'000;  ///< shorter texts stay as they came
    double min_gain = 0.15;          ///< part of its bytes that a form has to save, from 0 to 1; else the text stays
    std::int64_t max_buffered_bytes = 8LL << 20;  ///< a longer result passes as it came; so much is held in memory
    bool condense_file_reads = false;             ///< also what reads files: an edit needs their exact text
    std::vector<std::string> exclude_tools{};     ///< tools whose results stay as they came

    // What.
    bool condense_json = true;    ///< JSON and JSON lines
    bool condense_logs = true;    ///< logs, and what terminals are painted with
    bool condense_diffs = true;   ///< unified diffs
    bool condense_html = true;    ///< HTML pages
    bool condense_tables = true;  ///< CSV, TSV, Markdown, columns under capitals

    // How much stays.
    std::int64_t max_condensed_bytes = 40'000;      ///< a longer form keeps both ends. `Reduction` leaves forms alone
    std::int64_t max_lossless_json_bytes = 12'000;  ///< JSON of up to that size in its lossless form loses nothing
    int cut_above_rows = 40;                        ///< longer arrays and tables are cut
    int head_rows = 12;                             ///< of those: rows at the front that stay
    int tail_rows = 6;                              ///< rows at the end that stay
    int max_outliers = 12;                          ///< rows between that stay: errors, rare and extreme values
    std::int64_t max_string_bytes = 600;            ///< bytes of one string in JSON that loses something

    // Extracts by a model.
    std::shared_ptr<TextModel> distiller{};  ///< called from several threads at once; null: no extracts
    std::int64_t distil_min_bytes = 30'000;  ///< with a model: an extract of what is longer, in its form, than that
    std::int64_t distil_max_input_bytes = 200'000;  ///< the model is shown both ends of a longer text

    std::shared_ptr<Storage> storage{};  ///< own storage. Null: the chain's
};

/// Adds the problems of `config`. `name`: of the middleware.
void check_condensing(const CondensingConfig& config, std::string_view name, Problems& problems);

/// As configurations write it; `make_condensing` makes it.
[[nodiscard]] MiddlewareType<CondensingConfig> condensing_type();

}  // namespace whittle::inline v0
