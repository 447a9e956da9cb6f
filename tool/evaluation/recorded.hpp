#pragma once

#include "evaluation.hpp"
#include "evaluation/detail/part_collector.hpp"
#include "replay/replay.hpp"
#include "whittle/base/clock.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/saved/trajectory.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// Recorded sessions of JSON messages, and the requests that a chain makes of them.
namespace whittle::inline v0::evaluation {

namespace detail {

[[nodiscard]] std::string tools_text(const std::vector<ToolSpec>& tools, const nlohmann::ordered_json& rest);
/// Source, kind and size from what a recording says of itself.
void take_origin(SessionInput& input, std::string_view file, const nlohmann::ordered_json& rest);

}  // namespace detail

/// A session as it was read. `file`: its name says what kind of sessions it holds.
template <JsonMessage M>
[[nodiscard]] SessionInput to_session(const Trajectory<M>& trajectory, std::string_view file = {}) {
    SessionInput input{.id = trajectory.id, .system = trajectory.system};
    input.tools = detail::tools_text(trajectory.tools, trajectory.rest);
    detail::take_origin(input, file, trajectory.rest);
    for (std::size_t i = 0; i < trajectory.messages.size(); ++i) {
        for (Message& message : detail::messages_of(trajectory.messages[i])) {
            input.messages.push_back(std::move(message));
            if (i < trajectory.seconds_since_first.size()) input.seconds.push_back(trajectory.seconds_since_first[i]);
        }
    }
    return input;
}

/// What a chain sends before each model call of a session, by call, and what its replay came to.
struct ChainRequests {
    std::vector<Request> requests{};
    ReplayTotals totals{};
};

template <JsonMessage M>
struct ChainOptions {
    StopToken stop{};
    std::shared_ptr<ManualClock> clock{};  ///< the chain's, to follow the recording; null: it does not
    /// Asked at each request: the calls of models that were made to prepare it.
    std::function<std::vector<SideCall>(std::span<const M> request)> side_calls{};
    std::function<void(const Report&)> on_report{};             ///< as `ReplayOptions` has it
    std::function<void(const ReplayRequest<M>&)> on_request{};  ///< the same
};

namespace detail {

/// Takes the requests of a replay; messages that a request shares with others are converted once.
template <JsonMessage M>
class RequestTaker {
public:
    explicit RequestTaker(const ChainOptions<M>& options) : options_(options) {}

    void operator()(const ReplayRequest<M>& request) {
        ends_.resize(request.keep + 1);
        Request& sent = requests_.emplace_back();
        sent.keep = ends_.back();
        for (std::size_t i = request.keep; i < request.messages.size(); ++i) {
            const auto& messages = converted(request.messages[i], request.conversation.outline()[i].fingerprint);
            for (const auto& message : messages) sent.rest.push_back({.message = message});
            ends_.push_back(ends_.back() + messages.size());
        }
        if (options_.side_calls) sent.side_calls = options_.side_calls(request.messages);
    }
    [[nodiscard]] std::vector<Request> take() { return std::move(requests_); }

private:
    using Converted = std::vector<std::shared_ptr<const Message>>;
    struct Hasher {
        std::size_t operator()(const Hash128& h) const noexcept { return static_cast<std::size_t>(h.low ^ h.high); }
    };

    const Converted& converted(const M& message, const Hash128& fingerprint) {
        const auto [known, is_new] = known_.try_emplace(fingerprint);
        if (!is_new) return known->second;
        for (Message& one : messages_of(message))
            known->second.push_back(std::make_shared<const Message>(std::move(one)));
        return known->second;
    }

    const ChainOptions<M>& options_;
    std::vector<Request> requests_{};
    std::vector<std::size_t> ends_{0};  // behind each message of the newest request, in messages of the figures
    std::unordered_map<Hash128, Converted, Hasher> known_{};
};

}  // namespace detail

/// Replays a session through a chain. What the chain stores stays in its storage, for `RunOptions::storage`.
template <JsonMessage M>
[[nodiscard]] ChainRequests requests_of_chain(const Trajectory<M>& trajectory, const Chain<M>& chain,
                                              const ChainOptions<M>& options = {}) {
    detail::RequestTaker<M> taker(options);
    ReplayOptions<M> replay_options{.stop = options.stop, .clock = options.clock};
    replay_options.on_report = options.on_report;
    replay_options.on_request = [&](const ReplayRequest<M>& request) {
        taker(request);
        if (options.on_request) options.on_request(request);
    };
    ChainRequests made;
    made.totals = replay<M>(
        {trajectory.id, trajectory.system, trajectory.tools, trajectory.messages, trajectory.seconds_since_first},
        chain, replay_options);
    made.requests = taker.take();
    return made;
}

}  // namespace whittle::inline v0::evaluation
