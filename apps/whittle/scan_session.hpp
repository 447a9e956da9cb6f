#pragma once

#include "compared_chain.hpp"
#include "cost_basis.hpp"
#include "session_story.hpp"
#include "whittle/evaluation/spending.hpp"
#include "whittle/logs/logs.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace whittle::cli {

/// Output that bills lack, since their usage was recorded before the end of the replies.
struct EarlyOutput {
    std::int64_t calls = 0;
    std::int64_t estimated_tokens = 0;  ///< by the text of the replies

    EarlyOutput& operator+=(const EarlyOutput& more) noexcept;
};

/// What is found out about one session.
struct ScannedSession {
    std::string agent{};  ///< name of the log's format, or "recorded"
    std::string id{};
    std::string parent{};
    std::string file{};
    std::int64_t calls = 0;
    std::int64_t billed_calls = 0;    ///< with what was billed, those whose replies are gone included
    std::int64_t repeated_calls = 0;  ///< copies of calls that were billed already
    Usage billed{};                   ///< of these
    EarlyOutput early{};              ///< of calls that are in `billed`, and not in it
    double billed_cost = 0;           ///< in input tokens
    bool is_comparable = false;       ///< every call was billed, so that ours and theirs are of the same calls
    Usage comparable{};               ///< what these calls were billed
    bool tells_cache = true;          ///< false: of that only a sum of the input is known, cached or not
    CostBasis basis{};                ///< what the figures below are paid by
    evaluation::Figures recorded{};   ///< as the agent sent it, by our count
    std::vector<evaluation::Figures> strategies{};  ///< everything sent, then each preset
    evaluation::Spending spending{};
    std::int64_t compactions = 0;
    std::optional<SessionStory> story{};  ///< under the first preset; absent unless it was wanted
};

/// Names of `ScannedSession::strategies`.
[[nodiscard]] std::vector<std::string> scanned_strategies();

/// Ids of calls that were counted already: a session that is resumed into another file, or forked from one, repeats its
/// replies there.
using SeenCalls = std::unordered_set<std::string>;

/// Where a session comes from, and whose messages it has.
struct ScanSource {
    std::string agent{};
    std::string file{};
    bool is_anthropic = false;
};

/// How sessions are scanned.
struct ScanSettings {
    std::int64_t window = 0;      ///< tokens, for the presets
    bool is_masked = true;        ///< of stories: without what looks like a secret
    std::size_t story_bytes = 0;  ///< that the texts of one story may take
    /// Whether the story of a session is wanted, once all else is known of it. Empty: never.
    std::function<bool(const ScannedSession&)> wants_story{};
    /// Told how much of the session is done, 0 to 1, while it is scanned: from any thread, one at a time.
    std::function<void(double share)> on_progress{};
};

/// Holds nothing else of the session when it returns.
[[nodiscard]] ScannedSession scan_session(logs::Session&& session, const ScanSource& source,
                                          const ScanSettings& settings, SeenCalls& seen);

/// What was billed, or else what we count of it, in tokens at the plain input price.
[[nodiscard]] double dear_cost_of(const ScannedSession& session) noexcept;

/// A session in the library's own form, as if an agent had left it.
[[nodiscard]] logs::Session as_logged(Trajectory<>&& trajectory);

/// In tokens at the plain input price. What was written to the cache for a time that is told costs what Anthropic takes
/// for that time, the rest what the profile says.
[[nodiscard]] double cost_of(const Usage& usage, const evaluation::CostProfile& profile) noexcept;

/// Cached share of the input; nullopt without input.
[[nodiscard]] std::optional<double> hit_rate_of(const Usage& usage) noexcept;

}  // namespace whittle::cli
