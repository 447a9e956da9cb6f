#pragma once

#include "whittle/chain/stored_parts.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/compaction/media_stage.hpp"
#include "whittle/compaction/pruning_config.hpp"
#include "whittle/compaction/pruning_plan.hpp"
#include "whittle/compaction/stage_gain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// One run of pruning in a transaction: first it decides, then it plans the edits.
template <AgentMessage M>
class PruningRun {
public:
    PruningRun(Turn<M>& turn, Transaction<M>& edit, const PruningConfig& config, std::size_t end)
        : turn_(turn),
          edit_(edit),
          config_(config),
          end_(end),
          storage_(config.storage ? config.storage : turn.config.storage) {}

    StageGain run();

private:
    /// What is to stand in place of a result.
    struct Decision {
        PruningCandidate candidate{};
        std::int64_t tokens = 0;  ///< of the result
        std::int64_t gain = 0;    ///< by estimate; above 0: it goes
        std::string text{};       ///< in place of the first text
        std::string key{};        ///< where the fresh texts go; empty: nowhere
        std::string content{};    ///< these
        std::vector<std::string> media_texts{};
    };

    [[nodiscard]] std::vector<PruningCandidate> plan() const;
    [[nodiscard]] std::string arguments_of(const PruningCandidate& candidate) const;
    [[nodiscard]] bool is_wanted(const PruningCandidate& candidate, const std::string& arguments) const;
    [[nodiscard]] Decision decide(PruningCandidate candidate);
    [[nodiscard]] std::string location_of(const Decision& decision) const;
    [[nodiscard]] std::int64_t tokens(std::string_view text) const { return turn_.counter().count(text); }
    std::int64_t stage(Decision& decision);
    void tell(const PruningCandidate& candidate, std::string_view rule, std::int64_t freed);

    Turn<M>& turn_;
    Transaction<M>& edit_;
    const PruningConfig& config_;
    std::size_t end_;
    std::shared_ptr<Storage> storage_;
    std::int64_t newest_ = 0;  // tokens of prunable results so far, newest first
};

template <AgentMessage M>
std::vector<PruningCandidate> PruningRun<M>::plan() const {
    const std::function<bool(std::size_t)> is_pinned = [this](std::size_t message) { return edit_.is_pinned(message); };
    const Outline outline = edit_.outline();
    return plan_pruning({outline, config_, turn_.config.protected_tools, turn_.report.middleware, is_pinned, end_});
}

template <AgentMessage M>
void PruningRun<M>::tell(const PruningCandidate& candidate, std::string_view rule, std::int64_t freed) {
    if (freed <= 0 && !turn_.config.explain) return;
    const std::vector<std::size_t>& parts = candidate.texts.empty() ? candidate.media : candidate.texts;
    turn_.report.more().candidates.push_back({edit_.outline()[candidate.message].serial,
                                              parts.empty() ? 0 : parts.front(), freed > 0, rule,
                                              std::max<std::int64_t>(0, freed)});
}

template <AgentMessage M>
std::string PruningRun<M>::arguments_of(const PruningCandidate& candidate) const {
    return candidate.call_part ? text_of(edit_.messages()[candidate.call], *candidate.call_part) : std::string();
}

template <AgentMessage M>
bool PruningRun<M>::is_wanted(const PruningCandidate& candidate, const std::string& arguments) const {
    if (!config_.protect) return false;
    const std::vector<std::size_t>& parts = candidate.texts.empty() ? candidate.media : candidate.texts;
    const Mark mark = mark_of(edit_.outline()[candidate.message], parts.front());
    return config_.protect({candidate.tool, arguments, candidate.bytes, candidate.is_error, mark.get()});
}

/// Where the original is, as the model is told.
template <AgentMessage M>
std::string PruningRun<M>::location_of(const Decision& decision) const {
    std::string location;
    const auto add = [&](const std::string& key, const std::shared_ptr<Storage>& storage) {
        location += (location.empty() ? "" : ", ") + (storage ? storage->locate(key) : key);
    };
    for (const std::string& key : decision.candidate.stored) {
        const auto object = turn_.conversation.objects()->find(key, storage_);
        add(key, object ? object->storage : storage_);
    }
    if (!decision.key.empty()) add(decision.key, storage_);
    return location;
}

/// What would stand in place of a result, and what that frees.
template <AgentMessage M>
typename PruningRun<M>::Decision PruningRun<M>::decide(PruningCandidate candidate) {
    Decision decision{.candidate = std::move(candidate)};
    const std::vector<Part> parts = parts_of(edit_.messages()[decision.candidate.message]);
    std::vector<Part> fresh;
    std::string whole;
    for (const std::size_t p : decision.candidate.texts) {
        whole += (whole.empty() ? "" : "\n") + parts[p].text;
        decision.tokens += tokens(parts[p].text);
    }
    for (const std::size_t p : decision.candidate.fresh) fresh.push_back(parts[p]);
    const std::string arguments = arguments_of(decision.candidate);
    if (is_wanted(decision.candidate, arguments)) {
        decision.candidate.rule = "protect";
        return decision;
    }
    if (storage_ && !fresh.empty()) {
        decision.content = offload_content(fresh);
        decision.key = pruned_key(turn_.conversation.id(), decision.candidate.name, decision.content);
    }
    const std::string location = location_of(decision);
    const std::string_view reader = location.empty() ? std::string_view() : reader_of_pruned(turn_.request.tools);
    const PrunedText pruned{
        decision.candidate.tool, arguments, whole, static_cast<std::int64_t>(whole.size()), location, reader};
    std::int64_t cost = 0;
    if (!decision.candidate.texts.empty()) {
        decision.text = text_in_place(pruned, config_, turn_.language, !decision.candidate.stored.empty());
        cost = tokens(decision.text);
        cost += tokens(further_text_in_place(turn_.language)) *
                static_cast<std::int64_t>(decision.candidate.texts.size() - 1);
    }
    for (const std::size_t p : decision.candidate.media) {
        decision.tokens += turn_.counter().media_tokens(view_of(parts[p]).media);
        cost += tokens(media_in_place(parts[p], turn_.conversation.id(), storage_ != nullptr, turn_.language).text);
    }
    decision.gain = decision.tokens - cost;
    return decision;
}

/// Plans one result as a unit of its own. Returns the tokens that it frees.
template <AgentMessage M>
std::int64_t PruningRun<M>::stage(Decision& decision) {
    const PruningCandidate& candidate = decision.candidate;
    const std::int64_t before = edit_.tokens_after();
    edit_.begin_unit();
    Provenance provenance{
        .origin = Origin::placeholder, .reason = std::string(pruned_reason), .stored = candidate.stored};
    if (!decision.key.empty()) provenance.stored.push_back(decision.key);
    const std::string further(further_text_in_place(turn_.language));
    edit_.allow_pinned(true);  // the plan asked for pins; what another middleware shortened goes whole
    for (std::size_t i = 0; i < candidate.texts.size(); ++i)
        edit_.set_text(candidate.message, candidate.texts[i], i == 0 ? decision.text : further, provenance);
    edit_.allow_pinned(false);
    for (const std::size_t p : candidate.media) replace_media(turn_, edit_, candidate.message, p, storage_);
    if (!decision.key.empty()) {
        using Original = typename Transaction<M>::Original;
        std::optional<Original> original;
        if (candidate.fresh.size() == 1)
            original = Original{edit_.outline()[candidate.message].serial, candidate.fresh.front()};
        edit_.offload(std::move(decision.key), std::move(decision.content), original, storage_);
    }
    return before - edit_.tokens_after();
}

template <AgentMessage M>
StageGain PruningRun<M>::run() {
    std::vector<Decision> decisions;
    std::int64_t sum = 0;
    for (PruningCandidate& candidate : plan()) {
        if (!candidate.rule.empty()) {
            tell(candidate, candidate.rule, 0);
            continue;
        }
        Decision decision = decide(std::move(candidate));
        if (decision.candidate.rule.empty()) {
            newest_ = add_saturating(newest_, decision.tokens);
            if (newest_ <= config_.protect_newest_tokens) decision.candidate.rule = "newest";
            if (decision.gain <= 0 && decision.candidate.rule.empty()) decision.candidate.rule = "no_gain";
        }
        if (!decision.candidate.rule.empty()) {
            tell(decision.candidate, decision.candidate.rule, 0);
            continue;
        }
        sum = add_saturating(sum, decision.gain);
        decisions.push_back(std::move(decision));
    }
    StageGain gain;
    if (sum < config_.minimum_gain_tokens) {
        for (const Decision& decision : decisions) tell(decision.candidate, "too_small", 0);
        return gain;
    }
    for (Decision& decision : decisions) {
        const std::int64_t freed = stage(decision);
        tell(decision.candidate, "old_output", freed);
        gain.tokens += freed;
        ++gain.count;
    }
    return gain;
}

/// Plans pruning on the transaction's projection: results before index `end`, which the boundary of the configuration
/// limits further. Each result is a unit. Nothing is planned unless the gain is at least `minimum_gain_tokens`.
template <AgentMessage M>
StageGain stage_pruning(Turn<M>& turn, Transaction<M>& edit, const PruningConfig& config, std::size_t end) {
    return PruningRun<M>(turn, edit, config, end).run();
}

}  // namespace whittle::inline v0::detail
