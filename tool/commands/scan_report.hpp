#pragma once

#include "bill_sums.hpp"
#include "report_advice.hpp"
#include "report_page.hpp"
#include "scan_files.hpp"
#include "scan_session.hpp"
#include "session_cost.hpp"
#include "skipped_files.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// What we count of sessions of which every call was billed, beside these bills.
struct CountedSum {
    std::int64_t sessions = 0;
    bool reports_cache = true;  ///< all of these say what was read from a cache
    Usage billed{};             ///< what these were billed
    std::int64_t counted = 0;   ///< input tokens of these, by our count

    /// Passes over a session that is not comparable.
    void add(const ScannedSession& session);
    CountedSum& operator+=(const CountedSum& more) noexcept;
};

/// What a strategy comes to over all sessions.
struct StrategySum {
    std::string name{};
    std::int64_t sessions = 0;
    std::int64_t priced_sessions = 0;  ///< with a billed call whose price is known
    std::int64_t unpriced_calls = 0;   ///< billed, and no price is known
    double billed_dollars = 0;         ///< as far as prices are known
    double dollars = 0;                ///< of these: the bills, changed as the cost with refetches is
    double cost = 0;                   ///< in input tokens
    double with_refetches = 0;         ///< and what was needed and missing fetched again
    std::int64_t sent = 0;
    std::int64_t peak = 0;
    std::int64_t resets = 0;
    std::int64_t needed = 0;  ///< what later calls needed
    std::int64_t recoverable = 0;
    std::int64_t lost = 0;

    /// `figures`: of this strategy on that session.
    void add(const evaluation::Figures& figures, const ScannedSession& session);
    /// Every call that was billed.
    [[nodiscard]] bool is_priced() const noexcept { return priced_sessions > 0 && unpriced_calls == 0; }
    /// What it cost with what was missing read again: the bills in dollars where all of them have prices, else all
    /// sessions in tokens at the plain input price.
    [[nodiscard]] double comparable_cost() const noexcept { return is_priced() ? dollars : with_refetches; }
    /// "$1.20", or "43,031".
    [[nodiscard]] std::string cost_text() const;
};

/// What strategies cost and hide, over the first of them.
[[nodiscard]] Table strategies_table_of(const std::vector<StrategySum>& sums);
/// What is to be known of the columns of that table.
[[nodiscard]] std::string strategies_note(const StrategySum& recorded);

/// What a report says of the preset that it compares with.
struct ScanAdvice {
    std::int64_t window = 0;  ///< tokens
    /// The preset's configuration for a provider's cache, as JSON.
    std::function<std::string(const std::string& cache)> config{};

    /// `example`: a file with sessions.
    [[nodiscard]] AdvisedChain chain_for(std::string cache, std::string example) const;
};

/// All that `scan` says. Sessions go in one by one, behind their bills, and are not kept.
class ScanReport {
public:
    ScanReport();

    void set_bills(Bills&& bills);
    [[nodiscard]] const Bills& bills() const noexcept { return bills_; }
    void add(ScannedSession&& session);
    void add_location(const LogLocation& location) { locations_.push_back(location); }
    void add_notes(const logs::LogNotes& notes);
    void skip(SkippedFile file) { skipped_.add(std::move(file)); }
    [[nodiscard]] const SkippedFiles& skipped_files() const noexcept { return skipped_; }

    /// That have a bill which counts.
    [[nodiscard]] std::int64_t sessions() const noexcept { return tables_.all.sessions; }
    [[nodiscard]] std::string text(bool colour) const;
    [[nodiscard]] std::string json() const;
    /// The bills alone, by agent, day, model and project.
    [[nodiscard]] std::string bill_text(bool colour) const;
    [[nodiscard]] std::string bill_json() const;
    /// A line for each session; the first one names the columns.
    [[nodiscard]] const std::string& csv() const noexcept { return csv_; }
    /// A report of all of it, the most expensive sessions call by call; takes these along.
    [[nodiscard]] ReportPage take_page(const ScanAdvice& advice);
    /// Whether a session of this cost is among the most expensive so far, so that `page` needs its report.
    [[nodiscard]] bool would_be_listed(double cost) const noexcept;

private:
    /// One of the most expensive.
    struct ExpensiveSession {
        double rank = 0;      ///< as `ranking_cost_of` has it
        std::size_t row = 0;  ///< index in `rows_`
        double cost = 0;      ///< in tokens at the plain input price
        std::string agent{}, id{}, file{};
        std::int64_t calls = 0;
        std::int64_t calls_in_log = 0;  ///< with those that do not count
        bool is_billed = false;
        double recommended = 0;  ///< of what the agent's own requests cost, both with refetches
        Usage billed{};
        std::vector<StrategySum> strategies{};  ///< the agent's own, then those of `scanned_strategies`
        std::optional<SessionReport> session_report{};
    };

    void add_locations(nlohmann::ordered_json& json) const;
    void add_notes_to(nlohmann::ordered_json& json) const;
    void add_csv(const ScannedSession& session);
    [[nodiscard]] static ReportRow row_of(const ScannedSession& session);
    /// Of all sessions; or of those that have prices, if these are most and no other has a bill.
    [[nodiscard]] ReportComparison comparison() const;
    void put_head(ReportPage& page) const;
    void put_numbers(ReportPage& page) const;
    void take_sessions(ReportPage& page);
    [[nodiscard]] ReportOverview take_overview();
    void add_expensive(ScannedSession& session);
    void add_compactions(const ScannedSession& session);
    /// What it comes to, in a sentence.
    [[nodiscard]] std::string lead_text() const;
    [[nodiscard]] std::string comparison_text() const;
    /// Empty where any session counts, or there is none.
    [[nodiscard]] std::string none_counts_text() const;
    [[nodiscard]] std::string places_text() const;
    [[nodiscard]] Table agents_table() const;
    /// Without rows if no session was billed call by call.
    [[nodiscard]] Table counted_table() const;
    /// What is to be known of the tables of bills.
    [[nodiscard]] std::string bill_notes_text(std::size_t columns) const;
    [[nodiscard]] std::string agreement_text() const;
    [[nodiscard]] Table strategies_table() const;
    [[nodiscard]] Table spending_table() const;
    [[nodiscard]] std::string ages_text() const;
    [[nodiscard]] std::string compactions_text() const;
    [[nodiscard]] Table expensive_table() const;
    [[nodiscard]] std::string notes_text() const;

    std::vector<LogLocation> locations_{};
    Bills bills_{};
    BillTables tables_{};
    std::map<std::string, CountedSum> counted_{};  // by agent
    StrategySum recorded_{};
    std::vector<StrategySum> strategies_{};
    evaluation::Spending spending_{};
    std::vector<ReportRow> rows_{};  // of all sessions
    std::vector<ExpensiveSession> expensive_{};
    std::vector<double> hit_differences_{};  // ours less what was billed, by session
    std::vector<double> token_ratios_{};     // ours over what was billed
    CostBases bases_{};
    std::int64_t compactions_ = 0;
    std::int64_t compacted_sessions_ = 0;
    std::map<std::string, evaluation::ProbeCount> lost_{};  // in compacted sessions, by kind
    logs::LogNotes notes_{};
    SkippedFiles skipped_{};
    std::string csv_{};
};

}  // namespace whittle::cli
