#pragma once

#include "explanation.hpp"
#include "replay/replay.hpp"
#include "session_cost.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// One request as a trace keeps it: what the one before had too is not said again.
struct TracedCall {
    std::size_t keep = 0;          ///< messages at the front that the request before had too
    std::vector<Hash128> fresh{};  ///< of the others, by what a prompt cache would see
    std::int64_t tokens = 0;       ///< with system text and tools
    double input_cost = 0;         ///< in tokens at the plain input price
};

/// What a chain made of a session.
struct ChainTrace {
    std::string name{};
    std::vector<TracedCall> calls{};
    ReplayTotals totals{};
    SessionCost cost{};
    ModelProfile profile{};

    template <AgentMessage M>
    void take(const ReplayRequest<M>& request, const TokenCounter& counter) {
        TracedCall call{.keep = request.keep,
                        .fresh = {},
                        .tokens = request.tokens,
                        .input_cost = request.account.input_cost(profile.cache)};
        for (const M& m : request.messages.subspan(request.keep))
            call.fresh.push_back(piece_of(m, counter).fingerprint);
        calls.push_back(std::move(call));
    }
};

/// Where the same request of two chains differs.
struct DifferentCall {
    std::size_t call = 0;
    std::size_t message = 0;  ///< index of the first message that differs, in both requests
};

/// The calls whose requests differ, in order. Both traces are of one session.
[[nodiscard]] std::vector<DifferentCall> differences(const ChainTrace& a, const ChainTrace& b);

/// A recorded message that the chains send differently, or one that only one of them wrote.
struct DifferentMessage {
    std::optional<ExplainedMessage> a{};
    std::optional<ExplainedMessage> b{};
};

/// The messages of one call that differ, by the place in the recording; added ones behind the others.
[[nodiscard]] std::vector<DifferentMessage> different_messages(const Explanation& a, const Explanation& b);

/// Two chains on one session.
struct ChainDiff {
    std::string trajectory{};
    std::array<ChainTrace, 2> chains{};
    std::vector<DifferentCall> differences{};
    std::optional<std::int64_t> shown_call{};  ///< whose messages are listed; absent where no call differs
    std::vector<DifferentMessage> messages{};
};

/// Without secrets, in front of any cut.
void hide_secrets(ChainDiff& diff, const KnownSecrets& secrets);
/// `calls`: with a line for each call.
[[nodiscard]] std::string diff_json(const ChainDiff& diff, bool calls);
[[nodiscard]] std::string diff_text(const ChainDiff& diff, bool calls, std::size_t columns, bool colour);

}  // namespace whittle::cli
