#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/reduction/clearing.hpp"
#include "whittle/reduction/config.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Keeps tool results small: old rounds are replaced by placeholders once the request passes a limit. The originals go
/// to the store, or stay in the journal without one.
template <AgentMessage M = ChatMessage>
class Reduction final : public Middleware<M> {
public:
    explicit Reduction(ReductionConfig config = {}, ReductionCallbacks<M> callbacks = {},
                       std::string name = "reduction")
        : config_(std::move(config)), callbacks_(std::move(callbacks)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] const ReductionConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    [[nodiscard]] std::size_t untouched_prefix(const Conversation<M>& conversation) const override;

private:
    [[nodiscard]] std::int64_t count(Turn<M>& turn) const;
    [[nodiscard]] std::shared_ptr<Storage> storage_for(const Turn<M>& turn, const std::string& tool) const;
    [[nodiscard]] std::string_view reader(const Turn<M>& turn) const noexcept;
    CommitResult clear(Turn<M>& turn, std::int64_t count, std::int64_t target, std::int64_t at_least) const;
    [[nodiscard]] std::int64_t stage(Turn<M>& turn, Transaction<M>& edit, const ClearingCandidate& candidate,
                                     PlannedKeys& planned) const;
    void remember(Turn<M>& turn, std::int64_t count, const CommitResult& result) const;

    ReductionConfig config_;
    ReductionCallbacks<M> callbacks_;
    std::string name_;
};

template <AgentMessage M>
void Reduction<M>::check(const ChainInfo& chain, Problems& problems) const {
    check_reduction(config_, chain, name_, problems);
    const auto refuse = [&](bool given, std::string_view field) {
        if (given) problems.error(name_ + "." + std::string(field), "set", "unset: not built yet in this version");
    };
    refuse(static_cast<bool>(callbacks_.gen_trunc_offload_file_path), "gen_trunc_offload_file_path");
    refuse(static_cast<bool>(callbacks_.gen_clear_offload_file_path), "gen_clear_offload_file_path");
    refuse(static_cast<bool>(callbacks_.clear_message_rewriter), "clear_message_rewriter");
    refuse(static_cast<bool>(callbacks_.clear_post_process), "clear_post_process");
    refuse(!callbacks_.tool_config.empty(), "tool_config");
}

template <AgentMessage M>
std::int64_t Reduction<M>::count(Turn<M>& turn) const {
    if (!callbacks_.token_counter) return turn.context_tokens();
    return std::max<std::int64_t>(0, callbacks_.token_counter(turn.conversation, turn.request.tools));
}

template <AgentMessage M>
std::shared_ptr<Storage> Reduction<M>::storage_for(const Turn<M>& turn, const std::string& tool) const {
    const auto found = config_.tool_config.find(tool);
    if (found != config_.tool_config.end() && found->second.backend) return found->second.backend;
    return config_.backend ? config_.backend : turn.config.storage;
}

template <AgentMessage M>
std::string_view Reduction<M>::reader(const Turn<M>& turn) const noexcept {
    if (turn.has_tool(config_.read_file_tool_name)) return config_.read_file_tool_name;
    return turn.has_tool("read_offloaded") ? "read_offloaded" : "";
}

template <AgentMessage M>
void Reduction<M>::before_model(Turn<M>& turn) {
    if (config_.skip_clear && config_.tool_config.empty()) return;
    const std::int64_t tokens = count(turn);
    turn.report.count = tokens;
    turn.report.threshold = config_.max_tokens_for_clear;
    turn.report.outcome = Outcome::undue;
    if (tokens <= config_.max_tokens_for_clear) return turn.notes().erase("retry_at_tokens");
    if (tokens < turn.notes().integer("retry_at_tokens").value_or(0)) {
        turn.report.outcome = Outcome::remembered;
        return;
    }
    remember(turn, tokens, clear(turn, tokens, config_.clear_target_tokens, config_.clear_at_least_tokens));
}

/// Clears everything it may, however little that is.
template <AgentMessage M>
bool Reduction<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    if (config_.skip_clear && config_.tool_config.empty()) return false;
    return clear(turn, turn.report.count, 0, 0).committed();
}

/// A plan that freed too little is not made again until the conversation has grown by what was missing.
template <AgentMessage M>
void Reduction<M>::remember(Turn<M>& turn, std::int64_t count, const CommitResult& result) const {
    if (result.outcome != Outcome::too_small && result.outcome != Outcome::nothing)
        return turn.notes().erase("retry_at_tokens");
    const std::int64_t freed = result.tokens_before - result.tokens_after;
    turn.notes().set("retry_at_tokens", count + std::max<std::int64_t>(1, config_.clear_at_least_tokens - freed));
}

template <AgentMessage M>
CommitResult Reduction<M>::clear(Turn<M>& turn, std::int64_t count, std::int64_t target, std::int64_t at_least) const {
    auto edit = turn.edit();
    const auto candidates = plan_clearing(edit.outline(), config_, turn.config.protected_tools, name_,
                                          [&](std::size_t message) { return edit.is_pinned(message); });
    PlannedKeys planned;
    for (const ClearingCandidate& candidate : candidates) {
        const bool is_enough = target > 0 && count - (edit.tokens_before() - edit.tokens_after()) < target;
        const std::int64_t freed = candidate.rule.empty() && !is_enough ? stage(turn, edit, candidate, planned) : 0;
        if (!turn.config.explain && freed == 0) continue;
        const std::string_view rule = !candidate.rule.empty() ? candidate.rule
                                      : is_enough             ? "target_reached"
                                      : freed > 0             ? "old_round"
                                                              : "no_gain";
        turn.report.more().candidates.push_back(
            {edit.outline()[candidate.message].serial, candidate.parts.front(), freed > 0, rule, freed});
    }
    return edit.commit({.at_least_tokens = at_least});
}

/// Plans one result's clearing as a unit of its own. Returns the tokens that it frees; 0 if it was left as it is.
template <AgentMessage M>
std::int64_t Reduction<M>::stage(Turn<M>& turn, Transaction<M>& edit, const ClearingCandidate& candidate,
                                 PlannedKeys& planned) const {
    std::vector<Part> parts;
    std::size_t at = 0;
    message_traits<M>::for_each_part(edit.messages()[candidate.message], [&](const PartView& part) {
        if (std::ranges::find(candidate.parts, at++) != candidate.parts.end()) parts.push_back(to_part(part));
    });
    const auto storage = storage_for(turn, candidate.tool);
    const std::int64_t tokens_before = edit.tokens_after();
    const Serial serial = edit.outline()[candidate.message].serial;
    Provenance provenance{.origin = Origin::placeholder, .reason = "clear"};
    std::string placeholder(plain_placeholder(turn.language));
    std::string content;
    std::string key;
    if (storage) {
        content = offload_content(parts);
        const std::string root = config_.root_dir.empty() ? turn.conversation.id() : config_.root_dir;
        key = candidate.stored.empty() ? free_key(*storage, root + "/clear/" + candidate.name, content, planned)
                                       : candidate.stored;
        provenance.stored.push_back(key);
        placeholder = clearing_placeholder({candidate.tool, static_cast<std::int64_t>(content.size()),
                                            count_lines(content), storage->locate(key), reader(turn)},
                                           turn.language);
    }
    const TokenCounter& counter = turn.counter();
    std::int64_t size = 0;
    for (const Part& part : parts)
        size += part.kind == PartKind::media ? counter.media_tokens(view_of(part).media) : counter.count(part.text);
    if (size <= counter.count(placeholder) * static_cast<std::int64_t>(parts.size())) return 0;
    const Unit unit = edit.begin_unit();
    for (const std::size_t part : candidate.parts) edit.set_text(candidate.message, part, placeholder, provenance);
    const std::int64_t freed = tokens_before - edit.tokens_after();
    if (freed <= 0) {
        edit.drop_unit(unit);
        return 0;
    }
    if (storage && candidate.stored.empty()) {
        using Original = typename Transaction<M>::Original;
        const bool is_plain = parts.size() == 1 && parts.front().kind != PartKind::media;
        planned.emplace(key, hash128(content));
        edit.offload(std::move(key), std::move(content),
                     is_plain ? std::optional(Original{serial, candidate.parts.front()}) : std::nullopt, storage);
    }
    return freed;
}

/// Clearing will start at the oldest result that is not cleared yet: what stands before it stays.
template <AgentMessage M>
std::size_t Reduction<M>::untouched_prefix(const Conversation<M>& conversation) const {
    if (config_.skip_clear && config_.tool_config.empty()) return conversation.size();
    const auto candidates =
        plan_clearing(conversation.outline(), config_, {}, name_, [](std::size_t) { return false; });
    for (const ClearingCandidate& candidate : candidates) {
        if (candidate.rule.empty() || candidate.rule == "retained_round") return candidate.message;  // old by then
    }
    return conversation.size();
}

}  // namespace whittle::inline v0
