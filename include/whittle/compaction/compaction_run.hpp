#pragma once

#include "whittle/base/saturating.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/compaction/callbacks.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/compaction/ladder.hpp"
#include "whittle/compaction/media_stage.hpp"
#include "whittle/compaction/pruning_plan.hpp"
#include "whittle/compaction/pruning_stage.hpp"
#include "whittle/compaction/summary_message.hpp"
#include "whittle/compaction/turns.hpp"
#include "whittle/digest/digest.hpp"
#include "whittle/digest/facts.hpp"
#include "whittle/digest/fold.hpp"
#include "whittle/message/validity.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// One run of the ladder over one transaction: what it stages, a later stage sees.
template <AgentMessage M>
class CompactionRun {
public:
    CompactionRun(Turn<M>& turn, const CompactionConfig& config, const CompactionCallbacks<M>& callbacks,
                  const CompactionLimits& limits, std::int64_t context_tokens, const ContextCount& counted)
        : turn_(turn),
          config_(config),
          callbacks_(callbacks),
          limits_(limits),
          context_tokens_(context_tokens),
          beside_(counted.beside),
          scale_(counted.scale_to(context_tokens)),
          counter_(config.token_counter ? config.token_counter : turn.config.token_counter),
          edit_(open_edit()),
          layout_(layout_of(edit_.outline(), self(), config.current_turn_keep_rounds)) {}

    /// Stages 0 and 1. What the store refuses is taken back here: stage 2 stands on what really goes.
    void stage_cheap();
    /// Whether the store refused something.
    [[nodiscard]] bool is_refused() const noexcept { return refused_ > 0; }
    /// What decides what a run can do while messages only come at the end. O(size).
    [[nodiscard]] std::string situation(bool has_model) const;
    /// The whole request with what is staged, by the ruler that judged it.
    [[nodiscard]] std::int64_t tokens_now() const noexcept {
        return sub_saturating(context_tokens_,
                              scale_.to_request(sub_saturating(edit_.tokens_before(), edit_.tokens_after())));
    }
    /// Whether the cheap stages neither reached the target nor left a runway.
    [[nodiscard]] bool needs_summary() const noexcept {
        return tokens_now() > limits_.target && tokens_now() > runway_end(config_, limits_.threshold);
    }

    /// Plans stage 2 on what is staged.
    void plan_summary();
    [[nodiscard]] const TurnPlan& plan() const noexcept { return plan_; }
    [[nodiscard]] const TurnBudget& budget() const noexcept { return budget_; }
    [[nodiscard]] bool can_summarise() const noexcept {
        return !plan_.folded.empty() && !plan_.has_only_summaries && plan_.summary_tokens > 0;
    }
    /// `is_due`: they will be folded.
    void list_candidates(bool is_due) const;
    [[nodiscard]] std::int64_t tokens_before() const noexcept { return edit_.tokens_before(); }
    /// Tokens of the messages with what is staged and a summary as large as it may be.
    [[nodiscard]] std::int64_t expected_tokens() const noexcept {
        return add_saturating(sub_saturating(edit_.tokens_after(), plan_.folded_tokens),
                              add_saturating(budget_.frame, plan_.summary_tokens));
    }

    /// The rules that a summary would break there, whatever it says: found out before a model is paid for it.
    [[nodiscard]] std::string broken_rules();
    /// Asks the model. Throws Error(cancelled), and what a digest throws.
    [[nodiscard]] DigestResult<M> generate(Model<M>& model, DigestState& state);
    void stage_summary(std::string_view summary);
    [[nodiscard]] CommitResult commit() {
        const CommitResult result = edit_.commit();
        report_refused(turn_, result);
        return result;
    }

private:
    [[nodiscard]] std::string_view self() const noexcept { return turn_.report.middleware; }
    [[nodiscard]] Transaction<M> open_edit();
    [[nodiscard]] Role role() const noexcept {
        return config_.summary_role == SummaryRole::system ? Role::system : Role::user;
    }
    [[nodiscard]] M message(std::string_view summary, std::span<const RetainedFact> facts) const {
        return message_traits<M>::make(role(),
                                       compose_compacted(summary, facts, role() == Role::system, turn_.language));
    }
    [[nodiscard]] std::int64_t tokens_of(const M& m) const { return count_message(m, *counter_); }
    [[nodiscard]] std::vector<std::int64_t> tokens_of_each() const;
    void plan_within(const TokenScale& scale);
    [[nodiscard]] std::string refuse(std::string_view summary) const;
    [[nodiscard]] DigestCallbacks<M> digest_callbacks() const;
    [[nodiscard]] M message_with_facts(std::string_view summary, std::string& note) const;
    Unit stage_message(M message, std::string facts);

    Turn<M>& turn_;
    const CompactionConfig& config_;
    const CompactionCallbacks<M>& callbacks_;
    CompactionLimits limits_;
    std::int64_t context_tokens_;
    std::int64_t beside_;  ///< system text and tools, counted
    TokenScale scale_;
    std::shared_ptr<const TokenCounter> counter_;
    Transaction<M> edit_;
    TurnLayout layout_;
    TurnBudget budget_{};
    TurnPlan plan_{};
    std::vector<std::int64_t> tokens_{};  ///< of each message, when the plan was made
    int refused_ = 0;
};

template <AgentMessage M>
Transaction<M> CompactionRun<M>::open_edit() {
    EditEnvironment environment = turn_.environment();
    environment.counter = counter_;
    return turn_.conversation.edit(self(), std::move(environment));
}

template <AgentMessage M>
void CompactionRun<M>::stage_cheap() {
    if (config_.pruning) {
        PruningConfig pruning = *config_.pruning;
        if (config_.current_turn_keep_rounds) pruning.skip_boundary_turns = 0;  // what is sacred bounds it instead
        stage_pruning(turn_, edit_, pruning, layout_.sacred);
        refused_ += edit_.store();
    }
    if (tokens_now() <= limits_.target) return;
    stage_media(turn_, edit_, config_.media, layout_.sacred, config_.pruning.value_or(PruningConfig{}));
    refused_ += edit_.store();
}

template <AgentMessage M>
std::string CompactionRun<M>::situation(bool has_model) const {
    const Outline outline = turn_.conversation.outline();
    const auto& journal = turn_.conversation.journal();
    const std::size_t sacred = layout_.sacred;
    constexpr double ratio_steps = 4.0;  // it moves a little with each reply
    return joined_numbers({journal.empty() ? 0 : static_cast<std::int64_t>(journal.back()->id),
                           sacred < outline.size() ? static_cast<std::int64_t>(outline[sacred].serial)
                                                   : -static_cast<std::int64_t>(outline.size()),
                           pins_of(outline), limits_.threshold, limits_.target, limits_.summary, has_model ? 1 : 0,
                           static_cast<std::int64_t>(scale_.ratio * ratio_steps)});
}

/// Of what is staged; what no stage edited was counted before.
template <AgentMessage M>
std::vector<std::int64_t> CompactionRun<M>::tokens_of_each() const {
    std::vector<std::int64_t> tokens = turn_.conversation.tokens_of_each(counter_);
    const Outline old = turn_.conversation.outline();
    const Outline now = edit_.outline();
    tokens.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (i >= old.size() || &old[i] != &now[i]) tokens[i] = tokens_of(edit_.messages()[i]);
    }
    return tokens;
}

template <AgentMessage M>
void CompactionRun<M>::plan_summary() {
    tokens_ = tokens_of_each();
    plan_within(scale_);
    if (scale_.overhead <= 0 || !is_over_floor(plan_, budget_)) return;
    plan_within({.ratio = scale_.ratio});  // overhead that nobody can name stops nothing by itself
}

template <AgentMessage M>
void CompactionRun<M>::plan_within(const TokenScale& scale) {
    const auto without_overhead = [&](std::int64_t limit) {
        return scale.to_counted(limit - std::min(limit, scale.overhead));
    };
    budget_ = {.beside = beside_,
               .threshold = without_overhead(limits_.threshold),
               .target = without_overhead(limits_.target),
               .summary = limits_.summary,
               .frame = tokens_of(message({}, {})),
               .scale = scale,
               .limit = limits_.threshold};
    const bool wants_head = has_rule(turn_.config.profile.validity, Rule::A7_thinking_first);
    const MessageRange head = wants_head ? edit_.outline().loop_head() : MessageRange{};
    plan_ = plan_turns(edit_.outline(), tokens_, layout_, budget_, self(),
                       [&](std::size_t i) { return head.contains(i) || edit_.is_pinned(i); });
}

template <AgentMessage M>
void CompactionRun<M>::list_candidates(bool is_due) const {
    StageDetails& details = turn_.report.more();
    const Outline outline = edit_.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const bool is_cut = is_due && plan_.rules[i] == "fold";
        details.candidates.push_back({outline[i].serial, 0, is_cut, plan_.rules[i], is_cut ? tokens_[i] : 0});
    }
}

template <AgentMessage M>
std::string CompactionRun<M>::broken_rules() {
    if (!turn_.config.verify) return {};
    const ValidityProfile& rules = turn_.config.profile.validity;
    const Unit unit = stage_message(message("...", {}), {});
    const std::string broken = describe_broken(
        new_violations(validate(turn_.conversation.outline(), rules), validate(edit_.outline(), rules)));
    edit_.drop_unit(unit);
    return broken;
}

/// A model's ruler differs from ours: what is a little too long is cut, not paid for again.
template <AgentMessage M>
std::string CompactionRun<M>::refuse(std::string_view summary) const {
    const std::int64_t tokens = counter_->count(summary);
    if (tokens <= 2 * plan_.summary_tokens) return {};
    return "the summary has " + std::to_string(tokens) + " tokens, allowed are " + std::to_string(plan_.summary_tokens);
}

template <AgentMessage M>
DigestCallbacks<M> CompactionRun<M>::digest_callbacks() const {
    DigestCallbacks<M> callbacks{callbacks_.retry, callbacks_.failover, {}, {}};
    if (!callbacks.retry.should_retry) {
        callbacks.retry.should_retry = [](const Attempt<M>& attempt) {
            return attempt.error != nullptr && is_worth_a_retry(*attempt.error);
        };
    }
    if (!callbacks.retry.backoff)
        callbacks.retry.backoff = [](const Attempt<M>&) { return std::chrono::milliseconds(500); };
    return callbacks;
}

template <AgentMessage M>
DigestResult<M> CompactionRun<M>::generate(Model<M>& model, DigestState& state) {
    DigestConfig config = digest_config(config_, plan_.summary_tokens);
    config.max_input_tokens = summary_input_bound(config_.max_input_tokens, known_window(turn_),
                                                  std::max(turn_.config.profile.output_reserve, plan_.summary_tokens));
    if (config.user_instruction.empty()) config.user_instruction = compaction_instruction(turn_.language);
    config.user_instruction += length_sentence(plan_.summary_tokens, turn_.language);
    edit_.update_fingerprints();
    DigestTask<M> task{.model = model,
                       .messages = edit_.messages(),
                       .outline = edit_.outline(),
                       .fold = plan_.folded,
                       .replaced_tokens = plan_.folded_tokens,
                       .accept = [this](std::string_view summary) { return refuse(summary); }};
    DigestEnvironment environment = digest_environment(turn_);
    environment.counter = counter_;
    return digest(task, config, digest_callbacks(), environment, state);
}

/// Facts that the summary lacks take what it left of its size, at most half of that. `note`: what the next summary must
/// not lose either, what the model wrote itself included.
template <AgentMessage M>
M CompactionRun<M>::message_with_facts(std::string_view summary, std::string& note) const {
    const std::int64_t twice = add_saturating(plan_.summary_tokens, plan_.summary_tokens);  // carried for one shown: 4
    const std::string text = cut_summary(summary, plan_.summary_tokens, *counter_);
    const std::int64_t most = add_saturating(budget_.frame, plan_.summary_tokens);
    FactCollector facts;
    collect_facts<M>(edit_.messages(), edit_.outline(), plan_.folded, facts);
    facts.next_message();
    facts.add({.kind = PartKind::text, .text = text}, false);
    note = to_note(facts.missing_in({}, add_saturating(twice, twice), *counter_, turn_.language));
    const std::int64_t room = std::min(plan_.summary_tokens / 2, sub_saturating(most, tokens_of(message(text, {}))));
    std::vector<RetainedFact> shown = facts.missing_in(text, room, *counter_, turn_.language);
    while (!shown.empty() && tokens_of(message(text, shown)) > most) shown.pop_back();
    return message(text, shown);
}

template <AgentMessage M>
void CompactionRun<M>::stage_summary(std::string_view summary) {
    std::string note;
    M made = message_with_facts(summary, note);
    stage_message(std::move(made), std::move(note));
}

/// One stretch makes way for the summary, the others go. It gets the highest turn number of what it stands for.
template <AgentMessage M>
Unit CompactionRun<M>::stage_message(M message, std::string facts) {
    const Outline outline = edit_.outline();
    Provenance provenance{.origin = Origin::summary,
                          .reason = "summary",
                          .stored = stored_references(outline, plan_.folded),
                          .covers = covered_serials(outline, plan_.folded),
                          .facts = std::move(facts)};
    const auto stretches = stretches_of(plan_.folded);
    const std::size_t chosen = stretch_for_summary(outline, plan_.folded, turn_.config.profile.validity);
    const auto erase = [&](std::size_t from, std::size_t to) {
        if (from < to) edit_.replace_range(from, to, {}, {.reason = "summary"});
    };
    const Unit unit = edit_.begin_unit();
    for (std::size_t s = stretches.size(); s-- > 0;) {
        const auto [first, last] = stretches[s];
        if (s != chosen) {
            erase(first, last);
            continue;
        }
        const std::size_t place = place_of_summary(outline, first, last);
        edit_.insert(place, std::move(message), std::move(provenance));
        erase(place + 1, last + 1);
        erase(first, place);
    }
    return unit;
}

}  // namespace whittle::inline v0::detail
