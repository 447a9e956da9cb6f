#include "whittle/compaction/detail/compact.hpp"

#include "../summary/noted.hpp"
#include "compaction_run.hpp"
#include "whittle/base/event.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

/// Decides how far one run goes up the ladder, and reports on it.
class Ladder {
public:
    explicit Ladder(const CompactionWork& work)
        : work_(work), turn_(work.turn), config_(work.config), sizes_(work.sizes), run_(work) {}

    [[nodiscard]] bool made_no_progress() const;
    bool run_stages();

private:
    /// A dry run leaves no notes behind.
    template <typename Value>
    void note(std::string_view key, const Value& value) {
        if (!turn_.config.dry_run) turn_.notes().set(key, value);
    }
    void forget(std::string_view key) {
        if (!turn_.config.dry_run) turn_.notes().erase(key);
    }
    void warn(std::string_view kind, const std::string& text, std::int64_t before = 0, std::int64_t after = 0) {
        turn_.report.more().error = text;
        emit(turn_.on_event,
             {Event::Level::warning, turn_.report.middleware, kind, text, turn_.conversation_id(), before, after});
    }
    [[nodiscard]] bool is_at_floor() const { return is_over_floor(run_.plan(), run_.budget()); }
    [[nodiscard]] std::int64_t grown(std::int64_t tokens) const {
        return add_saturating(tokens, cool_down_of(config_, sizes_.limits.threshold));
    }
    void remember_no_progress();
    [[nodiscard]] bool may_summarise();
    [[nodiscard]] bool has_obstacle();
    bool commit_cheap();
    bool summarise();
    bool write_summary();
    bool report_broken(const std::string& text);
    bool report_veto();
    void report_rest(const CommitResult& result);
    void report_failed(const DigestError& failure) {
        report_failure(turn_, failure, config_.on_failure == OnFailure::propagate, grown(sizes_.tokens));
    }

    const CompactionWork& work_;
    HookTurn& turn_;
    const CompactionConfig& config_;
    const CompactionSizes& sizes_;
    CompactionRun run_;
};

/// Whether the same run did nothing before: since then messages only came to what is kept anyway.
bool Ladder::made_no_progress() const {
    if (turn_.config.explain || turn_.config.dry_run) return false;
    const Notes notes = turn_.notes();
    const auto before = notes.text("no_progress");
    return before && sizes_.tokens >= notes.integer("no_progress_tokens").value_or(0) && *before == run_.situation();
}

/// Not where the store refused something, nor where the current turn's growth makes recent turns due.
void Ladder::remember_no_progress() {
    const bool is_final = !work_.has_model || run_.plan().recent_tokens == 0 || is_at_floor();
    if (run_.is_refused() || !is_final) return;
    note("no_progress", run_.situation());
    note("no_progress_tokens", sizes_.tokens);
}

bool Ladder::run_stages() {
    run_.stage_cheap();
    if (!run_.needs_summary()) return commit_cheap();
    run_.plan_summary();
    const bool is_due = may_summarise();
    if (turn_.config.explain || is_due) run_.list_candidates(is_due);
    if (is_due) return summarise();
    const bool is_changed = commit_cheap();
    if (!is_changed && turn_.report.outcome != Outcome::vetoed) remember_no_progress();
    return is_changed;
}

/// Says once what is in the way.
bool Ladder::may_summarise() {
    if (has_obstacle()) return false;
    forget("floor_reported");
    if (work_.has_model) return true;
    if (!turn_.notes().integer("no_model_reported")) {
        warn("no_model", "no summary: there is neither a summariser nor a model of the agent's own");
        note("no_model_reported", std::int64_t{1});
    }
    return false;
}

bool Ladder::has_obstacle() {
    const bool is_floor = is_at_floor();
    if (!is_floor && run_.can_summarise()) return false;
    const std::int64_t obstacle = is_floor ? 1 : 2;
    const bool is_stuck = is_floor || run_.tokens_now() > sizes_.limits.threshold;
    if (!is_stuck || turn_.notes().integer("floor_reported") == obstacle) return true;
    note("floor_reported", obstacle);
    const TurnBudget& budget = run_.budget();
    warn(is_floor ? "irreducible" : "nothing_to_fold",
         is_floor ? describe_floor(run_.plan(), budget) : describe_idle(run_.plan(), budget), sizes_.tokens,
         floor_of(run_.plan(), budget));
    return true;
}

/// The cheap stages stand; the next attempt waits until what they leave has grown.
bool Ladder::report_broken(const std::string& text) {
    warn("no_valid_summary", text);
    const std::int64_t planned = run_.tokens_now();
    const bool is_changed = commit_cheap();
    note("retry_at_tokens", grown(is_changed ? planned : sizes_.tokens));
    return is_changed;
}

/// Nothing stands. Asked again once there is more to lose.
bool Ladder::report_veto() {
    turn_.report.outcome = Outcome::vetoed;
    note("retry_at_tokens", grown(sizes_.tokens));
    return false;
}

bool Ladder::commit_cheap() {
    const CommitResult result = run_.commit();
    if (result.outcome == Outcome::vetoed) return report_veto();
    if (result.committed()) report_rest(result);
    return result.committed();
}

/// Makes the summary and commits everything. A failure that is not to be thrown is reported and remembered here: what a
/// hook throws would take the note back.
bool Ladder::summarise() {
    try {
        const CompactionRun::Rehearsal rehearsal = run_.rehearse();
        if (!rehearsal.broken.empty()) return report_broken(rehearsal.broken);
        if (rehearsal.is_vetoed) return report_veto();
        if (!turn_.config.dry_run) return write_summary();
        turn_.report.outcome = Outcome::planned;
        turn_.report.more().tokens_before = run_.tokens_before();
        turn_.report.more().tokens_after = run_.expected_tokens();
    } catch (...) {
        if (config_.on_failure == OnFailure::propagate || ends_hook(turn_.stop)) throw;
        report_failed({.message = current_error_text()});
    }
    return false;
}

/// Where no call could be made, the cheap stages are committed, so that they are not planned and stored again and
/// again.
bool Ladder::write_summary() {
    const NotedDigest digest =
        go_on_with_digest(turn_.notes(), [&](DigestState& state) { return run_.generate(state); });
    if (digest.is_unfinished) {
        report_unfinished(turn_, digest.state, run_.plan().folded.size());
        return digest.result.model_calls == 0 && commit_cheap();
    }
    if (!digest.result.ok()) {
        report_failed(*digest.result.failure);
        return false;
    }
    run_.stage_summary(digest.result.summary);
    const CommitResult commit = run_.commit();
    if (commit.outcome == Outcome::vetoed) return report_veto();
    if (!commit.committed()) {
        report_failed(commit_failure(commit));
        return false;
    }
    turn_.notes().erase("retry_at_tokens");
    report_rest(commit);
    return true;
}

void Ladder::report_rest(const CommitResult& result) {
    const std::int64_t after = run_.tokens_after(result.tokens_before, result.tokens_after);
    if (after <= sizes_.limits.threshold || !turn_.report.more().error.empty()) return;
    turn_.warn_above_trigger(describe_compacted(after, sizes_.limits.threshold), sizes_.tokens, after);
}

/// What an overflow taught bounds an absolute threshold too.
CompactionLimits limits_for(const HookTurn& turn, const CompactionConfig& config) {
    const std::int64_t window = turn.known_window();
    const std::int64_t room = std::max(window / 2, sub_saturating(window, turn.config.profile.output_reserve));
    return fitting(limits_of(config, window), room);
}

}  // namespace

std::optional<CompactionLimits> due_limits(HookTurn& turn, const CompactionConfig& config, std::int64_t tokens) {
    turn.report.count = tokens;
    turn.report.outcome = Outcome::undue;
    if (waits_for_window(config, turn.known_window())) return std::nullopt;
    const CompactionLimits limits = limits_for(turn, config);
    turn.report.threshold = limits.threshold;
    if (config.token_counter) turn.report.counter = config.token_counter->id();
    if (tokens <= limits.threshold) {
        for (const char* key : {"retry_at_tokens", "floor_reported", "no_progress"}) {
            if (!turn.config.dry_run) turn.notes().erase(key);
        }
        return std::nullopt;
    }
    turn.report.outcome = Outcome::remembered;
    if (tokens < turn.notes().integer("retry_at_tokens").value_or(0)) return std::nullopt;
    return limits;
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

bool compact(const CompactionWork& work, bool is_forced) {
    Ladder ladder(work);
    if (is_forced) {
        work.turn.report.outcome = Outcome::nothing;
    } else {
        if (ladder.made_no_progress()) return false;
        if (!work.turn.config.dry_run) work.turn.notes().erase("no_progress");
    }
    return ladder.run_stages();
}

std::size_t untouched_by_compaction(const Outline& outline, std::string_view name) {
    std::size_t i = layout_of(outline, name).prefix;
    while (i < outline.size() && outline[i].pinned) ++i;
    return i;
}

}  // namespace whittle::inline v0::detail
