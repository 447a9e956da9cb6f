#pragma once

#include "whittle/base/detail/saturating.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/chain/detail/cooldown.hpp"
#include "whittle/pruning/detail/limits_stage.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/reduction/config.hpp"
#include "whittle/reduction/detail/clearing_run.hpp"
#include "whittle/reduction/detail/round_rewriter.hpp"
#include "whittle/reduction/detail/truncation.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Keeps tool results small: what a tool returns is shortened when it is long, and old rounds are replaced by
/// placeholders once the request passes a limit. The originals go to the store; without one, those of old rounds stay
/// in the journal.
template <AgentMessage M = ChatMessage>
class Reduction final : public Middleware<M> {
public:
    /// The chain checks the configuration.
    explicit Reduction(ReductionConfig config = {}, ReductionCallbacks<M> callbacks = {},
                       std::string name = "reduction")
        : config_(std::move(config)), callbacks_(std::move(callbacks)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// The settings that it was made with.
    [[nodiscard]] const ReductionConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    void check_tools(const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems) const override;
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig& chain) const override {
        return config_.fit_image_and_byte_limits ? detail::media_tools(chain) : std::vector<Tool>{};
    }
    void before_model(Turn<M>& turn) override;
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    void compact_now(Turn<M>& turn) override;
    [[nodiscard]] std::vector<std::string> extra_readable_roots() const override {
        return config_.root_dir.empty() ? std::vector<std::string>{} : std::vector<std::string>{config_.root_dir};
    }
    [[nodiscard]] std::size_t expected_stable_prefix(const Conversation<M>& conversation) const override;

private:
    void clear_when_due(Turn<M>& turn);
    [[nodiscard]] bool never_clears() const { return config_.skip_clear && config_.tool_config.empty(); }
    [[nodiscard]] std::int64_t count(Turn<M>& turn) const;
    [[nodiscard]] detail::ClearingCallbacks clearing_callbacks() const noexcept {
        return {callbacks_.tool_config, callbacks_.gen_clear_offload_file_path};
    }
    void rewrite(Turn<M>& turn, Transaction<M>& edit, detail::ClearingRun& run, std::int64_t target) const {
        if (config_.skip_clear || !callbacks_.clear_message_rewriter) return;
        detail::RoundRewriter<M>(turn, edit, run, config_, callbacks_.clear_message_rewriter).rewrite(target);
    }
    bool clear_now(Turn<M>& turn, std::int64_t target, bool shorten_newest);
    void remember(Turn<M>& turn, const detail::ClearingRun& run, std::int64_t count, const CommitResult& result) const;
    void run_post_process(Turn<M>& turn, const CommitResult& result) const;

    ReductionConfig config_;
    ReductionCallbacks<M> callbacks_;
    std::string name_;
};

template <AgentMessage M>
void Reduction<M>::check(const ChainInfo& chain, Problems& problems) const {
    check_reduction(config_, chain, name_, problems);
    check_tool_names(config_, callbacks_.tool_config, chain, name_, problems);
    for (const auto& [tool, own] : callbacks_.tool_config) check_tool_callbacks(own, name_, tool, problems);
}

template <AgentMessage M>
void Reduction<M>::check_tools(const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems) const {
    check_reader({name_ + ".read_file_tool_name", config_.backend.get(), config_.read_file_tool_name}, chain, tools,
                 problems);
}

template <AgentMessage M>
ToolOutcome Reduction<M>::wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) {
    return run_truncated({config_, callbacks_.gen_trunc_offload_file_path, callbacks_.tool_config, name_}, context, out,
                         next);
}

template <AgentMessage M>
std::int64_t Reduction<M>::count(Turn<M>& turn) const {
    if (!callbacks_.token_counter) return turn.context_tokens();
    return std::max<std::int64_t>(0, callbacks_.token_counter(turn.callback_context(), turn.conversation));
}

template <AgentMessage M>
void Reduction<M>::before_model(Turn<M>& turn) {
    if (!never_clears()) clear_when_due(turn);
    if (config_.fit_image_and_byte_limits) detail::fit_image_and_byte_limits(turn, turn.config.token_counter);
}

template <AgentMessage M>
void Reduction<M>::clear_when_due(Turn<M>& turn) {
    const std::int64_t tokens = count(turn);
    const ClearingLimits limits = detail::clearing_limits_now(turn, config_, tokens);
    turn.report.count = tokens;
    turn.report.threshold = limits.trigger_tokens;
    turn.report.outcome = Outcome::not_due;
    detail::Cooldown cooldown(turn, true);
    if (tokens <= limits.trigger_tokens) return cooldown.end();
    const bool has_new_round = turn.notes().integer("tried_round") != newest_round(turn.conversation.outline());
    if (!has_new_round && cooldown.is_active(tokens)) {
        turn.report.outcome = Outcome::cooling_down;
        return;
    }
    const TokenScale token_scale = turn.counted().scale_to(tokens);  // first: it anchors a counter that is new
    Transaction<M> edit = turn.edit();
    detail::ClearingRun run(turn, edit, config_, clearing_callbacks(), tokens, token_scale);
    rewrite(turn, edit, run, limits.target);
    run.clear(limits.target);
    const CommitResult result = run.commit(config_.clear_at_least_tokens);
    remember(turn, run, tokens, result);
    if (result.committed())
        detail::warn_if_above(
            turn, tokens,
            sub_saturating(tokens, run.of_request(sub_saturating(result.tokens_before, result.tokens_after))),
            limits_of(config_, turn.known_window()).trigger_tokens);
    run_post_process(turn, result);
}

/// Clears everything it may, however little that is; if that is not enough, shortens results of the newest rounds too.
template <AgentMessage M>
bool Reduction<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    return clear_now(turn, 0, true);
}

/// Clears down to the target. Results of the newest rounds stay whole: no request was refused.
template <AgentMessage M>
void Reduction<M>::compact_now(Turn<M>& turn) {
    if (!never_clears()) clear_now(turn, turn.report.threshold, false);
}

template <AgentMessage M>
bool Reduction<M>::clear_now(Turn<M>& turn, std::int64_t target, bool shorten_newest) {
    const std::int64_t tokens = std::max<std::int64_t>(1, turn.report.count);
    const TokenScale token_scale = turn.counted().scale_to(tokens);  // first: it anchors a counter that is new
    Transaction<M> edit = turn.edit();
    detail::ClearingRun run(turn, edit, config_, clearing_callbacks(), tokens, token_scale);
    if (!never_clears()) {
        rewrite(turn, edit, run, target);
        run.clear(target);
    }
    const std::int64_t missing = sub_saturating(sub_saturating(tokens, run.freed()), turn.report.threshold);
    if (shorten_newest && missing > 0) run.shorten_newest(missing);
    const CommitResult result = run.commit(0);
    run_post_process(turn, result);
    return result.committed();
}

/// Under OnError::skip the commit stands, whatever the user's callback throws.
template <AgentMessage M>
void Reduction<M>::run_post_process(Turn<M>& turn, const CommitResult& result) const {
    if (!callbacks_.clear_post_process || !result.committed()) return;
    try {
        callbacks_.clear_post_process(turn.callback_context(), turn.conversation, turn.report);
    } catch (...) {
        if (turn.config.on_error == OnError::propagate) throw;
        const std::string text = "clear_post_process: " + detail::current_error_text();
        turn.report.ensure_details().error = text;
        detail::emit_failure(turn.callbacks.on_event, name_, turn.conversation.id(), text);
    }
}

/// A plan that freed too little is not made again until the conversation has grown by what was missing, or has a newer
/// tool round: then one that was kept may go.
template <AgentMessage M>
void Reduction<M>::remember(Turn<M>& turn, const detail::ClearingRun& run, std::int64_t count,
                            const CommitResult& result) const {
    detail::Cooldown cooldown(turn, true);
    if (result.outcome != Outcome::too_small && result.outcome != Outcome::nothing) return cooldown.end();
    const std::int64_t freed = run.of_request(sub_saturating(result.tokens_before, result.tokens_after));
    const std::int64_t missing = std::max<std::int64_t>(1, sub_saturating(config_.clear_at_least_tokens, freed));
    cooldown.wait_for(add_saturating(count, missing));
    turn.notes().set("tried_round", newest_round(turn.conversation.outline()));
}

/// Clearing will start at the oldest result that is not cleared yet: what stands before it stays.
template <AgentMessage M>
std::size_t Reduction<M>::expected_stable_prefix(const Conversation<M>& conversation) const {
    if (never_clears()) return conversation.size();
    return detail::untouched_by_clearing(conversation.outline(), config_, name_);
}

/// The maker of `reduction_type`.
inline constexpr auto make_reduction = []<AgentMessage M>(
                                           const ReductionConfig& config,
                                           const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    return std::make_shared<Reduction<M>>(config, ReductionCallbacks<M>{}, context.name_in_config);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_REDUCTION
#include "whittle/base/detail/compiled_types.hpp"
