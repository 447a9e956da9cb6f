#pragma once

#include "replay/replay.hpp"
#include "report_page.hpp"
#include "session_cost.hpp"

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

/// Gathers the report of `replay`: the five sessions that would have cost most if everything had been sent.
class ReplayPage {
public:
    /// `chain`: its name.
    explicit ReplayPage(std::string chain) : chain_(std::move(chain)) {}

    [[nodiscard]] const std::string& chain() const noexcept { return chain_; }
    /// `totals` are of this session alone.
    void add(const std::string& id, const std::string& file, const ReplayedSessions& session, SessionStory&& story);

    /// `sum` is of all sessions, added or not. Takes the sessions along.
    [[nodiscard]] ReportPage take(const ReplayedSessions& sum);

private:
    struct Shown {
        double cost = 0;  // of everything sent
        ReportSession session{};
    };

    [[nodiscard]] ReportTable costs_table(std::string caption, const ReplayedSessions& sessions) const;

    std::string chain_;
    std::vector<Shown> shown_{};  // the dearest first
};

}  // namespace whittle::cli
