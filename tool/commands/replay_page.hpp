#pragma once

#include "evaluation/spending.hpp"
#include "replay/replay.hpp"
#include "report_advice.hpp"
#include "report_page.hpp"
#include "session_cost.hpp"

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

/// What the calls sent, by the count of the figures.
struct RequestSums {
    std::int64_t tokens = 0;
    std::int64_t largest = 0;  ///< tokens of one call
    std::int64_t resets = 0;   ///< calls

    RequestSums& operator+=(const RequestSums& more) noexcept;
};

/// One session, for a report.
struct ReplayedReport {
    std::string id{};
    std::string file{};
    double billed_per_counted = 1;
    RequestSums everything{};
    RequestSums under_chain{};
    evaluation::Spending spending{};  ///< with everything sent
    SessionReport session_report{};
};

/// Gathers the report of `replay`: the five sessions that would have cost most if everything had been sent call by
/// call, and all others in a row each.
class ReplayPage {
public:
    /// `chain`: its name. `prices`: of the configuration.
    ReplayPage(std::string chain, bool is_preset, const std::optional<PricesPerMillion>& prices)
        : chain_(std::move(chain)), is_preset_(is_preset), prices_(prices) {}

    [[nodiscard]] const std::string& chain() const noexcept { return chain_; }
    /// `totals` are of this session alone.
    void add(ReplayedReport&& replayed, const ReplayedSessions& session);

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
    [[nodiscard]] ReportTable costs_table(std::string caption, const RequestSums& everything,
                                          const RequestSums& under_chain, const SessionCost& cost) const;
    [[nodiscard]] ReportOverview take_overview();

    std::string chain_;
    bool is_preset_;
    std::optional<PricesPerMillion> prices_;
    evaluation::Spending spending_{};
    RequestSums everything_{};  // of all sessions
    RequestSums under_chain_{};
    std::vector<ReportRow> rows_{};
    std::vector<Shown> shown_{};  // the most expensive first
};

}  // namespace whittle::cli
