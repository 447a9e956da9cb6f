#include "summary_attempt.hpp"

#include "whittle/base/event.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace whittle::inline v0::detail {

void list_candidates(HookTurn& turn, const FoldedMessages& plan, std::span<const std::int64_t> tokens, bool is_due) {
    StageDetails& details = turn.report.ensure_details();
    const Outline outline = turn.outline();
    details.candidates.reserve(details.candidates.size() + outline.size());
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const bool is_cut = is_due && plan.rules[i] == "fold";
        details.candidates.push_back({outline[i].serial, 0, is_cut, plan.rules[i], is_cut ? tokens[i] : 0});
    }
}

std::int64_t restrict_plan(FoldedMessages& plan, std::span<const std::int64_t> tokens,
                           std::vector<std::size_t> folded) {
    std::int64_t stays = 0;
    for (const std::size_t i : plan.folded) {
        if (std::ranges::binary_search(folded, i)) continue;
        plan.rules[i] = "recent";
        stays = add_saturating(stays, tokens[i]);
    }
    plan.folded = std::move(folded);
    plan.folded_tokens -= stays;
    return stays;
}

/// Under a configuration that goes on, a failure is noted here: what a hook throws would take the notes back.
AttemptResult SummaryAttempt::run() {
    try {
        return attempt();
    } catch (...) {
        if (work_.is_thrown || ends_hook(turn_.stop)) throw;
        return report_failure({.message = current_error_text()});
    }
}

AttemptResult SummaryAttempt::attempt() {
    if (waits_for_prepared(work_)) return AttemptResult::nothing;
    const std::optional<SummaryText> prepared = turn_.config.dry_run ? std::nullopt : take_prepared();
    list_candidates(turn_, fold_.plan(), fold_.tokens(), true);
    bool host_would_veto = false;
    const bool is_paid = !prepared && work_.functions.generate;
    if (const std::string broken = find_broken_rules(is_paid ? &host_would_veto : nullptr); !broken.empty())
        return report_invalid(broken);
    if (host_would_veto) return report_veto();
    if (turn_.config.dry_run) return report_planned();
    fold_.call_host();
    if (work_.functions.record) work_.functions.record(fold_.plan().folded);
    if (work_.functions.on_due) work_.functions.on_due();
    if (!prepared) return write_summary();
    const AttemptResult result = commit(*prepared);
    if (result == AttemptResult::committed) forget_prepared(turn_);
    return result;
}

std::string SummaryAttempt::find_broken_rules(bool* host_would_veto) {
    const EditGroup edit_group = work_.edit.begin_edit_group();
    std::string broken;
    if (fold_.stage(std::nullopt)) {
        broken = to_text(work_.edit.introduced_violations());
        if (host_would_veto != nullptr && broken.empty()) *host_would_veto = work_.edit.host_would_veto(true);
    }
    work_.edit.drop_edit_group(edit_group);
    return broken.empty() ? broken : "no summary: it would break a rule that the history keeps now" + broken;
}

namespace {

/// Whether the model's summary failed for good: a part that the budget ended goes on, a callback's error is the user's.
bool has_given_up(const SummaryGenerationOutcome& asked, bool has_progress) noexcept {
    if (asked.failure->failure == SummaryFailure::budget) return asked.model_calls > 0 && !has_progress;
    return asked.failure->failure != SummaryFailure::callback;
}

}  // namespace

SummaryGenerationOutcome SummaryAttempt::generate(SummaryGenerationState& state, bool& is_by_rule) {
    is_by_rule = !work_.functions.generate;
    if (is_by_rule) return write_plain();
    const SummaryGenerationState before = state;
    const SummaryGenerationConfig config = fold_.request();
    const FoldedMessages& plan = fold_.plan();
    SummaryGenerationOutcome asked = work_.functions.generate(
        {config, plan.folded, plan.folded_tokens,
         [this](std::string_view summary) { return fold_.refuse({std::string(summary)}, false); }},
        state);
    if (asked.ok() && !asked.missing_sections.empty())
        warn("missing_sections", fmt::format("the summary lacks: {}", fmt::join(asked.missing_sections, ", ")));
    if (work_.rule_based_summary_tokens <= 0 || !asked.failure || !has_given_up(asked, state != before)) return asked;
    SummaryGenerationOutcome plain = write_plain();
    if (!plain.ok()) return asked;
    is_by_rule = true;
    turn_.report.ensure_details().error = fmt::format("written without the model: {}", asked.failure->message);
    warn("rule_based_summary", turn_.report.ensure_details().error);
    asked.failure.reset();
    asked.summary = std::move(plain.summary);
    state = {.learnt_input_limit = state.learnt_input_limit};
    return asked;
}

SummaryGenerationOutcome SummaryAttempt::write_plain() {
    const RuleBasedSummaryConfig config = fold_.rule_based_config();
    SummaryGenerationOutcome plain;
    plain.summary = rule_based_summary(turn_.part_visitor(), turn_.outline(), fold_.plan().folded, config,
                                       work_.edit.counter(), turn_.language);
    const std::string why = plain.summary.empty() ? fmt::format("{} tokens have no room for one", config.max_tokens)
                                                  : fold_.refuse({plain.summary, true}, false);
    if (!why.empty())
        plain.failure = SummaryError{
            .failure = SummaryFailure::refused, .refusal = Refusal::by_caller, .message = "without a model: " + why};
    return plain;
}

/// With the state that an earlier hook left, and leaves the new one. A hook whose own calls all failed has made no
/// progress: that is a failure; one that could make none is not.
SummaryAttempt::Progress SummaryAttempt::go_on() {
    Notes notes = turn_.notes();
    const SummaryGenerationState start =
        summary_generation_state_from(notes.text("digest").value_or(std::string_view{}));
    SummaryGenerationState state = start;
    Progress progress;
    progress.outcome = generate(state, progress.is_by_rule);
    progress.messages_read = state.next_message;
    if (state == SummaryGenerationState{}) {
        notes.erase("digest");
    } else {
        notes.set("digest", to_text(state));
    }
    const bool has_progress = state != start && state != SummaryGenerationState{};
    const std::optional<SummaryError>& failure = progress.outcome.failure;
    progress.is_unfinished =
        failure && failure->failure == SummaryFailure::budget && (has_progress || progress.outcome.model_calls == 0);
    return progress;
}

AttemptResult SummaryAttempt::write_summary() {
    Progress progress = go_on();
    if (progress.is_unfinished) return report_unfinished(progress);
    if (progress.outcome.ok()) return commit({std::move(progress.outcome.summary), progress.is_by_rule});
    if (!work_.functions.generate) return report_plain_failure(*progress.outcome.failure);
    return report_failure(*progress.outcome.failure);
}

AttemptResult SummaryAttempt::commit(const SummaryText& summary) {
    if (work_.functions.before_commit) work_.functions.before_commit();
    work_.edit.begin_edit_group();
    fold_.stage(summary);
    const CommitResult result = work_.edit.commit({.require_token_reduction = work_.require_token_reduction});
    fold_.end(result);
    if (result.outcome == Outcome::vetoed) return report_veto();
    if (result.outcome == Outcome::store_failed)
        return report_failure({.message = "the originals could not be stored", .thrown = result.first_store_error});
    if (!result.committed())
        return report_failure({.failure = SummaryFailure::refused,
                               .refusal = Refusal::not_smaller,
                               .message = "the new list is not smaller than the old one"});
    report_success(result);
    if (work_.functions.on_done) work_.functions.on_done();
    return AttemptResult::committed;
}

void SummaryAttempt::stage() {
    if (const std::string broken = find_broken_rules(nullptr); !broken.empty())
        throw Error(Errc::invalid_history, std::string(turn_.report.middleware) + ": " + broken);
    if (work_.functions.on_due) work_.functions.on_due();
    SummaryGenerationState state;
    bool is_by_rule = false;
    SummaryGenerationOutcome result = generate(state, is_by_rule);
    if (result.failure) {
        const std::string text =
            fmt::format("{}: write a summary: {}", turn_.report.middleware, result.failure->message);
        std::rethrow_exception(exception_of(*result.failure, text));
    }
    work_.edit.begin_edit_group();
    fold_.stage(SummaryText{std::move(result.summary), is_by_rule});
}

}  // namespace whittle::inline v0::detail
