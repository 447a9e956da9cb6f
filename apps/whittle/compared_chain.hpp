#pragma once

#include "chain_replay.hpp"
#include "commands.hpp"
#include "memory_store.hpp"
#include "whittle/evaluation/recorded.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// A configuration that is compared: it runs while the sessions are read, and is evaluated when all of them are known.
class ComparedChain {
public:
    ComparedChain(const ConfigChoice& config, bool allow_remote)
        : name_(config.name()),
          description_(config.preset.empty() ? "a configuration" : "a preset"),
          chains_(with_memory_storage(load_settings(config)), allow_remote) {}

    template <JsonMessage M>
    void take(const Trajectory<M>& trajectory) {
        evaluation::ChainOptions<M> options{.stop = interrupt_token(), .clock = chains_.clock()};
        options.side_calls = [&](std::span<const M> request) { return take_side_calls<M>(request); };
        evaluation::ChainRequests made = evaluation::requests_of_chain<M>(trajectory, chains_.of<M>(), options);
        totals_ += made.totals;
        requests_.push_back(std::move(made.requests));
    }

    [[nodiscard]] evaluation::Figures evaluate(std::size_t session_number, const evaluation::Session& session,
                                               evaluation::RunOptions options) {
        options.storage = chains_.config().storage;
        evaluation::Run run(session, options);
        const auto& requests = requests_[session_number];
        for (std::size_t call = 0; call < requests.size(); ++call) {
            throw_if_interrupted();
            run.send(call, requests[call]);
        }
        requests_[session_number].clear();
        return run.finish();
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& description() const noexcept { return description_; }
    [[nodiscard]] const ReplayTotals& totals() const noexcept { return totals_; }

private:
    template <JsonMessage M>
    std::vector<evaluation::SideCall> take_side_calls(std::span<const M> request) {
        std::vector<evaluation::SideCall> sides;
        for (const WatchedCall& call : chains_.take_calls()) {
            evaluation::SideCall& side = sides.emplace_back();
            for (const auto& message : call.messages)
                std::ranges::move(evaluation::detail::messages_of(M(message)), std::back_inserter(side.messages));
            side.reply = call.reply;
            side.shares_prefix = shares_prefix(call, request);
        }
        return sides;
    }

    std::string name_;
    std::string description_;
    WatchedChains chains_;
    std::vector<std::vector<evaluation::Request>> requests_{};  // by session
    ReplayTotals totals_{};
};

}  // namespace whittle::cli
