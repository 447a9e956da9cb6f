#pragma once

#include "exchange_list.hpp"

#include <optional>
#include <vector>

namespace whittle::inline v0::logs {

/// A model call as a tracing service keeps it.
struct TracedCall {
    std::optional<double> time{};  ///< of its start, seconds since 1970
    ordered_json request{};        ///< has "messages"
    ordered_json response{};       ///< null: it gave nothing
    std::optional<Usage> usage{};  ///< what was billed
    std::size_t line = 1;
};

/// Model calls whose order in a file is not that of their starts.
class TracedCalls {
public:
    void add(TracedCall call) { calls_.push_back(std::move(call)); }
    /// Puts them together to sessions; calls without a time come first.
    void finish(ExchangeList&& list, FunctionRef<void(Session&&)> visit);

private:
    std::vector<TracedCall> calls_{};
};

}  // namespace whittle::inline v0::logs
