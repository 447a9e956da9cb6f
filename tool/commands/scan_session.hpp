#pragma once

#include "bill_sums.hpp"
#include "compared_chain.hpp"
#include "cost_basis.hpp"
#include "evaluation/spending.hpp"
#include "logs/logs.hpp"
#include "session_report.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace whittle::cli {

/// What is found out about one session.
struct ScannedSession {
    std::string agent{};  ///< name of the log's format, or "recorded"
    std::string id{};
    std::string parent{};
    std::string file{};
    BillSum bill{};                 ///< of the calls that count
    std::int64_t calls_in_log = 0;  ///< with those that do not
    bool is_comparable = false;     ///< each of them was billed, so that ours and theirs are of the same calls
    Usage comparable{};             ///< what those with a reply were billed
    double compared_dollars = 0;    ///< of that, as far as prices are known
    bool reports_cache = true;      ///< false: of that only a sum of the input is known, cached or not
    CostBasis basis{};              ///< what the figures below are paid by
    /// As the agent sent it, by our count. The last of `money` goes by the prices of the model, where they are known.
    evaluation::Figures recorded{};
    std::vector<evaluation::Figures> strategies{};  ///< everything sent, then each preset
    evaluation::Spending spending{};
    std::int64_t compactions = 0;
    std::optional<SessionReport> session_report{};  ///< under the first preset; absent unless it was wanted
};

/// Names of `ScannedSession::strategies`.
[[nodiscard]] std::vector<std::string> scanned_strategies();

/// How sessions are scanned.
struct ScanSettings {
    std::int64_t window = 0;       ///< tokens, for the presets
    bool is_masked = true;         ///< of session reports: without what looks like a secret
    std::size_t report_bytes = 0;  ///< that the texts of one session report may take
    /// Whether the report of a session is wanted, once all else is known of it. Empty: never.
    std::function<bool(const ScannedSession&)> wants_report{};
    /// Told how much of the session is done, 0 to 1, while it is scanned: from any thread, one at a time.
    std::function<void(double share)> on_progress{};
};

/// The calls of `bill` that do not count fill the cache, and are in no figure. Holds nothing else of the session when
/// it returns.
[[nodiscard]] ScannedSession scan_session(logs::Session&& session, const SessionBill& bill, bool is_anthropic,
                                          const ScanSettings& settings);

/// What was billed, or else what we count of it, in tokens at a usual price: what sessions are ranked by.
[[nodiscard]] double ranking_cost_of(const ScannedSession& session) noexcept;

/// A session in the library's own form, as if an agent had left it.
[[nodiscard]] logs::Session as_logged(Trajectory<>&& trajectory);

/// Cached share of the input; nullopt without input.
[[nodiscard]] std::optional<double> hit_rate_of(const Usage& usage) noexcept;

}  // namespace whittle::cli
