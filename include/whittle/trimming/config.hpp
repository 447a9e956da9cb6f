#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What stays of an old text.
enum class TrimUnit : std::uint8_t {
    passages,  ///< whole stretches that belong together, long enough to be copied, or nothing
    lines,     ///< single lines, wherever they stand: cheaper, but what is left is hard to edit by
};

/// Settings of `Trimming`: docs/trimming.md has the reasons. Ages are numbers of model calls.
struct TrimmingConfig {
    TrimUnit unit = TrimUnit::passages;

    // When.
    std::int64_t start_tokens = 20'000;       ///< cached text of requests of up to that size stays as it is
    std::int64_t cold_start_tokens = 10'000;  ///< the same after a pause that is longer than the cache lives
    int keep_rounds = 1;                      ///< newest model calls whose results stay as they came
    int first_calls = 20;                     ///< model calls that do not count as evidence that the run goes on
    bool use_pauses = true;                   ///< trim when the cache has expired
    int look_every_calls = 4;                 ///< how often old lines are looked for
    double window_fraction = 0.0;  ///< above this part of a known window what may go goes, whatever it costs; 0: off

    bool trim_reads = true;                 ///< the content of files
    bool trim_outputs = true;               ///< what programs and searches say
    bool trim_edit_results = true;          ///< what edits say
    bool trim_arguments = true;             ///< of calls that worked
    bool trim_other_arguments = true;       ///< also long texts in calls that are no edits, such as here-documents
    std::int64_t min_result_bytes = 400;    ///< shorter results stay
    std::int64_t min_argument_bytes = 240;  ///< shorter arguments stay
    int argument_age_calls = 2;             ///< age at which what an edit replaced goes

    // By passages.
    int whole_calls = 12;  ///< a result stays whole for that long at least, a read for twice as long as the agent's
                           ///< edits reach back
    int pause_whole_calls = 5;    ///< the same at a pause, and a read for as long as they reach back
    int most_whole_calls = 40;    ///< a read at most; at a pause half of it
    int most_passages = 3;        ///< that stay of a result
    int passage_lines = 20;       ///< most lines of one
    int passage_age_calls = 50;   ///< a passage goes that nothing has come back to for that long
    int outcome_age_calls = 40;   ///< age up to which the end and the errors of an output stay
    int written_age_calls = 100;  ///< age at which a text goes that a call wrote, if nothing has come back to it

    // By lines. Of reads:
    bool drop_shown_lines = true;        ///< lines that stand elsewhere in the request
    bool strip_line_numbers = true;      ///< numbers but for the first of each stretch of lines
    bool drop_reminders = true;          ///< "<system-reminder>" blocks
    bool expire_lines = true;            ///< lines that did not come up for long
    int line_age_calls = 50;             ///< age at which a line goes near a rare word that user or model have written
    int rare_line_age_calls = 50;        ///< near a rare word that they have not
    int plain_line_age_calls = 4;        ///< any other
    int pause_line_age_calls = 12;       ///< `line_age_calls` at a pause
    int pause_rare_line_age_calls = 10;  ///< `rare_line_age_calls` at a pause
    int rare_word_lines = 3;             ///< a word is rare in at most that many lines of a result
    int near_lines = 3;                  ///< lines around one with such a word that count with it

    // Of what programs, searches and edits say:
    std::int64_t extract_bytes = 300;  ///< of the lines that stay
    std::int64_t extract_line_bytes = 160;
    std::int64_t error_line_bytes = 300;
    int extract_age_calls = 20;  ///< age at which one line is left of an extract; 0: never

    // When a result comes:
    bool trim_on_arrival = true;
    std::int64_t arrival_start_tokens = 0;  ///< nothing before requests have that size
    std::int64_t arrival_min_bytes = 400;   ///< shorter results stay
    std::int64_t arrival_head_chars = 64;   ///< code points at the front that stay as they came

    std::vector<std::string> exclude_tools{};  ///< never trimmed, beside the chain's protected tools
    std::shared_ptr<Storage> storage{};        ///< null: the chain's
};

/// The `Provenance::reason` of what stands in place of trimmed text.
inline constexpr std::string_view trimmed_reason = "trim";

/// Adds the problems of `config`. `name`: of the middleware.
void check_trimming(const TrimmingConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems);

/// As configurations write it; `make_trimming` makes it.
[[nodiscard]] MiddlewareType<TrimmingConfig> trimming_type();

}  // namespace whittle::inline v0
