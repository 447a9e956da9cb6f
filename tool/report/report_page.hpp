#pragma once

#include "report_cost.hpp"
#include "session_report.hpp"
#include "table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// A number that a report says first.
struct ReportFigure {
    std::string label{};
    std::string value{};
    std::string note{};  ///< in small below it; may be empty
};

struct ReportTable {
    std::string caption{};
    Table table;
    std::string note{};  ///< below it: what its headings mean; may be empty
};

/// A row of a table with bars.
struct ReportBar {
    std::string label{};
    std::int64_t value = 0;
    std::string detail{};  ///< in the last column
};

/// A table whose rows have bars, as long as their values.
struct ReportBars {
    std::string caption{};
    std::string heading{};         ///< of the labels
    std::string value_heading{};   ///< of the values
    std::string detail_heading{};  ///< empty: there is no such column
    std::vector<ReportBar> rows{};
    std::int64_t all = 0;      ///< of which shares are told
    std::int64_t longest = 0;  ///< the value of the longest bar
    std::string note{};
};

/// A session among all others.
struct ReportRow {
    std::string id{};
    std::string agent{};
    std::string file{};
    std::int64_t calls = 0;
    ReportCost as_sent{};
    ReportCost under_chain{};
    std::optional<ReportCost> billed{};
    std::optional<std::size_t> shown{};  ///< index in `ReportPage::sessions`
};

/// All sessions, the most expensive first.
struct ReportOverview {
    std::string chain{};  ///< its name
    std::string base{};   ///< what it is compared with: "as sent"
    std::vector<ReportRow> rows{};
    std::string note{};
};

/// A session that a report shows call by call.
struct ReportSession {
    std::string id{};
    std::string facts{};    ///< a line: agent, calls, file
    std::string verdict{};  ///< what it cost and would have cost
    std::vector<ReportTable> tables{};
    SessionReport session_report{};
};

/// Something to do now.
struct ReportStep {
    std::string text{};
    std::string paste{};  ///< what to copy, in lines; may be empty
};

/// How a report came to be.
struct ReportOrigin {
    std::string command{};
    std::string date{};
    std::string version{};
};

/// What a report says, as plain text: the page escapes it.
struct ReportPage {
    std::string title{};
    std::string lead{};  ///< a sentence
    std::vector<ReportFigure> figures{};
    std::string units{};  ///< how costs are counted
    std::vector<ReportBars> spending{};
    std::string spending_note{};
    ReportOverview overview{};  ///< left out where there is one session
    std::vector<ReportSession> sessions{};
    std::string sessions_note{};
    std::vector<ReportTable> tables{};
    std::string advice{};  ///< before the steps
    std::vector<ReportStep> steps{};
    ReportOrigin origin{};
    std::vector<std::string> notes{};
    std::int64_t text_bytes = 0;  ///< that texts of messages may take, all sessions together
    bool is_masked = true;        ///< without what looks like a secret
};

/// One HTML file without anything from elsewhere: style and script are allowed by their hashes and nothing else is.
/// Equal pages give equal bytes. Without scripts it shows figures, bars and tables.
[[nodiscard]] std::string report_html(ReportPage&& page);

/// At most this many sessions have a row; the rest share the last one.
inline constexpr std::size_t max_report_rows = 2'000;

/// What the script shows of a session, in a form that cannot end a script element.
[[nodiscard]] std::string session_report_data(const SessionReport& session_report);

/// What the edits of a session came to, by rule.
[[nodiscard]] ReportTable rules_table(const SessionReport& session_report);

}  // namespace whittle::cli
