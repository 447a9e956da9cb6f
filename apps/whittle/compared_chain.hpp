#pragma once

#include "chain_replay.hpp"
#include "commands.hpp"
#include "memory_store.hpp"
#include "tell_story.hpp"
#include "whittle/evaluation/recorded.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// A configuration that is compared: it runs while the sessions are read, and is evaluated when all of them are known.
class ComparedChain {
public:
    /// `explains`: so that its story can be told.
    ComparedChain(const ConfigChoice& config, bool allow_remote, bool explains = false)
        : name_(config.name()),
          description_(config.preset.empty() ? "a configuration" : "a preset"),
          chains_(explains ? for_story(load_settings(config)) : with_memory_storage(load_settings(config)),
                  allow_remote) {}

    /// `on_call`: called after each request that was made.
    template <JsonMessage M>
    void take(const Trajectory<M>& trajectory, const std::function<void()>& on_call) {
        evaluation::ChainOptions<M> options = chain_options<M>();
        options.on_request = [&](const ReplayRequest<M>&) { on_call(); };
        take(trajectory, options);
    }

    /// The same, and the story of it.
    template <JsonMessage M>
    [[nodiscard]] SessionStory take_and_tell(const Trajectory<M>& trajectory, const StoryOptions& story,
                                             const std::function<void()>& on_call) {
        const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                     trajectory.seconds};
        StoryTeller<M> teller(recording, chains_.of<M>(), name_, story.is_masked);
        evaluation::ChainOptions<M> options = chain_options<M>();
        options.on_report = [&](const Report& report) { teller.on_report(report); };
        options.on_request = [&](const ReplayRequest<M>& request) {
            on_call();
            teller.on_request(request);
        };
        take(trajectory, options);
        return teller.take(story.text_bytes);
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
    [[nodiscard]] evaluation::ChainOptions<M> chain_options() {
        evaluation::ChainOptions<M> options{.stop = interrupt_token(), .clock = chains_.clock()};
        options.side_calls = [&](std::span<const M> request) { return take_side_calls<M>(request); };
        return options;
    }

    template <JsonMessage M>
    void take(const Trajectory<M>& trajectory, const evaluation::ChainOptions<M>& options) {
        evaluation::ChainRequests made = evaluation::requests_of_chain<M>(trajectory, chains_.of<M>(), options);
        totals_ += made.totals;
        requests_.push_back(std::move(made.requests));
    }

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
