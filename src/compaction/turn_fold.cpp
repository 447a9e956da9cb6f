#include "turn_fold.hpp"

#include "../summary/stage_fold.hpp"
#include "whittle/base/text.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"
#include "whittle/summary/detail/chunk_planner.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

/// The start of a text that has at most `max_tokens`, at a line border if one is near.
std::string cut_to_size(std::string_view text, std::int64_t max_tokens, const TokenCounter& counter) {
    if (counter.count(text) <= max_tokens) return std::string(text);
    const auto guess = static_cast<std::size_t>(std::max<std::int64_t>(1, max_tokens)) * 3;
    return std::string(
        longest_prefix(text, guess, [&](std::string_view start) { return counter.count(start) <= max_tokens; }));
}

}  // namespace

void TurnFold::plan_again() {
    tokens_.clear();
    for (std::size_t i = 0; i < work_.edit.outline().size(); ++i) tokens_.push_back(work_.edit.tokens_of(i));
    plan_within(work_.sizes);
    if (work_.sizes.scale.overhead <= 0 || !is_over_minimum()) return;
    FoldSizes sizes = work_.sizes;
    sizes.scale.overhead = 0;  // overhead that nobody can name stops nothing by itself
    plan_within(sizes);
}

void TurnFold::plan_within(const FoldSizes& sizes) {
    work_state_.reset();
    budget_ = {.system_and_tools = sizes.system_and_tools,
               .threshold = sizes.counted_without_overhead(work_.limits.threshold),
               .target = sizes.counted_without_overhead(work_.limits.target),
               .summary = work_.limits.summary,
               .frame = tokens_of(text_with({}, {}, {})),
               .scale = sizes.scale,
               .limit = work_.limits.threshold};
    const bool wants_head = has_rule(turn().config.profile.validity, Rule::A7_thinking_first);
    const MessageRange head = wants_head ? work_.edit.outline().required_first_step() : MessageRange{};
    plan_ = plan_turns(work_.edit.outline(), tokens_, layout_, budget_, self(),
                       [&](std::size_t i) { return head.contains(i) || work_.edit.is_protected(i); });
}

void TurnFold::restrict_to(std::vector<std::size_t> folded) {
    plan_.recent_tokens = add_saturating(plan_.recent_tokens, restrict_plan(plan_, tokens_, std::move(folded)));
    plan_.summary_tokens = tokens_for_summary(plan_, budget_);
    work_state_.reset();
}

/// Less is not worth a model call.
std::int64_t TurnFold::smallest_summary() const noexcept {
    return add_saturating(budget_.frame, std::max<std::int64_t>(1, budget_.summary / 4));
}

std::int64_t TurnFold::messages_with(std::int64_t summary_tokens) const noexcept {
    return add_saturating(sub_saturating(work_.edit.tokens_after(), plan_.folded_tokens),
                          add_saturating(budget_.frame, summary_tokens));
}

bool TurnFold::is_over_minimum() const noexcept {
    return add_saturating(plan_.minimum_with(budget_.system_and_tools), smallest_summary()) > budget_.threshold;
}

std::int64_t TurnFold::minimum_tokens() const noexcept {
    return budget_.scale.to_request(plan_.minimum_with(budget_.system_and_tools));
}

std::string TurnFold::describe_minimum() const {
    const TokenScale& scale = budget_.scale;
    return fmt::format(
        "no summary: what has to stay takes {} tokens, the threshold is {}: {} beside the messages (system text, "
        "tools), {} in the protected prefix, {} in pinned messages, {} in the current turn; a summary takes {} or more",
        minimum_tokens(), budget_.limit, scale.to_request(budget_.system_and_tools),
        scale.to_request(plan_.prefix_tokens), scale.to_request(plan_.pinned_tokens),
        scale.to_request(plan_.current_tokens), scale.to_request(smallest_summary()));
}

std::string TurnFold::describe_nothing() const {
    const std::string_view why = plan_.folded.empty()       ? "there is nothing to fold"
                                 : plan_.has_only_summaries ? "only the previous summary can be folded"
                                                            : "what can be folded is too little";
    const TokenScale& scale = budget_.scale;
    return fmt::format(
        "no summary: {} ({} tokens); the threshold is {}: {} beside the messages (system text, tools), {} in the "
        "protected prefix, {} in pinned messages, {} in recent turns, {} in the current turn",
        why, scale.to_request(plan_.folded_tokens), budget_.limit, scale.to_request(budget_.system_and_tools),
        scale.to_request(plan_.prefix_tokens), scale.to_request(plan_.pinned_tokens),
        scale.to_request(plan_.recent_tokens), scale.to_request(plan_.current_tokens));
}

/// A model's counter differs from ours: what is a little too long is cut, not paid for again. A prepared summary has to
/// leave what needs no other one.
std::string TurnFold::refuse(const SummaryText& summary, bool is_prepared) {
    const std::int64_t tokens = tokens_of(summary.text);
    if (tokens > 2 * plan_.summary_tokens)
        return fmt::format("the summary has {} tokens, allowed are {}", tokens, plan_.summary_tokens);
    if (!is_prepared) return {};
    std::string note;
    const std::int64_t left = add_saturating(sub_saturating(work_.edit.tokens_after(), plan_.folded_tokens),
                                             tokens_of(text_with_facts(summary, note)));
    const std::int64_t after = work_.sizes.context_without(sub_saturating(work_.edit.tokens_before(), left));
    const std::int64_t limit = skip_summary_threshold(work_.config, work_.limits.threshold);
    return after <= limit ? std::string()
                          : fmt::format("it would leave {} tokens of the request, {} are allowed", after, limit);
}

/// Calls and reports as they were before this run's cheap stages.
const WorkOfFold& TurnFold::work_state() {
    if (!work_state_) {
        work_state_ = work_of_fold(turn().part_visitor(), turn().outline(), plan_.folded, work_.config.preserve_work);
    }
    return *work_state_;
}

/// In up to half of the summary's size.
std::string TurnFold::work_text(bool is_by_rule) {
    const PreserveWorkConfig config = work_state().shown_below_summary(work_.config.preserve_work, is_by_rule);
    return to_text(work_state().folded, config, plan_.summary_tokens / 2, work_.edit.counter(), turn().language);
}

/// What is left of the summary's size.
std::int64_t TurnFold::tokens_for_text(bool is_by_rule) {
    return std::max<std::int64_t>(1, plan_.summary_tokens - tokens_of(work_text(is_by_rule)));
}

SummaryGenerationConfig TurnFold::request() {
    work_.edit.update_fingerprints();
    const std::int64_t tokens = tokens_for_text(false);
    SummaryGenerationConfig config = summary_generation_config(work_.config, tokens);
    config.max_input_tokens = summary_input_bound(config.max_input_tokens, turn().known_window(),
                                                  std::max(turn().config.profile.output_reserve, plan_.summary_tokens));
    if (config.user_instruction.empty()) config.user_instruction = compaction_instruction(turn().language);
    config.user_instruction += length_sentence(tokens, turn().language);
    return config;
}

RuleBasedSummaryConfig TurnFold::rule_based_config() {
    return {.max_tokens = std::min(work_.config.rule_based_summary_tokens, tokens_for_text(true)),
            .work = work_state().shown(work_.config.preserve_work)};
}

/// Facts that the summary lacks take what it left of its size, at most half of that. `note`: what the next summary must
/// not lose either, what the model wrote itself included.
std::string TurnFold::text_with_facts(const SummaryText& summary, std::string& note) {
    const TokenCounter& counter = work_.edit.counter();
    const Language language = turn().language;
    const std::string work = work_text(summary.is_by_rule);
    const SummaryText cut{cut_to_size(summary.text, tokens_for_text(summary.is_by_rule), counter), summary.is_by_rule};
    const std::int64_t most = add_saturating(budget_.frame, plan_.summary_tokens);
    FactCollector facts;
    collect_facts([this](std::size_t i, FunctionRef<void(const PartView&)> visit) { work_.edit.visit_parts(i, visit); },
                  work_.edit.outline(), plan_.folded, facts);
    facts.next_message();
    facts.add({.kind = PartKind::text, .text = cut.text}, false);
    note = to_note(facts.missing_in({}, carried_tokens(plan_.summary_tokens), counter, language));
    const std::int64_t room =
        std::min(plan_.summary_tokens / 2, sub_saturating(most, tokens_of(text_with(cut, work, {}))));
    std::vector<RetainedFact> shown = facts.missing_in(cut.text + "\n" + work, room, counter, language);
    while (!shown.empty() && tokens_of(text_with(cut, work, shown)) > most) shown.pop_back();
    return text_with(cut, work, shown);
}

bool TurnFold::stage(const std::optional<SummaryText>& summary) {
    const Outline outline = work_.edit.outline();
    const bool is_by_rule = summary && summary->is_by_rule;
    FoldReplacement with{.role = role(), .has_newest_turn = true};
    with.provenance = {.origin = Origin::summary,
                       .reason = std::string(is_by_rule ? rule_based_summary_reason : "summary"),
                       .stored_keys = stored_references(outline, plan_.folded),
                       .covers = covered_serials(outline, plan_.folded)};
    if (summary) {
        with.summary = text_with_facts(*summary, with.provenance.retained_facts);
        with.provenance.work_state = to_note(work_state().folded);
    } else {
        with.summary = text_with({"..."}, {}, {});
    }
    stage_fold(work_.edit, plan_.folded, with, turn().config.profile.validity, turn().language);
    return true;
}

void TurnFold::end(const CommitResult& result) { report_refused(turn(), result); }

}  // namespace whittle::inline v0::detail
