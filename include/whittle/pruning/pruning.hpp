#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/pruning/detail/limits_stage.hpp"
#include "whittle/pruning/detail/media_stage.hpp"
#include "whittle/pruning/detail/pruned_outputs.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"
#include "whittle/pruning/fetch_media.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Replaces the results of old tool calls by placeholders ("T9"): those before the last user turns, but for protected
/// tools. The originals go to the store; without one they stay in the journal. `budget_pruning()` gives the form that
/// keeps the newest results up to a budget and acts only where it pays.
template <AgentMessage M = ChatMessage>
class Pruning final : public Middleware<M> {
public:
    /// The chain checks the configuration.
    explicit Pruning(PruningConfig config = {}, std::string name = "pruning")
        : config_(std::move(config)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// The settings that it was made with.
    [[nodiscard]] const PruningConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    void check_tools(const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems) const override;
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    void compact_now(Turn<M>& turn) override;
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig& chain) const override {
        return detail::media_tools(chain);
    }
    [[nodiscard]] std::size_t expected_stable_prefix(const Conversation<M>& conversation) const override;

private:
    [[nodiscard]] static std::int64_t newest_entry(const Conversation<M>& conversation) {
        return conversation.journal().empty() ? 0 : static_cast<std::int64_t>(conversation.journal().back()->id);
    }
    /// Commits whatever it finds in front of `end`.
    static bool prune(Turn<M>& turn, PruningConfig config, std::size_t end, std::int64_t enough = INT64_MAX);
    [[nodiscard]] bool has_seen(Turn<M>& turn, Serial boundary) const;
    void remember(Turn<M>& turn, Serial boundary, const CommitResult& result) const;

    PruningConfig config_;
    std::string name_;
};

template <AgentMessage M>
void Pruning<M>::check(const ChainInfo&, Problems& problems) const {
    check_pruning(config_, name_, problems);
}

template <AgentMessage M>
void Pruning<M>::check_tools(const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems) const {
    check_reader({.field = name_ + ".storage", .own = config_.storage.get(), .has_media = true}, chain, tools,
                 problems);
}

/// Whether the same messages were looked at already: the boundary has not moved, and nothing was edited, pinned or
/// unpinned since. One who wants to know more than what happens gets it at every call.
template <AgentMessage M>
bool Pruning<M>::has_seen(Turn<M>& turn, Serial boundary) const {
    if (turn.config.dry_run || turn.config.explain) return false;
    return turn.notes().integer("seen_up_to") == static_cast<std::int64_t>(boundary) &&
           turn.notes().integer("seen_entry") == newest_entry(turn.conversation) &&
           turn.notes().integer("seen_pins").value_or(0) == detail::pins_of(turn.conversation.outline());
}

/// What the store refused is tried again; a dry run leaves nothing behind.
template <AgentMessage M>
void Pruning<M>::remember(Turn<M>& turn, Serial boundary, const CommitResult& result) const {
    const bool is_done = result.outcome == Outcome::committed || result.outcome == Outcome::nothing;
    if (!is_done || result.unstored_edit_groups > 0 || turn.config.dry_run) return;
    turn.notes().set("seen_up_to", static_cast<std::int64_t>(boundary));
    turn.notes().set("seen_entry", newest_entry(turn.conversation));
    const std::int64_t pins = detail::pins_of(turn.conversation.outline());
    if (pins != 0 || turn.notes().integer("seen_pins")) turn.notes().set("seen_pins", pins);
}

template <AgentMessage M>
void Pruning<M>::before_model(Turn<M>& turn) {
    turn.report.outcome = Outcome::not_due;
    const Outline outline = turn.conversation.outline();
    const RequestLimits& limits = turn.config.profile.validity.limits;
    const std::size_t end = pruning_boundary(outline, config_);
    const Serial boundary = end > 0 ? outline[end - 1].serial : 0;
    const bool is_due = end > 0 && !has_seen(turn, boundary);
    const bool is_over = config_.fit_image_and_byte_limits && detail::is_over_limits(outline, limits);
    if (!is_due && !is_over) return;
    auto edit = turn.edit();
    const bool is_fitted = is_over && detail::stage_limits(turn, edit, config_).count > 0;
    if (is_due) detail::stage_pruning(turn, edit, config_, end);
    const CommitResult result = edit.commit({.min_token_reduction = is_fitted ? 0 : config_.minimum_gain_tokens});
    detail::report_refused(turn, result);
    if (is_due) remember(turn, boundary, result);
    if (is_over && !turn.config.dry_run) detail::report_limits(turn, limits);
}

/// Prunes what the boundary and the protections leave, however little and however new that is, and takes media out.
template <AgentMessage M>
bool Pruning<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    PruningConfig all = config_;
    all.protect_newest_tokens = 0;
    return prune(turn, all, turn.conversation.size());
}

/// However little that is, oldest first, down to the target.
template <AgentMessage M>
void Pruning<M>::compact_now(Turn<M>& turn) {
    prune(turn, config_, pruning_boundary(turn.conversation.outline(), config_), turn.tokens_above_target());
}

template <AgentMessage M>
bool Pruning<M>::prune(Turn<M>& turn, PruningConfig config, std::size_t end, std::int64_t enough) {
    config.minimum_gain_tokens = 0;
    auto edit = turn.edit();
    detail::stage_pruning(turn, edit, config, end, {.enough = enough});
    if (turn.report.hook == Hook::on_overflow &&
        config.fit_image_and_byte_limits)  // it may have been the bytes (HTTP 413)
        detail::stage_media(turn, edit, MediaMode::automatic, end, config);
    const CommitResult result = edit.commit();
    detail::report_refused(turn, result);
    return result.committed();
}

/// Up to the oldest result that the boundary does not keep, or will not keep one day.
template <AgentMessage M>
std::size_t Pruning<M>::expected_stable_prefix(const Conversation<M>& conversation) const {
    const Outline outline = conversation.outline();
    const std::function<bool(std::size_t)> is_pinned = [](std::size_t) { return false; };
    std::size_t first = conversation.size();
    for (const PruningCandidate& candidate : plan_pruning({outline, config_, {}, is_pinned, conversation.size()})) {
        if (candidate.rule.empty() || candidate.rule == "skip_boundary") first = (std::min)(first, candidate.message);
    }
    return first;
}

/// The list with old tool outputs replaced, for a host that keeps nothing but a list: `messages` stays as it is, and
/// with it the originals. What stays: results of `protected_tools`, of the last two user turns, and of failed calls, or
/// as `config` says; its `storage` is not used. Throws Error(invalid_config). A copy, O(size of the messages).
template <AgentMessage M>
[[nodiscard]] std::vector<M> prune_tool_outputs(std::span<const M> messages,
                                                std::vector<std::string> protected_tools = default_protected_tools(),
                                                PruningConfig config = {}) {
    Conversation<M> conversation("prune_tool_outputs");
    for (const M& message : messages) conversation.push_back(message);
    if (config.placeholder.empty()) config.placeholder = tool_output_compacted;
    config.storage = nullptr;
    ChainConfig settings{.on_error = OnError::propagate};
    settings.protected_tools = std::move(protected_tools);
    Chain<M>(std::move(settings), Pruning<M>(std::move(config))).compact_now(conversation);
    return {conversation.messages().begin(), conversation.messages().end()};
}

/// The maker of `pruning_type`.
inline constexpr auto make_pruning = []<AgentMessage M>(
                                         const PruningConfig& config,
                                         const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    return std::make_shared<Pruning<M>>(config, context.name_in_config);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_PRUNING
#include "whittle/base/detail/compiled_types.hpp"
