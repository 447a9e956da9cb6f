#pragma once

#include "passed_over.hpp"
#include "report_page.hpp"
#include "scan_files.hpp"
#include "scan_session.hpp"
#include "session_cost.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// What sessions were billed, and what we count of them.
struct BillSum {
    std::int64_t sessions = 0;
    std::int64_t calls = 0;
    std::int64_t billed_calls = 0;
    std::int64_t repeated_calls = 0;
    Usage billed{};
    double billed_cost = 0;
    EarlyOutput early{};
    std::int64_t counted_sessions = 0;  ///< of which every call was billed
    bool tells_cache = true;            ///< all of these say what was read from a cache
    Usage counted_bill{};               ///< what these were billed
    std::int64_t counted = 0;           ///< input tokens of these, by our count

    void add(const ScannedSession& session);
};

/// What a strategy comes to over all sessions.
struct StrategySum {
    std::string name{};
    double cost = 0;          ///< in input tokens
    double with_repairs = 0;  ///< and what was needed and missing fetched again
    std::int64_t sent = 0;
    std::int64_t peak = 0;
    std::int64_t resets = 0;
    std::int64_t asked = 0;  ///< what later calls needed
    std::int64_t recoverable = 0;
    std::int64_t lost = 0;

    void add(const evaluation::Figures& figures);
};

/// What strategies cost and hide, over the first of them.
[[nodiscard]] Table strategies_table_of(const std::vector<StrategySum>& sums);
/// What is to be known of the columns of that table.
inline constexpr std::string_view strategies_note =
    "cost: in tokens at the plain input price; repaired: and what was missing fetched again; ratio: to the agents' "
    "own; hidden and lost: of what later calls needed";

/// All that `scan` says. Sessions go in one by one and are not kept.
class ScanReport {
public:
    ScanReport();

    void add(ScannedSession&& session);
    void add_place(const ScannedPlace& place) { places_.push_back(place); }
    void add_notes(const logs::LogNotes& notes);
    void pass_over(PassedOver file) { passed_over_.add(std::move(file)); }
    [[nodiscard]] const PassedOverFiles& passed_over() const noexcept { return passed_over_; }

    [[nodiscard]] std::int64_t sessions() const noexcept { return all_.sessions; }
    [[nodiscard]] std::string text(bool colour) const;
    [[nodiscard]] std::string json() const;
    /// A line for each session; the first one names the columns.
    [[nodiscard]] const std::string& csv() const noexcept { return csv_; }
    /// A report of all of it, the dearest sessions call by call; takes these along.
    [[nodiscard]] ReportPage take_page();
    /// Whether a session of this cost is among the dearest so far, so that `page` wants its story.
    [[nodiscard]] bool would_be_dear(double cost) const noexcept;

private:
    /// One of the dearest.
    struct Dear {
        double cost = 0;
        std::string agent{}, id{}, file{};
        std::int64_t calls = 0;
        bool is_billed = false;
        double recommended = 0;  ///< of what the agent sent
        Usage billed{};
        std::vector<StrategySum> strategies{};  ///< the agent's own, then those of `scanned_strategies`
        std::optional<SessionStory> story{};
    };

    void add_csv(const ScannedSession& session);
    void add_dear(ScannedSession& session);
    void add_compactions(const ScannedSession& session);
    /// What it comes to, in a sentence.
    [[nodiscard]] std::string lead_text() const;
    [[nodiscard]] std::string places_text() const;
    [[nodiscard]] Table bills_table() const;
    /// Without rows if no session was billed call by call.
    [[nodiscard]] Table counted_table() const;
    /// What is to be known of bills: calls that were met again, and output that they lack.
    [[nodiscard]] std::string bills_text() const;
    [[nodiscard]] std::string agreement_text() const;
    [[nodiscard]] Table strategies_table() const;
    [[nodiscard]] Table spending_table() const;
    [[nodiscard]] std::string ages_text() const;
    [[nodiscard]] std::string compactions_text() const;
    [[nodiscard]] Table dear_table() const;
    [[nodiscard]] std::string notes_text() const;

    std::vector<ScannedPlace> places_{};
    BillSum all_{};
    std::map<std::string, BillSum> by_agent_{};
    StrategySum recorded_{};
    std::vector<StrategySum> strategies_{};
    evaluation::Spending spending_{};
    std::vector<Dear> dear_{};
    std::vector<double> hit_differences_{};  // ours less what was billed, by session
    std::vector<double> token_ratios_{};     // ours over what was billed
    CostBases bases_{};
    std::int64_t compactions_ = 0;
    std::int64_t compacted_sessions_ = 0;
    std::map<std::string, evaluation::ProbeCount> lost_{};  // in compacted sessions, by kind
    logs::LogNotes notes_{};
    PassedOverFiles passed_over_{};
    std::string csv_{};
};

}  // namespace whittle::cli
