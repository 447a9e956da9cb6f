#pragma once

#include "interrupt.hpp"
#include "terminal.hpp"
#include "whittle/saved/trajectory.hpp"

#include <cstdint>
#include <string>

namespace whittle::cli {

/// The recorded replies: as many requests has a session.
template <AgentMessage M>
[[nodiscard]] std::int64_t calls_in(const Trajectory<M>& trajectory) {
    std::int64_t calls = 0;
    for (const M& m : trajectory.messages) calls += message_traits<M>::role(m) == Role::assistant ? 1 : 0;
    return calls;
}

/// How far the replay of one session is, which may take minutes.
class CallProgress {
public:
    /// `strategy`: where there is more than one.
    template <AgentMessage M>
    explicit CallProgress(const Trajectory<M>& trajectory, const std::string& strategy = {})
        : text_(trajectory.id + (strategy.empty() ? ": " : ", " + strategy + ": ")),
          all_(static_cast<double>(calls_in(trajectory))) {}

    /// One more request is made. Throws `Interrupted`.
    void pass() {
        throw_if_interrupted();
        progress_.show(text_, {++done_, all_, "calls"});
    }

private:
    std::string text_;
    double all_;
    double done_ = 0.0;
    Progress progress_{};
};

}  // namespace whittle::cli
