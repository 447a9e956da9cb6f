#include "whittle/summarization/detail/summarize.hpp"

#include "summarization_fold.hpp"
#include "whittle/base/event.hpp"
#include "whittle/chain/detail/cooldown.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"

#include <algorithm>
#include <string>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view irreducible = "irreducible";

/// Due earlier where it breaks no cache.
TriggerLimits trigger_limits(HookTurn& turn, const Trigger& trigger, std::int64_t tokens) {
    TriggerLimits limits = limits_of(trigger, turn.known_window());
    if (limits.tokens_if_cache_cold <= 0 || tokens <= limits.tokens_if_cache_cold) return limits;
    if (limits.tokens > 0 && limits.tokens <= limits.tokens_if_cache_cold) return limits;
    const auto free_from = EditSchedule::free_from(turn);
    if (free_from && untouched_by_summarization(turn.outline(), turn.report.middleware) >= *free_from)
        limits.tokens = limits.tokens_if_cache_cold;
    return limits;
}

/// What the trigger judges.
FoldSizes triggers_of(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    const TriggerLimits limits = trigger_limits(turn, config.trigger, tokens);
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
    turn.report.outcome = Outcome::not_due;
    return (by_tokens || by_messages) && !lacks_tokens && !lacks_messages;
}

SummaryWork summarization_attempt(const SummarizationWork& work) {
    const std::int64_t trigger = work.sizes.trigger_tokens;
    return {.turn = work.turn,
            .edit = work.edit,
            .functions = work.functions,
            .sizes = work.sizes,
            .cool_down = failure_cool_down_tokens_of(work.config, trigger > 0 ? trigger : work.sizes.context_tokens),
            .rule_based_summary_tokens = work.config.rule_based_summary_tokens,
            .is_thrown = work.turn.config.on_error == OnError::propagate,
            .require_token_reduction = !work.functions.finalize,
            .needs_all = work.config.trigger.needs_all};
}

bool fold(const SummarizationWork& work, SummarizationFold& fold) {
    const SummaryWork attempt = summarization_attempt(work);
    return SummaryAttempt(attempt, fold).run() == AttemptResult::committed;
}

/// Says once what is in the way (rule "progress").
bool may_try(const SummarizationWork& work, const SummarizationFold& fold) {
    HookTurn& turn = work.turn;
    Cooldown cooldown(turn, true);
    if (fold.is_over_minimum()) {
        if (!cooldown.is_news(irreducible)) return false;
        turn.report.outcome = Outcome::nothing;
        const std::string text = fold.describe_minimum();
        turn.report.ensure_details().error = text;
        emit(turn.on_event, {Event::Level::warning, turn.report.middleware, irreducible, text, turn.conversation_id(),
                             work.sizes.context_tokens, fold.minimum_tokens()});
        return false;
    }
    cooldown.clear(irreducible);
    if (!fold.is_pointless()) return true;
    turn.report.outcome = Outcome::nothing;
    cooldown.wait_for(add_saturating(work.sizes.context_tokens, summarization_attempt(work).cool_down));
    return false;
}

}  // namespace

FoldSizes sizes_of(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    const ContextCount counted = turn.counted();
    FoldSizes sizes = triggers_of(turn, config, tokens);
    sizes.count(counted);
    return sizes;
}

std::optional<FoldSizes> due_sizes(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    Cooldown cooldown(turn, true);
    if (!is_due(turn, triggers_of(turn, config, tokens), config.trigger.needs_all)) {
        cooldown.end();
        cooldown.clear(irreducible);
        return std::nullopt;
    }
    turn.report.outcome = Outcome::cooling_down;
    if (cooldown.is_active(tokens)) return std::nullopt;
    return sizes_of(turn, config, tokens);
}

FoldSizes sizes_after_overflow(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens) {
    FoldSizes sizes = sizes_of(turn, config, tokens);
    sizes.trigger_tokens = trigger_after_overflow(turn, tokens);
    sizes.limit_messages = 0;
    return sizes;
}

bool prepare_summarization(const SummarizationWork& work) {
    const SummaryWork attempt = summarization_attempt(work);
    if (!may_prepare(attempt)) return false;
    SummarizationFold planned(work);
    if (!planned.is_over_minimum() && !planned.is_pointless()) prepare_summary(attempt, planned);
    return false;
}

bool summarize_when_due(const SummarizationWork& work) {
    SummarizationFold planned(work);
    return may_try(work, planned) && fold(work, planned);
}

bool summarize_after_overflow(const SummarizationWork& work) {
    SummarizationFold planned(work);
    work.turn.report.outcome = Outcome::nothing;
    if (planned.is_over_minimum()) {
        work.turn.report.ensure_details().error = planned.describe_minimum();
        return false;
    }
    return !planned.is_pointless() && fold(work, planned);
}

bool summarize_on_demand(const SummarizationWork& work) {
    constexpr std::int64_t least_room = 2'000;  // beside what has to stay
    SummarizationWork now = work;
    const std::int64_t minimum = minimum_of(now.sizes, SummarizationFold(work).plan(), 0);
    now.sizes.wanted_tokens = now.sizes.trigger_tokens;
    now.sizes.trigger_tokens = std::max(now.sizes.trigger_tokens, add_saturating(minimum, least_room));
    SummarizationFold planned(now);
    now.turn.report.outcome = Outcome::nothing;
    return !planned.is_pointless() && fold(now, planned);
}

bool stage_summary_now(const SummarizationWork& work) {
    SummarizationFold planned(work);
    if (planned.is_pointless()) return false;
    const SummaryWork attempt = summarization_attempt(work);
    SummaryAttempt(attempt, planned).stage();
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
