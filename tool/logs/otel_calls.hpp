#pragma once

#include "traced_calls.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::logs {

/// A model call as a span, or the event of one, tells it.
struct OtelCall {
    std::string span{};    ///< with its trace; empty: not recorded
    std::string parent{};  ///< the same of the span around it
    bool is_event = false;
    TracedCall call{};  ///< its request is null where no messages were recorded in a place that is known
};

/// Model calls of spans, each of them once: exporters send spans again, instrumentations write an event beside a span,
/// and frameworks and the clients that they call both write one.
class OtelCalls {
public:
    explicit OtelCalls(LogNotes& notes) : notes_(notes) {}

    void add(OtelCall call);
    /// Puts them together to sessions.
    void finish(ExchangeList&& list, FunctionRef<void(Session&&)> visit);

private:
    void join(OtelCall& known, OtelCall more);
    [[nodiscard]] std::vector<std::size_t> calls_around() const;
    void leave_out_nested();

    LogNotes& notes_;
    std::vector<OtelCall> calls_{};
    std::vector<bool> is_left_out_{};                              // of each call
    std::unordered_map<std::string, std::size_t> call_of_span_{};  // by span
};

}  // namespace whittle::inline v0::logs
