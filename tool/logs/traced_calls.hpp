#pragma once

#include "exchange_list.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// A model call as a tracing service keeps it.
struct TracedCall {
    std::optional<double> time{};  ///< of its start, seconds since 1970
    ordered_json request{};        ///< has "messages"; null: they were not recorded
    ordered_json response{};       ///< null: it gave nothing
    std::optional<Usage> usage{};  ///< what was billed
    std::size_t line = 1;
    bool has_failed = false;
    std::string id{};      ///< of what was traced
    std::string parent{};  ///< what it was made in
    std::string group{};   ///< the trace
};

/// Model calls whose order in a file is not that of their starts.
class TracedCalls {
public:
    void add(TracedCall call) { calls_.push_back(std::move(call)); }
    /// A call within another one is the same, seen by a wrapped client: these are left out, and how many is told. Where
    /// the outermost one does not say what was billed, the ones within do, each the bill of all within it; where it
    /// holds no reply, the last of them that does gives its response. One without messages is around no other one: it
    /// is left out if something within it was billed.
    [[nodiscard]] std::int64_t leave_out_inner();
    /// Puts them together to sessions; calls without a time come first. Those without messages are billed alone;
    /// without a bill too they are counted as unknown, as `kind_without_usage`.
    void finish(ExchangeList&& list, std::string_view kind_without_usage, LogNotes& notes,
                FunctionRef<void(Session&&)> visit);

private:
    std::vector<TracedCall> calls_{};
};

}  // namespace whittle::inline v0::logs
