#include "whittle/compaction/detail/compact.hpp"

#include "turn_fold.hpp"
#include "whittle/base/event.hpp"
#include "whittle/chain/detail/cooldown.hpp"
#include "whittle/pruning/detail/media_stage.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view over_minimum = "irreducible";
constexpr std::string_view nothing_to_fold = "nothing_to_fold";

SummaryWork compaction_attempt(const CompactionWork& work) {
    return {.turn = work.turn,
            .edit = work.edit,
            .functions = work.functions,
            .sizes = work.sizes,
            .cool_down = failure_cool_down_tokens_of(work.config, work.limits.threshold),
            .rule_based_summary_tokens = work.config.rule_based_summary_tokens,
            .is_thrown = work.config.on_failure == OnFailure::propagate,
            .waits_near_trigger = false};
}

/// A dry run leaves the notes as they are.
void forget_no_progress(HookTurn& turn) {
    if (!turn.config.dry_run) turn.notes().erase("no_progress");
}

/// One run over one draft, from the cheap stages to a summary, as far as it has to go.
class CompactionRun {
public:
    explicit CompactionRun(const CompactionWork& work)
        : work_(work),
          turn_(work.turn),
          edit_(work.edit),
          layout_(layout_of(edit_.outline(), turn_.report.middleware, work.config.current_turn_keep_rounds)) {}

    [[nodiscard]] bool made_no_progress() const;
    bool run();
    /// Orders a summary. Stores nothing, and nothing of it is reported.
    void prepare();

private:
    /// A dry run leaves no notes behind.
    template <typename Value>
    void note(std::string_view key, const Value& value) {
        if (!turn_.config.dry_run) turn_.notes().set(key, value);
    }
    void warn(std::string_view kind, const std::string& text, std::int64_t before = 0, std::int64_t after = 0) {
        turn_.report.ensure_details().error = text;
        emit(turn_.on_event,
             {Event::Level::warning, turn_.report.middleware, kind, text, turn_.conversation_id(), before, after});
    }
    [[nodiscard]] std::int64_t tokens_after(std::int64_t before, std::int64_t after) const noexcept {
        return work_.sizes.context_without(sub_saturating(before, after));
    }
    /// The whole request with what is staged, by the counter that judged it.
    [[nodiscard]] std::int64_t tokens_now() const noexcept {
        return tokens_after(edit_.tokens_before(), edit_.tokens_after());
    }
    [[nodiscard]] bool can_write() const noexcept {
        return work_.functions.generate || work_.config.rule_based_summary_tokens > 0;
    }
    [[nodiscard]] std::string situation() const;
    void stage_pruned();
    void stage_without_media();
    void stage_cheap();
    [[nodiscard]] bool is_below_target() const noexcept { return tokens_now() <= work_.limits.target; }
    [[nodiscard]] bool needs_summary(std::int64_t growth = 0) const noexcept;
    [[nodiscard]] bool may_summarize(const TurnFold& fold);
    [[nodiscard]] bool has_obstacle(const TurnFold& fold);
    void remember_no_progress(const TurnFold& fold);
    bool commit_cheap();
    bool summarize(TurnFold& fold);

    const CompactionWork& work_;
    HookTurn& turn_;
    Draft& edit_;
    TurnLayout layout_;
    Cooldown cooldown_{turn_};
    int refused_ = 0;  // by the store
};

void CompactionRun::stage_pruned() {
    const CompactionConfig& config = work_.config;
    if (!config.pruning) return;
    PruningConfig pruning = *config.pruning;
    if (config.current_turn_keep_rounds) pruning.skip_boundary_turns = 0;  // `kept_from` bounds it instead
    PruningChoice choice;
    if (turn_.report.hook == Hook::compact_now)  // the host says how far
        choice.enough = std::max<std::int64_t>(1, work_.sizes.scale.to_counted(tokens_now() - work_.limits.target));
    stage_pruning(turn_, edit_, pruning, layout_.kept_from, choice);
}

void CompactionRun::stage_without_media() {
    stage_media(turn_, edit_, work_.config.media, layout_.kept_from, work_.config.pruning.value_or(PruningConfig{}));
}

/// What the store refuses is taken back here: a summary is planned on what really goes.
void CompactionRun::stage_cheap() {
    stage_pruned();
    refused_ += edit_.store_and_drop_refused();
    if (is_below_target()) return;
    stage_without_media();
    refused_ += edit_.store_and_drop_refused();
}

/// Whether the cheap stages neither reached the target nor left a headroom, of a request that has grown by so much.
bool CompactionRun::needs_summary(std::int64_t growth) const noexcept {
    const std::int64_t tokens = add_saturating(tokens_now(), growth);
    return tokens > work_.limits.target && tokens > skip_summary_threshold(work_.config, work_.limits.threshold);
}

/// What decides what a run can do while messages only come at the end. O(size).
std::string CompactionRun::situation() const {
    const Outline outline = turn_.outline();
    const std::size_t kept_from = layout_.kept_from;
    constexpr double ratio_steps = 4.0;  // it moves a little with each reply
    const CompactionLimits& limits = work_.limits;
    const std::array<std::int64_t, 8> numbers{static_cast<std::int64_t>(turn_.last_journal_entry_id()),
                                              kept_from < outline.size()
                                                  ? static_cast<std::int64_t>(outline[kept_from].serial)
                                                  : -static_cast<std::int64_t>(outline.size()),
                                              pins_of(outline),
                                              limits.threshold,
                                              limits.target,
                                              limits.summary,
                                              can_write() ? 1 : 0,
                                              static_cast<std::int64_t>(work_.sizes.scale.ratio * ratio_steps)};
    return fmt::format("{}", fmt::join(numbers, ","));
}

/// Whether the same run did nothing before: since then messages only came to what is kept anyway.
bool CompactionRun::made_no_progress() const {
    if (turn_.config.explain || turn_.config.dry_run) return false;
    const Notes notes = turn_.notes();
    const auto before = notes.text("no_progress");
    return before && work_.sizes.context_tokens >= notes.integer("no_progress_tokens").value_or(0) &&
           *before == situation();
}

/// Not where the store refused something, nor where the current turn's growth makes recent turns due.
void CompactionRun::remember_no_progress(const TurnFold& fold) {
    const bool is_final = !can_write() || fold.plan().recent_tokens == 0 || fold.is_over_minimum();
    if (refused_ > 0 || !is_final) return;
    note("no_progress", situation());
    note("no_progress_tokens", work_.sizes.context_tokens);
}

/// What waits for a prepared summary stores nothing yet.
bool CompactionRun::run() {
    if (waits_for_prepared(compaction_attempt(work_))) return false;
    stage_cheap();
    if (!needs_summary()) return commit_cheap();
    TurnFold fold(work_, layout_);
    if (may_summarize(fold)) return summarize(fold);
    if (turn_.config.explain) list_candidates(turn_, fold.plan(), fold.tokens(), false);
    const bool is_changed = commit_cheap();
    if (!is_changed && turn_.report.outcome != Outcome::vetoed) remember_no_progress(fold);
    return is_changed;
}

/// Says once what is in the way.
bool CompactionRun::may_summarize(const TurnFold& fold) {
    if (has_obstacle(fold)) return false;
    cooldown_.clear(over_minimum);
    cooldown_.clear(nothing_to_fold);
    if (can_write()) return true;
    if (cooldown_.is_news("no_model"))
        warn("no_model", "no summary: there is neither a summarizer nor a model of the agent's own");
    return false;
}

bool CompactionRun::has_obstacle(const TurnFold& fold) {
    const bool is_over = fold.is_over_minimum();
    if (!is_over && fold.is_possible()) return false;
    if (!is_over && tokens_now() <= work_.limits.threshold) return true;
    const std::string_view kind = is_over ? over_minimum : nothing_to_fold;
    cooldown_.clear(is_over ? nothing_to_fold : over_minimum);
    if (cooldown_.is_news(kind))
        warn(kind, is_over ? fold.describe_minimum() : fold.describe_nothing(), work_.sizes.context_tokens,
             fold.minimum_tokens());
    return true;
}

bool CompactionRun::commit_cheap() {
    const CommitResult result = edit_.commit();
    report_refused(turn_, result);
    if (result.outcome == Outcome::vetoed) {
        turn_.report.outcome = Outcome::vetoed;
        cooldown_.wait_for(add_saturating(work_.sizes.context_tokens,
                                          failure_cool_down_tokens_of(work_.config, work_.limits.threshold)));
    }
    if (!result.committed()) return false;
    const std::int64_t after = tokens_after(result.tokens_before, result.tokens_after);
    const std::int64_t limit = work_.limits.threshold;
    if (after > limit && turn_.report.ensure_details().error.empty())
        turn_.warn_above_trigger(
            fmt::format("after compaction the request still has {} tokens, the threshold is {}", after, limit),
            work_.sizes.context_tokens, after);
    return true;
}

/// Where no summary is possible or no call could be made, the cheap stages are committed, so that they are not planned
/// and stored again and again. Where none is possible, the next attempt waits until what they leave has grown.
bool CompactionRun::summarize(TurnFold& fold) {
    const SummaryWork attempt = compaction_attempt(work_);
    const AttemptResult result = SummaryAttempt(attempt, fold).run();
    if (result == AttemptResult::committed) return true;
    if (result == AttemptResult::nothing) return false;
    const std::int64_t planned = tokens_now();
    const bool is_changed = commit_cheap();
    if (is_changed && result == AttemptResult::impossible)
        cooldown_.wait_for(add_saturating(planned, attempt.cool_down));
    return is_changed;
}

/// Nothing is ordered that the cheap stages will make needless once compaction is due.
void CompactionRun::prepare() {
    const std::shared_ptr<StageDetails> details = std::exchange(turn_.report.details, nullptr);
    stage_pruned();
    if (!is_below_target()) stage_without_media();
    turn_.report.details = details;
    if (!needs_summary(sub_saturating(work_.limits.threshold, work_.sizes.context_tokens))) return;
    TurnFold fold(work_, layout_);
    if (!fold.is_over_minimum() && fold.is_possible()) prepare_summary(compaction_attempt(work_), fold);
}

}  // namespace

CompactionLimits limits_now(const HookTurn& turn, const CompactionConfig& config) {
    const std::int64_t window = turn.known_window();
    const std::int64_t room = std::max(window / 2, sub_saturating(window, turn.config.profile.output_reserve));
    return fitted_to(limits_of(config, window), room);
}

std::optional<CompactionLimits> due_limits(HookTurn& turn, const CompactionConfig& config, std::int64_t tokens) {
    turn.report.count = tokens;
    turn.report.outcome = Outcome::not_due;
    if (waits_for_window(config, turn.known_window())) return std::nullopt;
    const CompactionLimits limits = limits_now(turn, config);
    turn.report.threshold = limits.threshold;
    if (config.token_counter) turn.report.counter = config.token_counter->id();
    Cooldown cooldown(turn);
    if (tokens <= limits.threshold) {
        cooldown.end();
        cooldown.clear(over_minimum);
        cooldown.clear(nothing_to_fold);
        forget_no_progress(turn);
        return std::nullopt;
    }
    turn.report.outcome = Outcome::cooling_down;
    return cooldown.is_active(tokens) ? std::nullopt : std::optional(limits);
}

CompactionLimits limits_on_demand(const HookTurn& turn, const CompactionConfig& config, std::int64_t tokens) {
    CompactionLimits limits = limits_after_overflow(turn, config, tokens);
    limits.target = limits.threshold;
    return limits;
}

CompactionLimits limits_after_overflow(const HookTurn& turn, const CompactionConfig& config, std::int64_t tokens) {
    CompactionLimits limits = limits_of(config, turn.known_window());
    limits.threshold = trigger_after_overflow(turn, tokens);
    limits.target = std::min(limits.target, limits.threshold);
    limits.summary = std::min(limits.summary, std::max<std::int64_t>(1, limits.target / 2));
    return limits;
}

bool compact_when_due(const CompactionWork& work) {
    CompactionRun run(work);
    if (run.made_no_progress()) return false;
    forget_no_progress(work.turn);
    return run.run();
}

bool compact_anyway(const CompactionWork& work) {
    work.turn.report.outcome = Outcome::nothing;
    return CompactionRun(work).run();
}

bool prepare_compaction(const CompactionWork& work) {
    if (may_prepare(compaction_attempt(work))) CompactionRun(work).prepare();
    return false;
}

std::size_t untouched_by_compaction(const Outline& outline, std::string_view name) {
    std::size_t i = layout_of(outline, name).prefix;
    while (i < outline.size() && outline[i].pinned) ++i;
    return i;
}

}  // namespace whittle::inline v0::detail
