#pragma once

#include "table.hpp"
#include "whittle/replay/totals.hpp"

#include <string>
#include <string_view>

namespace whittle::cli {

/// The table and the summary that `replay` prints for a person.
class TotalsText {
public:
    explicit TotalsText(const ModelProfile& profile) : profile_(profile), table_(header()) {}

    void add(std::string_view name, const ReplayTotals& totals);
    void add_line() { table_.add_line(); }
    /// `rules`: names of the profiles that the requests were held to.
    [[nodiscard]] std::string text(const ReplayTotals& sum, std::string_view rules, bool colour) const;

private:
    [[nodiscard]] std::vector<std::string> header() const;
    [[nodiscard]] std::string summary(const ReplayTotals& sum, std::string_view rules, bool colour) const;

    const ModelProfile& profile_;
    Table table_;
};

}  // namespace whittle::cli
