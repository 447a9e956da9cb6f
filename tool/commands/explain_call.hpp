#pragma once

#include "call_progress.hpp"
#include "commands.hpp"
#include "explanation.hpp"
#include "interrupt.hpp"
#include "whittle/base/clock.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace whittle::cli {

/// Ends a replay once what is wanted is known.
struct StopReplay {};

/// The wanted request, or the last one. Throws Error(not_found) for a session without a call, and `UsageError`.
template <AgentMessage M>
[[nodiscard]] Explanation explain_call(const Trajectory<M>& trajectory, const Chain<M>& chain,
                                       const std::shared_ptr<ManualClock>& clock, std::optional<std::int64_t> call) {
    const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                 trajectory.seconds_since_first};
    Explainer<M> explainer(recording, *chain.config().token_counter);
    const std::int64_t calls = calls_in(trajectory);
    if (calls == 0) throw Error(Errc::not_found, trajectory.id + ": the session has no model call");
    const std::int64_t wanted = call.value_or(calls - 1);
    if (wanted >= calls)
        throw UsageError{"--call " + std::to_string(wanted) + ": session \"" + trajectory.id + "\" has calls 0 to " +
                         std::to_string(calls - 1)};
    CallProgress progress(trajectory);
    Explanation explanation;
    ReplayOptions<M> options{.stop = interrupt_token(), .clock = clock};
    options.on_report = [&](const Report& report) { explainer.on_report(report); };
    options.on_request = [&](const ReplayRequest<M>& request) {
        progress.pass();
        explainer.on_request(request);
        if (request.call == wanted) {
            explanation = explainer.explain(request);
            throw StopReplay{};
        }
        explainer.next_call();
    };
    try {
        (void)replay<M>(recording, chain, options);
    } catch (const StopReplay&) {
        return explanation;
    }
    throw Error(Errc::not_found, trajectory.id + ": call " + std::to_string(wanted) + " was not reached");
}

}  // namespace whittle::cli
