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
    /// `all`: with the columns, and the parts of the input, that few ask for.
    TotalsText(const ModelProfile& profile, bool all) : profile_(profile), has_all_(all), table_(header()) {}

    void add(std::string_view name, const ReplayTotals& totals, const SessionCost& cost);
    void add_line() { table_.add_line(); }
    [[nodiscard]] std::string text(const ReplayTotals& sum, const TotalsNotes& notes) const;

private:
    [[nodiscard]] std::vector<std::string> header() const;
    [[nodiscard]] std::string words(const ReplayTotals& sum, const TotalsNotes& notes) const;
    [[nodiscard]] std::string cache_text(const ReplayTotals& sum, bool colour) const;
    [[nodiscard]] std::string facts(const ReplayTotals& sum, const TotalsNotes& notes) const;

    const ModelProfile& profile_;
    bool has_all_;
    Table table_;
};

}  // namespace whittle::cli
