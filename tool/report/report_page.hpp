#pragma once

#include "session_story.hpp"
#include "table.hpp"

#include <cstddef>
#include <cstdint>
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
    std::string note{};  ///< below it; may be empty
};

/// A session that a report shows call by call.
struct ReportSession {
    std::string id{};
    std::string facts{};    ///< a line: agent, calls, file
    std::string verdict{};  ///< a sentence: what it cost and would have cost
    std::vector<ReportFigure> figures{};
    std::vector<ReportTable> tables{};
    SessionStory story{};
};

/// What a report says, as plain text: the page escapes it.
struct ReportPage {
    std::string title{};
    std::string lead{};  ///< a sentence
    std::vector<ReportFigure> figures{};
    std::vector<ReportSession> sessions{};
    std::vector<ReportTable> tables{};
    std::vector<std::string> notes{};
    std::int64_t text_bytes = 0;  ///< that texts of messages may take, all sessions together
    bool is_masked = true;        ///< without what looks like a secret
};

/// One HTML file without anything from elsewhere: style and script are allowed by their hashes and nothing else is.
/// Equal pages give equal bytes. Without scripts it shows figures and tables.
[[nodiscard]] std::string report_html(ReportPage&& page);

/// What the script shows of a story, in a form that cannot end a script element.
[[nodiscard]] std::string story_data(const SessionStory& story);

/// What the edits of a story came to, by rule.
[[nodiscard]] ReportTable rules_table(const SessionStory& story);

}  // namespace whittle::cli
