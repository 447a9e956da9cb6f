#pragma once

#include "report_page.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// What a chain came to beside what it is compared with.
struct ReportComparison {
    std::string chain{};    ///< its name
    std::string subject{};  ///< the same as a sentence begins: "The preset recommended"
    std::string base{};     ///< "as sent"
    ReportCost before{};
    ReportCost after{};
};

/// The two costs, and what is between them. `sent_before`, `sent_after`: tokens; may be empty.
[[nodiscard]] std::vector<ReportFigure> cost_figures_of(const ReportComparison& comparison,
                                                        const std::string& sent_before, const std::string& sent_after);

/// "It cost ... as sent. Under recommended it would have cost ..., 9 % less."
[[nodiscard]] std::string cost_sentence(const ReportComparison& comparison);

/// "71 changes of messages took ...", and what was fetched again: `refetches`, in tokens' worth.
[[nodiscard]] std::string changes_sentence(const std::string& subject, const SessionReport& session_report,
                                           double refetches);

/// Whether to take the chain.
[[nodiscard]] std::string advice_text(const ReportComparison& comparison);

/// What a step puts in front of the reader.
struct AdvisedChain {
    std::string name{};    ///< of the preset or the file
    std::string config{};  ///< JSON
    std::string cache{};   ///< name of the cache profile that it is for; empty: the configuration says it
    std::int64_t window = 0;
    bool is_preset = false;
    std::string example{};  ///< a file with sessions
};

/// The configuration to save, the command to try it with, and the code to use it in a program.
[[nodiscard]] std::vector<ReportStep> steps_for(const AdvisedChain& chain);

/// Of a cost: in what unit, and what is in it. `reason`: why dollars are not known.
[[nodiscard]] std::string units_text(bool has_dollars, std::string_view reason);

/// A sentence behind what a chain costs; empty where nothing is in that for fetching again.
[[nodiscard]] std::string fetched_again_text(double refetches);

}  // namespace whittle::cli
