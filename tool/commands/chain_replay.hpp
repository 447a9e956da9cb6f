#pragma once

#include "commands.hpp"
#include "replay/replay.hpp"
#include "tool_models.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/base/clock.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/openai/openai.hpp"

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// A model call that a middleware made.
struct WatchedCall {
    std::string purpose{};
    nlohmann::ordered_json messages{};
    std::string reply{};
};
using WatchedCalls = std::vector<WatchedCall>;

template <AgentMessage M>
nlohmann::ordered_json to_array(std::span<const M> messages) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const M& m : messages) json.push_back(m.json());
    return json;
}

/// Whether it starts with the conversation's own first message, so that it goes on from its cached prefix.
template <AgentMessage M>
bool shares_prefix(const WatchedCall& call, std::span<const M> request) {
    return !call.messages.empty() && !request.empty() && call.messages.front() == request.front().json();
}

/// Notes what a model is asked, and what that takes by the chain's own counter.
template <AgentMessage M>
class WatchedModel final : public Model<M> {
public:
    WatchedModel(std::shared_ptr<Model<M>> model, std::shared_ptr<const TokenCounter> counter,
                 std::shared_ptr<WatchedCalls> calls)
        : model_(std::move(model)), counter_(std::move(counter)), calls_(std::move(calls)) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        Reply<M> reply = model_->generate(request);
        if (!reply.usage) {
            Usage usage{.uncached_input = count_overhead(request.system, request.tools, *counter_),
                        .output = count_message(reply.message, *counter_)};
            for (const M& m : request.messages)
                usage.uncached_input = add_saturating(usage.uncached_input, count_message(m, *counter_));
            reply.usage = usage;
        }
        calls_->push_back({std::string(request.purpose), to_array<M>(request.messages), text_of(reply.message)});
        return reply;
    }

private:
    std::shared_ptr<Model<M>> model_;
    std::shared_ptr<const TokenCounter> counter_;
    std::shared_ptr<WatchedCalls> calls_;
};

/// A chain whose models are watched.
template <AgentMessage M>
[[nodiscard]] Chain<M> make_watched_chain(const ChainSettings& settings, const std::shared_ptr<WatchedCalls>& calls,
                                          bool allow_remote) {
    return make_chain<M>(settings, {}, [&](const ModelSettings& model) {
        return std::make_shared<WatchedModel<M>>(tool_models<M>(allow_remote)(model), settings.config.token_counter,
                                                 calls);
    });
}

/// A configuration's chain over both message types, with one clock, which follows the recording that is replayed.
class WatchedChains {
public:
    /// `allow_remote`: models on other machines may be asked. Throws what `tool_models` throws.
    WatchedChains(ChainSettings settings, bool allow_remote)
        : settings_(on_clock(std::move(settings), clock_)),
          openai_(make_watched_chain<openai::Message>(settings_for<openai::Message>(settings_), calls_, allow_remote)),
          anthropic_(make_watched_chain<anthropic::Message>(settings_for<anthropic::Message>(settings_), calls_,
                                                            allow_remote)) {}

    template <AgentMessage M>
    [[nodiscard]] const Chain<M>& of() const noexcept {
        if constexpr (std::same_as<M, openai::Message>) {
            return openai_;
        } else {
            return anthropic_;
        }
    }
    [[nodiscard]] const ChainConfig& config() const noexcept { return settings_.config; }
    [[nodiscard]] const std::shared_ptr<ManualClock>& clock() const noexcept { return clock_; }
    /// The calls of their models since the last time.
    [[nodiscard]] WatchedCalls take_calls() { return std::exchange(*calls_, {}); }

private:
    static ChainSettings on_clock(ChainSettings settings, const std::shared_ptr<ManualClock>& clock) {
        settings.config.clock = clock;
        return settings;
    }

    std::shared_ptr<WatchedCalls> calls_ = std::make_shared<WatchedCalls>();
    std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
    ChainSettings settings_;
    Chain<openai::Message> openai_;
    Chain<anthropic::Message> anthropic_;
};

/// For the last line: why a run counts as failed; empty if it does not.
[[nodiscard]] std::string reason_of_failure(const ReplayTotals& sum);

}  // namespace whittle::cli
