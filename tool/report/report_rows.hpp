#pragma once

#include "report_page.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whittle::cli {

struct OverviewCell {
    std::string text{};
    bool is_word = false;
};

/// A row of the table of all sessions.
struct OverviewLine {
    std::vector<OverviewCell> cells{};  ///< the first one is the name
    std::string sent{};                 ///< heights of its bars, as numbers
    std::string under{};
    std::optional<std::size_t> shown{};
    bool is_rest = false;  ///< sessions that have no row
};

/// By dollars where all have them, else by tokens; the most expensive first.
void sort_by_cost(std::vector<ReportRow>& rows);

/// What the table of all sessions says, and the picture that is drawn of it.
class OverviewRows {
public:
    explicit OverviewRows(const ReportOverview& all);

    /// Each session has a price: costs are in dollars, and their worth in tokens stands beside them.
    [[nodiscard]] bool has_dollars() const noexcept { return has_dollars_; }
    [[nodiscard]] std::vector<OverviewCell> headings() const;
    [[nodiscard]] const std::vector<OverviewLine>& lines() const noexcept { return lines_; }

private:
    void add(const ReportRow& row, bool is_rest);
    [[nodiscard]] std::string height(const ReportCost& cost) const;

    const ReportOverview& all_;
    bool has_dollars_ = true;
    bool has_bills_ = false;
    bool has_agents_ = false;
    std::vector<OverviewLine> lines_{};
};

}  // namespace whittle::cli
