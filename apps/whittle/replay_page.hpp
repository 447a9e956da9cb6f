#pragma once

#include "report_advice.hpp"
#include "report_page.hpp"
#include "session_cost.hpp"
#include "whittle/evaluation/spending.hpp"
#include "whittle/replay/replay.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// What a chain made of one session, or of several, and what that cost.
struct ReplayedSessions {
    ReplayTotals totals{};
    SessionCost cost{};
    CostBases bases{};

    ReplayedSessions& operator+=(const ReplayedSessions& other);
};

/// One session, for a report.
struct ReplayedStory {
    std::string id{};
    std::string agent{};
    std::string file{};
    std::int64_t sent = 0;  ///< tokens of all calls, everything sent
    double billed_per_counted = 1;
    evaluation::Spending spending{};  ///< with everything sent
    SessionStory story{};
};

/// Gathers the report of `replay`: the five sessions that would have cost most if everything had been sent call by
/// call, and all others in a row each.
class ReplayPage {
public:
    /// `chain`: its name. `prices`: of the configuration.
    ReplayPage(std::string chain, const std::optional<Prices>& prices) : chain_(std::move(chain)), prices_(prices) {}

    [[nodiscard]] const std::string& chain() const noexcept { return chain_; }
    /// `totals` are of this session alone.
    void add(ReplayedStory&& told, const ReplayedSessions& session);

    /// `sum` is of all sessions. `config`: the chain's for the cache of that name. Takes the sessions along.
    [[nodiscard]] ReportPage take(const ReplayedSessions& sum, AdvisedChain advised,
                                  const std::function<std::string(const std::string& cache)>& config);

private:
    struct Shown {
        double cost = 0;      // of everything sent
        std::size_t row = 0;  // index in `rows_`
        ReportSession session{};
    };

    [[nodiscard]] ReportComparison comparison_of(const SessionCost& cost) const;
    [[nodiscard]] ReportTable costs_table(std::string caption, const ReplayedSessions& sessions) const;
    [[nodiscard]] ReportOverview take_overview();

    std::string chain_;
    std::optional<Prices> prices_;
    evaluation::Spending spending_{};
    std::int64_t sent_ = 0;
    std::int64_t sent_under_chain_ = 0;
    std::vector<ReportRow> rows_{};
    std::vector<Shown> shown_{};  // the dearest first
};

}  // namespace whittle::cli
