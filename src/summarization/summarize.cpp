#include "whittle/summarization/detail/summarize.hpp"

#include "../summary/noted.hpp"
#include "fold_run.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/event.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"
#include "whittle/summarization/detail/prepared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

std::string_view what_stays(const FoldPlan& plan) {
    const bool has_head = std::ranges::count(plan.rules, std::string_view("loop_head")) > 0;
    return has_head
               ? "system, pinned, newest user message, open round, and the first step of its tool loop, which holds "
                 "the thinking that the provider wants in front"
               : "system, pinned, newest user message, open round";
}

}  // namespace

std::string describe_floor(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve) {
    if (sizes.trigger_tokens > 0 && sizes.floor_of(plan, reserve) > sizes.trigger_tokens) {
        return fmt::format(
            "no summary: what has to stay takes {} tokens, the trigger is {}: {} beside the messages (system text, "
            "tools), {} in {} messages ({}), {} reserved for the reply",
            sizes.floor_of(plan, reserve), sizes.trigger_tokens, sizes.request_without_messages(),
            sizes.scale.to_request(plan.kept_tokens), plan.kept_messages, what_stays(plan), reserve);
    }
    return fmt::format("no summary: {} messages have to stay ({}), the trigger is {}", plan.kept_messages,
                       what_stays(plan), sizes.limit_messages);
}

std::string describe_rest(std::int64_t tokens, std::int64_t limit) {
    return fmt::format("after the summary the request still has {} tokens, the trigger is {}", tokens, limit);
}

std::string describe_many(std::size_t messages, std::int64_t limit) {
    return fmt::format("after the summary there are still {} messages, the trigger is {}", messages, limit);
}

namespace {

/// Decides about one summary, and reports on it.
class Summarizer {
public:
    explicit Summarizer(const SummaryWork& work)
        : turn_(work.turn), port_(work.port), config_(work.config), sizes_(work.sizes), run_(work) {}

    [[nodiscard]] FoldRun& run() noexcept { return run_; }
    [[nodiscard]] std::string floor() const {
        return describe_floor(sizes_, run_.plan(), turn_.config.profile.output_reserve);
    }
    [[nodiscard]] bool may_try();
    bool fold();

private:
    void warn(std::string_view kind, const std::string& text, std::int64_t before, std::int64_t after) {
        emit(turn_.on_event,
             {Event::Level::warning, turn_.report.middleware, kind, text, turn_.conversation_id(), before, after});
    }
    /// How many tokens there have to be for the next attempt once there are `tokens`.
    [[nodiscard]] std::int64_t grown(std::int64_t tokens) const {
        const std::int64_t base = sizes_.trigger_tokens > 0 ? sizes_.trigger_tokens : tokens;
        return add_saturating(tokens, cool_down_of(config_, base));
    }
    void wait_for_growth(std::int64_t tokens) { turn_.notes().set("retry_at_tokens", grown(tokens)); }
    [[nodiscard]] bool is_allowed(bool has_text);
    bool or_report(FunctionRef<bool()> work);
    [[nodiscard]] bool waits_for_prepared();
    [[nodiscard]] std::optional<std::string> find_prepared();
    void drop_prepared(const std::string& why);
    [[nodiscard]] bool write_summary();
    bool commit_summary(const std::string& summary);
    void report_success(const CommitResult& result);
    void report_failed(const DigestError& failure) {
        report_failure(turn_, failure, turn_.config.on_error == OnError::propagate, grown(sizes_.context_tokens));
    }
    void report_veto() {
        wait_for_growth(sizes_.context_tokens);
        turn_.report.outcome = Outcome::vetoed;
    }
    /// A summary by rule that gains nothing is no failure: nobody was asked.
    void report_idle(const DigestError& why) {
        wait_for_growth(sizes_.context_tokens);
        turn_.report.outcome = Outcome::nothing;
        turn_.report.more().error = "no summary: " + why.message;
    }

    HookTurn& turn_;
    SummaryPort& port_;
    const SummarizationConfig& config_;
    const FoldSizes& sizes_;
    FoldRun run_;
};

/// Says once what is in the way (rule "progress").
bool Summarizer::may_try() {
    Notes notes = turn_.notes();
    if (run_.is_over_floor()) {
        if (notes.integer("floor_reported")) return false;
        notes.set("floor_reported", std::int64_t{1});
        turn_.report.outcome = Outcome::nothing;
        const std::string text = floor();
        turn_.report.more().error = text;
        warn("irreducible", text, sizes_.context_tokens, run_.floor_tokens());
        return false;
    }
    notes.erase("floor_reported");
    if (!run_.is_pointless()) return true;
    turn_.report.outcome = Outcome::nothing;
    wait_for_growth(sizes_.context_tokens);
    return false;
}

/// Makes the summary and commits it. Under OnError::skip a failure is reported and remembered here: what a hook throws
/// would take the note back.
bool Summarizer::fold() {
    if (!turn_.config.dry_run && waits_for_prepared()) return false;
    std::optional<std::string> prepared;
    const auto find = [&] {
        prepared = find_prepared();
        return true;
    };
    if (!turn_.config.dry_run && !or_report(find)) return false;
    run_.list_candidates();
    if (turn_.config.dry_run) {
        turn_.report.outcome = Outcome::planned;
        turn_.report.more().tokens_before = sizes_.message_tokens;
        turn_.report.more().tokens_after = add_saturating(run_.plan().kept_tokens, run_.plan().tail_tokens);
        return false;
    }
    if (!is_allowed(prepared.has_value())) return false;
    return or_report([&] {
        port_.record(run_.plan().folded);
        if (!prepared) return write_summary();
        port_.tell_due();
        const bool is_committed = commit_summary(*prepared);
        if (is_committed) port_.forget_prepared();
        return is_committed;
    });
}

/// What `work` says; false if it throws what is not to be thrown on, which is reported.
bool Summarizer::or_report(FunctionRef<bool()> work) {
    try {
        return work();
    } catch (...) {
        if (turn_.config.on_error == OnError::propagate || ends_hook(turn_.stop)) throw;
        report_failed({.message = current_error_text()});
        return false;
    }
}

/// Whether a summary may stand there at all, found out before a model is paid for it.
bool Summarizer::is_allowed(bool has_text) {
    try {
        const bool is_wanted = run_.rehearse(true, has_text);
        turn_.notes().erase("rules_reported");
        if (!is_wanted) report_veto();
        return is_wanted;
    } catch (const Error& error) {
        if (error.errc() != Errc::invalid_history) throw;
        turn_.report.outcome = Outcome::nothing;
        turn_.report.more().error = error.what();
        wait_for_growth(sizes_.context_tokens);
        if (turn_.notes().integer("rules_reported")) return false;
        turn_.notes().set("rules_reported", std::int64_t{1});
        warn("no_valid_summary", std::string("no summary: ") + error.what(), sizes_.context_tokens,
             sizes_.trigger_tokens);
        return false;
    }
}

bool Summarizer::write_summary() {
    port_.tell_due();
    const NotedDigest digest =
        go_on_with_digest(turn_.notes(), [&](DigestState& state) { return run_.generate(state); });
    if (digest.is_unfinished) {
        report_unfinished(turn_, digest.state, run_.plan().folded.size());
        return false;
    }
    if (!digest.result.ok()) {
        port_.has_model() ? report_failed(*digest.result.failure) : report_idle(*digest.result.failure);
        return false;
    }
    return commit_summary(digest.result.summary);
}

bool Summarizer::commit_summary(const std::string& summary) {
    port_.keep_before();
    run_.stage(summary);
    const CommitResult commit = run_.commit();
    if (commit.outcome == Outcome::vetoed) {
        report_veto();
        return false;
    }
    if (!commit.committed()) {
        report_failed(commit_failure(commit));
        return false;
    }
    report_success(commit);
    port_.tell_done();
    return true;
}

/// A summary that is being made is waited for without blocking, as long as the request is not far above the trigger.
bool Summarizer::waits_for_prepared() {
    const std::shared_ptr<PreparedSummary> prepared = port_.prepared();
    if (!prepared || prepared->outcome()) return false;
    const std::int64_t limit = sizes_.trigger_tokens;
    const bool is_above = limit > 0 && sizes_.context_tokens > limit;
    if (is_above && turn_.report.hook == Hook::before_model &&
        sizes_.context_tokens <= add_saturating(limit, cool_down_of(config_, limit))) {
        turn_.report.outcome = Outcome::nothing;
        turn_.report.more().error = "the summary is still being prepared";
        return true;
    }
    drop_prepared("it was not ready when it was due");
    return false;
}

/// The text of a summary that was prepared for messages that are as they were, if it is enough; those behind them stay.
std::optional<std::string> Summarizer::find_prepared() {
    const std::shared_ptr<PreparedSummary> prepared = port_.prepared();
    std::optional<DigestOutcome> outcome = prepared ? prepared->outcome() : std::nullopt;
    if (!outcome) return std::nullopt;
    std::string why = outcome->failure ? outcome->failure->message : std::string();
    if (why.empty() && !run_.restrict_to(*prepared)) why = "the messages that it stands for have changed";
    if (why.empty()) why = run_.refuse(outcome->summary);
    turn_.report.more().model_calls.push_back(
        {std::string(turn_.report.middleware) + ": prepared summary", outcome->usage, 0, why});
    if (why.empty()) return std::move(outcome->summary);
    run_.plan_again();
    drop_prepared(why);
    return std::nullopt;
}

void Summarizer::drop_prepared(const std::string& why) {
    port_.forget_prepared();
    warn("prepared_dropped", "a prepared summary is dropped: " + why, sizes_.context_tokens, sizes_.context_tokens);
}

/// A summary that frees little must not be due again at once. No counter of the user's is called, since what it
/// threw would undo a commit that stands.
void Summarizer::report_success(const CommitResult& result) {
    const std::int64_t after = sizes_.context_without(sub_saturating(result.tokens_before, result.tokens_after));
    const std::int64_t limit = sizes_.trigger_tokens;
    const bool is_close = limit > 0 && add_saturating(after, cool_down_of(config_, limit)) > limit;
    const bool is_long =
        sizes_.limit_messages > 0 && static_cast<std::int64_t>(turn_.outline().size()) > sizes_.limit_messages;
    if (!is_close && !is_long) return turn_.notes().erase("retry_at_tokens");
    wait_for_growth(after);
    const bool is_above = limit > 0 && after > limit;
    const bool needs_both = config_.trigger.needs_all && limit > 0 && sizes_.limit_messages > 0;
    if (needs_both ? !is_above || !is_long : !is_above && !is_long) return;
    turn_.warn_above_trigger(
        is_above ? describe_rest(after, limit) : describe_many(turn_.outline().size(), sizes_.limit_messages),
        sizes_.context_tokens, after);
}

/// Due earlier where it breaks no cache.
TriggerLimits limits_now(HookTurn& turn, const Trigger& trigger, std::int64_t tokens) {
    TriggerLimits limits = limits_of(trigger, turn.known_window());
    if (limits.free_tokens <= 0 || tokens <= limits.free_tokens) return limits;
    if (limits.tokens > 0 && limits.tokens <= limits.free_tokens) return limits;
    const auto free_from = EditSchedule::free_from(turn);
    if (free_from && untouched_by_summarization(turn.outline(), turn.report.middleware) >= *free_from)
        limits.tokens = limits.free_tokens;
    return limits;
}

/// What the trigger judges.
FoldSizes triggers_of(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    const TriggerLimits limits = limits_now(turn, config.trigger, tokens);
    return {.context_tokens = tokens, .trigger_tokens = limits.tokens, .limit_messages = limits.messages};
}

/// Tells the report which condition judged.
bool is_due(HookTurn& turn, const FoldSizes& sizes, bool needs_all) {
    const auto messages = static_cast<std::int64_t>(turn.outline().size());
    const bool has_tokens = sizes.trigger_tokens > 0;
    const bool has_messages = sizes.limit_messages > 0;
    const bool by_tokens = has_tokens && sizes.context_tokens > sizes.trigger_tokens;
    const bool by_messages = has_messages && messages > sizes.limit_messages;
    const bool lacks_messages = needs_all && has_messages && !by_messages;
    const bool lacks_tokens = needs_all && has_tokens && !by_tokens;
    const bool shows_messages = !has_tokens || (needs_all ? by_tokens && lacks_messages : !by_tokens && by_messages);
    turn.report.count = shows_messages ? messages : sizes.context_tokens;
    turn.report.threshold = shows_messages ? sizes.limit_messages : sizes.trigger_tokens;
    turn.report.outcome = Outcome::undue;
    return (by_tokens || by_messages) && !lacks_tokens && !lacks_messages;
}

}  // namespace

FoldSizes sizes_of(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    const ContextCount counted = turn.counted();
    FoldSizes sizes = triggers_of(turn, config, tokens);
    sizes.message_tokens = counted.estimate - counted.beside;
    sizes.system_and_tools = counted.beside;
    sizes.scale = counted.scale_to(tokens);
    return sizes;
}

std::optional<FoldSizes> due_sizes(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    Notes notes = turn.notes();
    if (!is_due(turn, triggers_of(turn, config, tokens), config.trigger.needs_all)) {
        for (const char* key : {"retry_at_tokens", "floor_reported", "rules_reported"}) notes.erase(key);
        return std::nullopt;
    }
    turn.report.outcome = Outcome::remembered;
    if (tokens < notes.integer("retry_at_tokens").value_or(0)) return std::nullopt;
    return sizes_of(turn, config, tokens);
}

FoldSizes sizes_after_overflow(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    FoldSizes sizes = sizes_of(turn, config, tokens);
    sizes.trigger_tokens = trigger_after_overflow(turn, tokens);
    sizes.limit_messages = 0;
    return sizes;
}

void prepare_when_near(const SummaryWork& work) {
    const std::int64_t limit = work.sizes.trigger_tokens;
    const double near = static_cast<double>(limit) * work.config.prepare_fraction;
    if (limit <= 0 || static_cast<double>(work.sizes.context_tokens) <= near) return;
    if (work.turn.config.dry_run || !work.port.may_prepare()) return;
    if (const auto before = work.port.prepared()) {  // one that has come to nothing is made anew, once there is more
        const auto outcome = before->outcome();
        const std::int64_t step = cool_down_of(work.config, limit);
        if (!outcome || work.sizes.context_tokens < add_saturating(before->ordered_at(), step)) return;
        if (outcome->ok() && FoldRun(work).restrict_to(*before)) return;
    }
    FoldRun run(work);
    if (run.is_over_floor() || run.is_pointless()) return;
    try {
        const DigestConfig config = run.config_of_digest();
        work.port.prepare({config, run.plan().folded, run.plan().folded_tokens, {}}, work.sizes.context_tokens);
    } catch (...) {
        if (work.turn.config.on_error == OnError::propagate || ends_hook(work.turn.stop)) throw;
        tell_failure(work.turn.on_event, work.turn.report.middleware, work.turn.conversation_id(),
                     "prepare a summary: " + current_error_text());
    }
}

bool summarize_when_due(const SummaryWork& work) {
    Summarizer summarizer(work);
    return summarizer.may_try() && summarizer.fold();
}

bool summarize_after_overflow(const SummaryWork& work) {
    Summarizer summarizer(work);
    work.turn.report.outcome = Outcome::nothing;
    if (summarizer.run().is_over_floor()) {
        work.turn.report.more().error = summarizer.floor();
        return false;
    }
    return !summarizer.run().is_pointless() && summarizer.fold();
}

bool summarize_on_demand(const SummaryWork& work) {
    constexpr std::int64_t least_room = 2'000;  // beside what has to stay
    SummaryWork now = work;
    const std::int64_t floor = now.sizes.floor_of(FoldRun(work).plan(), 0);
    now.sizes.wanted_tokens = now.sizes.trigger_tokens;
    now.sizes.trigger_tokens = std::max(now.sizes.trigger_tokens, add_saturating(floor, least_room));
    Summarizer summarizer(now);
    now.turn.report.outcome = Outcome::nothing;
    return !summarizer.run().is_pointless() && summarizer.fold();
}

bool stage_summary_now(const SummaryWork& work) {
    FoldRun run(work);
    if (run.is_pointless()) return false;
    run.rehearse(false);
    work.port.tell_due();
    DigestState state;
    const DigestOutcome result = run.generate(state);
    if (result.failure) {
        const std::string text =
            std::string(work.turn.report.middleware) + ": write a summary: " + result.failure->message;
        std::rethrow_exception(exception_of(*result.failure, text));
    }
    run.stage(result.summary);
    return true;
}

std::size_t untouched_by_summarization(const Outline& outline, std::string_view name) {
    const auto is_own_summary = [&](const MessageInfo& info) {
        return origin_of(info.mark) == Origin::summary && info.mark->by == name;
    };
    std::size_t i = 0;
    while (i < outline.size() &&
           (outline[i].pinned || (outline[i].role == Role::system && !is_own_summary(outline[i]))))
        ++i;
    return i;
}

}  // namespace whittle::inline v0::detail
