#pragma once

#include "explanation.hpp"
#include "report_text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whittle::cli {

/// What a call sent and cost on one side of a comparison: by the figures' count (characters / 4), with system text and
/// tools in front of the messages. Costs are in tokens at the plain input price, of the model where dollars are known.
struct ReportedCost {
    std::int64_t tokens = 0;
    std::int64_t cached = 0;  ///< of these
    double cost = 0;          ///< with output and `refetches`
    double refetches = 0;     ///< for what was taken out, needed and fetched again
};

/// One request of a session.
struct ReportedCall {
    ReportedCost recorded{};  ///< as the agent sent it, or everything
    ReportedCost sent{};      ///< under the chain
    bool is_counted = true;   ///< false: a copy of another session's call, or of a day that is not asked for
    std::int64_t edits = 0;   ///< messages that this request is the first to show changed
};

/// A message that stood in a request.
struct ReportedMessage {
    std::optional<std::size_t> recorded{};  ///< index in the recording; absent: the chain wrote it
    std::int64_t call = 0;                  ///< the first request that has it
    std::string role{};
    std::string tool{};  ///< of a result
    std::int64_t tokens = 0;
    ReportText text{};
    bool is_edited = false;
};

/// What became of a message from a request on.
struct ReportedEdit {
    std::size_t message = 0;  ///< index in `SessionReport::messages`
    ExplainedEdit edit{};
    MessageState state = MessageState::kept;
    std::int64_t tokens_before = 0;
    std::int64_t tokens = 0;
    ReportText text{};                     ///< what is sent in its place; empty if nothing is
    std::optional<std::size_t> summary{};  ///< message that stands for it
};

/// All edits of one kind.
struct ReportedRule {
    std::string by{};    ///< middleware
    std::string rule{};  ///< of the plan, or the reason where it lists none
    MessageState state = MessageState::kept;
    std::int64_t messages = 0;
    std::int64_t tokens_before = 0;
    std::int64_t tokens = 0;
};

/// A session as a report shows it: its requests, its messages, and what a chain did to them.
struct SessionReport {
    std::string chain{};
    std::string base{};             ///< what the chain is compared with: "as sent"
    std::string counter{};          ///< of messages and edits
    std::optional<double> price{};  ///< dollars for a token's worth; absent: it is not known
    double billed_elsewhere = 0;    ///< dollars for calls that no message shows, on both sides
    std::vector<ReportedCall> calls{};
    std::vector<ReportedMessage> messages{};  ///< in the order in which they came
    std::vector<ReportedEdit> edits{};        ///< oldest first
    std::vector<ReportedRule> rules{};        ///< of all edits; what took most first
    std::int64_t messages_left_out = 0;       ///< not listed, since there are too many
    std::int64_t edits_left_out = 0;
};

/// What the calls cost on both sides.
[[nodiscard]] ReportedCost sum_of_recorded(const SessionReport& session_report) noexcept;
[[nodiscard]] ReportedCost sum_of_sent(const SessionReport& session_report) noexcept;

/// The sums over all edits, what took most first.
[[nodiscard]] std::vector<ReportedRule> rules_of(const std::vector<ReportedEdit>& edits);

/// At most this many stay, those that were edited and the oldest first; the rest is counted.
inline constexpr std::size_t max_report_messages = 24'000;
inline constexpr std::size_t max_report_edits = 12'000;
void bound_lists(SessionReport& session_report);

/// Shortens the texts of all session reports together to `budget` bytes of the report's data, as `fit_texts` does. A
/// quarter of it is for messages that nothing was done to, unless they need less.
void fit_session_reports(std::vector<SessionReport*> session_reports, std::size_t budget);

}  // namespace whittle::cli
