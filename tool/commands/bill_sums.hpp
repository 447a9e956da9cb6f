#pragma once

#include "bills.hpp"
#include "table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace whittle::cli {

/// Output that bills lack, since their usage was recorded before the end of the replies, or nothing but the output was.
struct EarlyOutput {
    std::int64_t calls = 0;
    std::int64_t estimated_tokens = 0;  ///< by the text of the replies, or as it was recorded

    EarlyOutput& operator+=(const EarlyOutput& more) noexcept;
};

/// What sessions were billed. Copies are in none of it but `repeated_calls`.
struct BillSum {
    std::int64_t sessions = 0;
    std::int64_t calls = 0;           ///< with a reply
    std::int64_t billed_calls = 0;    ///< with what was billed, those whose replies are gone included
    std::int64_t repeated_calls = 0;  ///< copies of calls; not told of days, models and projects
    Usage billed{};
    double billed_cost = 0;         ///< in input tokens
    double dollars = 0;             ///< of the calls whose price is known
    std::int64_t priced_calls = 0;  ///< of `billed_calls`

    [[nodiscard]] bool is_priced() const noexcept { return billed_calls > 0 && priced_calls == billed_calls; }
    /// What it is ranked by: tokens at a usual price, of the dollars where they are known.
    [[nodiscard]] double rank() const noexcept;
    EarlyOutput early{};  ///< not in `billed`

    BillSum& operator+=(const BillSum& more) noexcept;
};

/// Of one session.
[[nodiscard]] BillSum sum_of(const SessionBill& session);

/// Sums by the name of what they are of.
using BillSums = std::map<std::string, BillSum>;

/// The sums of a scan. A session counts once in each row that a call of it is in.
struct BillTables {
    BillSum all{};
    BillSums agents{};
    BillSums days{};      ///< where this machine is; "": calls without a time
    BillSums models{};    ///< "": calls whose model was not recorded
    BillSums projects{};  ///< "": sessions without one
    std::int64_t copied_sessions = 0;
    std::int64_t calls_without_time = 0;  ///< that days leave out
};

[[nodiscard]] BillTables tables_of(const Bills& bills);

/// "2 sessions, 5 model calls; 6 calls were billed $1.20: ...".
[[nodiscard]] std::string bill_sentence(const BillSum& sum);
/// How a table of bills is written.
struct BillTableForm {
    std::string heading{};
    std::string unnamed = "not recorded";  ///< what "" is called
    std::size_t most = 0;                  ///< of the most expensive ones by name, the rest in one row; 0: all
    bool are_paths = false;                ///< of a long one the end is shown
};

/// A row for each name, then the sum.
[[nodiscard]] Table bill_table(const BillSums& sums, const BillSum& all, const BillTableForm& form);
/// What the columns of such a table are.
inline constexpr std::string_view bill_columns_note =
    "calls: with a reply in the log; billed calls: those of which the log has the usage; input: tokens that were not "
    "in the provider's cache; cached and written: tokens read from the cache and written to it; cost: all of it, in "
    "tokens at the plain input price\n";
/// What is to be known of these bills: whose prices they go by, what was met again, what they lack; a line each.
[[nodiscard]] std::string bill_notes(const BillTables& tables);

/// Dollars to a ten-thousandth of a cent; null where `priced` is 0.
[[nodiscard]] nlohmann::ordered_json dollars_json(double dollars, std::int64_t priced);
/// The same for a line of CSV; empty in place of null.
[[nodiscard]] std::string dollars_cell(const BillSum& sum);
[[nodiscard]] nlohmann::ordered_json bill_json(const BillSum& sum);
[[nodiscard]] nlohmann::ordered_json usage_json(const Usage& usage);
/// Adds "days", "models", "projects" and "bills", which has a member for each session that counts.
void add_bills(nlohmann::ordered_json& json, const BillTables& tables, const Bills& bills);

/// A line for each session that counts; the first one names the columns.
[[nodiscard]] std::string bill_csv(const Bills& bills);

}  // namespace whittle::cli
