#pragma once

#include "evaluation/evaluation.hpp"
#include "session_cost.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace whittle::cli {

/// A strategy and what it made of each session.
struct ComparedStrategy {
    std::string name{};
    std::string type{};  ///< "control" or "chain"
    std::string description{};
    std::vector<evaluation::Figures> figures{};  ///< by session
};

/// What `compare` prints.
struct Comparison {
    std::vector<evaluation::CostProfile> profiles{};
    CostBases bases{};  ///< by which the first profile is paid, and what stands in front of the messages
    std::int64_t window = 0;
    std::vector<std::string> files{};
    std::vector<std::size_t> file_of{};  ///< by session
    std::vector<ComparedStrategy> strategies{};
    bool by_file = false;   ///< a row for each file, beside those of the strata
    bool all = false;       ///< text: all tables
    bool sessions = false;  ///< JSON: the single sessions too
};

/// A group of sessions and what one strategy made of it.
struct ComparedRow {
    std::string stratum{};  ///< of `evaluation::strata()`, or a file's name
    evaluation::Summary summary{};
};

/// Names for a column or a chart, short and without control characters: of a configuration the file's, with a number
/// where several are the same.
[[nodiscard]] std::vector<std::string> labels_of(const std::vector<ComparedStrategy>& strategies);

/// Those with a session in them: the strata, then the files if they are wanted.
[[nodiscard]] std::vector<ComparedRow> rows_of(const Comparison& comparison, const ComparedStrategy& strategy);

/// One table, the cheapest strategy first, and what its headings and the strategies are; with `all` one for each size
/// of sessions, then what was needed, and C* by profile. They take 100 columns; in fewer `columns` each is folded, and
/// what is said of them is wrapped.
[[nodiscard]] std::string comparison_text(const Comparison& comparison, bool colour, std::size_t columns);
[[nodiscard]] std::string comparison_json(const Comparison& comparison);
/// A line for each strategy, stratum and profile.
[[nodiscard]] std::string comparison_csv(const Comparison& comparison);
/// What each strategy costs by the first profile, against the edits that it leaves possible: a chart for each size of
/// sessions above 20k tokens, or one for all. Without scripts or links; light and dark.
[[nodiscard]] std::string comparison_svg(const Comparison& comparison);

}  // namespace whittle::cli
