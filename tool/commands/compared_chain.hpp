#pragma once

#include "chains_by_cache.hpp"
#include "commands.hpp"
#include "evaluation/recorded.hpp"
#include "figures_of.hpp"
#include "interrupt.hpp"
#include "memory_store.hpp"
#include "report_options.hpp"
#include "session_reporter.hpp"
#include "side_calls.hpp"

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// A configuration that is compared, one session after the other.
class ComparedChain {
public:
    /// `explains`: keeps what a session report needs.
    ComparedChain(const ConfigChoice& config, bool allow_remote, bool explains = false)
        : name_(config.name()),
          description_(config.preset.empty() ? "a configuration" : "a preset"),
          by_cache_(config, explains ? for_session_report : with_memory_storage, allow_remote) {}

    /// Runs the chain for that session's cache. `on_call`: called after each request that was made.
    template <JsonMessage M>
    void take(const Trajectory<M>& trajectory, CostBasis basis, const std::function<void()>& on_call) {
        chains_ = &by_cache_.for_session(basis);
        evaluation::ChainOptions<M> options = chain_options<M>();
        options.on_request = [&](const ReplayRequest<M>&) { on_call(); };
        take(trajectory, options);
    }

    /// The same, and a report of the session.
    template <JsonMessage M>
    [[nodiscard]] SessionReport take_and_report(const Trajectory<M>& trajectory, CostBasis basis,
                                                const SessionReportOptions& session_report,
                                                const std::function<void()>& on_call) {
        chains_ = &by_cache_.for_session(basis);
        const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                     trajectory.seconds_since_first};
        SessionReporter<M> reporter(recording, chains_->of<M>(), name_, session_report.is_masked);
        evaluation::ChainOptions<M> options = chain_options<M>();
        options.on_report = [&](const Report& report) { reporter.on_report(report); };
        options.on_request = [&](const ReplayRequest<M>& request) {
            on_call();
            reporter.on_request(request);
        };
        take(trajectory, options);
        return reporter.take(session_report.text_bytes);
    }

    /// Of the session that was taken last.
    [[nodiscard]] evaluation::Figures evaluate_last(const evaluation::Session& session,
                                                    evaluation::RunOptions options) const {
        options.storage = chains_->config().storage;
        return figures_of(requests_, session, options);
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& description() const noexcept { return description_; }
    [[nodiscard]] const ReplayTotals& totals() const noexcept { return totals_; }

private:
    template <JsonMessage M>
    [[nodiscard]] evaluation::ChainOptions<M> chain_options() {
        evaluation::ChainOptions<M> options{.stop = interrupt_token(), .clock = chains_->clock()};
        options.side_calls = [&](std::span<const M> request) {
            return side_calls_of<M>(chains_->take_calls(), request);
        };
        return options;
    }

    template <JsonMessage M>
    void take(const Trajectory<M>& trajectory, const evaluation::ChainOptions<M>& options) {
        evaluation::ChainRequests made = evaluation::requests_of_chain<M>(trajectory, chains_->of<M>(), options);
        totals_ += made.totals;
        requests_ = std::move(made.requests);
    }

    std::string name_;
    std::string description_;
    ChainsByCache by_cache_;
    WatchedChains* chains_ = nullptr;              // of the session that was taken last
    std::vector<evaluation::Request> requests_{};  // of it
    ReplayTotals totals_{};
};

}  // namespace whittle::cli
