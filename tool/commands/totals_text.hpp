#pragma once

#include "replay/replay.hpp"
#include "session_cost.hpp"
#include "table.hpp"

#include <string>
#include <string_view>

namespace whittle::cli {

struct TotalsNotes {
    std::string rules{};         ///< names of the profiles that the requests were held to
    std::string_view counter{};  ///< id of the token counter
    std::string basis{};         ///< by which prices the sessions are paid: lines
    bool colour = false;
};

/// The table and the summary that `replay` prints for a person.
class TotalsText {
public:
    explicit TotalsText(const ModelProfile& profile) : profile_(profile), table_(header()) {}

    void add(std::string_view name, const ReplayTotals& totals, const SessionCost& cost);
    void add_line() { table_.add_line(); }
    [[nodiscard]] std::string text(const ReplayTotals& sum, const TotalsNotes& notes) const;

private:
    [[nodiscard]] std::vector<std::string> header() const;
    [[nodiscard]] std::string summary(const ReplayTotals& sum, const TotalsNotes& notes) const;

    const ModelProfile& profile_;
    Table table_;
};

}  // namespace whittle::cli
