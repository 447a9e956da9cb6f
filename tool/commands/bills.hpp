#pragma once

#include "evaluation/evaluation.hpp"
#include "logs/logs.hpp"
#include "model_prices.hpp"
#include "whittle/base/hash.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::cli {

/// A model call, as a scan bills it.
struct BilledCall {
    Hash128 key{};                       ///< the same in each copy of the call; zero: nothing tells copies of it
    std::size_t model = 0;               ///< index of `Bills::models`
    std::optional<double> time{};        ///< seconds since 1970, UTC
    std::optional<Usage> usage{};        ///< what was billed, where it was recorded
    std::int64_t requests = 1;           ///< that it stands for
    std::int64_t unrecorded_output = 0;  ///< as `logs::Call` has it
    std::optional<double> dollars{};     ///< of `usage`; absent: no price is known for its model
    bool has_reply = true;               ///< among the messages of the session
    bool is_copy = false;                ///< of a call that is billed with another session, or further up in this one
    bool is_asked_for = true;            ///< of the days that are

    [[nodiscard]] bool is_counted() const noexcept { return is_asked_for && !is_copy; }
};

/// What one session was billed, call by call: those with a reply first, in the order of the log.
struct SessionBill {
    std::string agent{};  ///< name of the log's format, or "recorded"
    std::string id{};
    std::string parent{};
    std::string file{};
    std::string project{};  ///< the working directory, or else the folder of the file
    std::string version{};
    std::string model{};                  ///< by whose price calls are paid that name none; empty: not recorded
    evaluation::CostProfile profile{};    ///< what its calls are paid by
    std::optional<ModelPrices> prices{};  ///< of the first call that has some
    std::vector<BilledCall> calls{};
    std::optional<Usage> sum{};  ///< where only that of the session was recorded: its last call has it
    Hash128 fingerprint{};       ///< of all that it says, where nothing else tells copies; else zero
    bool is_copy = false;        ///< it holds nothing but copies
    bool is_counted = false;     ///< it has a call that is, or none at all

    /// What the counted calls were billed.
    [[nodiscard]] Usage billed() const noexcept;
};

/// The bills of all sessions of a scan. A session that is resumed into another file, forked from one, archived or
/// copied repeats its calls there: each call is billed once.
class Bills {
public:
    /// Sessions in the order in which they are read.
    void add(const logs::Session& session, const std::string& agent, const std::string& file, bool is_anthropic);
    /// Once all are in. Of the copies of a call one counts: the one with the largest usage, since an early one may lack
    /// what came at the end; of equal ones one that has its reply, then the earliest, since some forks have times of
    /// their own, then that of the session with the most calls, then the first. A session without ids that says the
    /// same as one in another file, word for word, is a copy of it. `since`: a day such as "2026-11-01"; calls before
    /// it, and those without a time, do not count. Empty: all count.
    void settle(const std::string& since, const PriceList& prices);

    [[nodiscard]] const std::vector<SessionBill>& sessions() const noexcept { return sessions_; }
    /// Names, each once; the first one is "" of calls whose model was not recorded.
    [[nodiscard]] const std::vector<std::string>& models() const noexcept { return models_; }

private:
    /// `model`: of calls that name none.
    [[nodiscard]] BilledCall billed_call(const logs::Call& call, bool has_reply, std::string_view model);
    [[nodiscard]] std::size_t index_of_model(const std::string& name);
    void find_copied_sessions();
    void find_copied_calls();
    void price(SessionBill& session, const PriceList& list) const;

    std::vector<SessionBill> sessions_{};
    std::vector<std::string> models_{""};
    std::unordered_map<std::string, std::size_t> model_at_{{"", 0}};
};

/// "2026-11-28": the day of a time, in seconds since 1970, UTC, where this machine is.
[[nodiscard]] std::string local_day_of(double time);
/// "2026-11-28T10:00:00Z"; "" for a time that no calendar has.
[[nodiscard]] std::string utc_text_of(double time);

}  // namespace whittle::cli
