#include "whittle/summary/detail/prepared.hpp"

#include "summary_attempt.hpp"
#include "whittle/base/event.hpp"
#include "whittle/conversation/detail/conversation_caches.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <unordered_set>

namespace whittle::inline v0::detail {

namespace {

/// Held beside a conversation: when that goes, nobody wants the summary.
class PreparedHolder {
public:
    explicit PreparedHolder(std::shared_ptr<PreparedSummary> summary) : summary_(std::move(summary)) {}
    PreparedHolder(const PreparedHolder&) = delete;
    PreparedHolder& operator=(const PreparedHolder&) = delete;
    ~PreparedHolder() { summary_->give_up(); }

    [[nodiscard]] const std::shared_ptr<PreparedSummary>& summary() const noexcept { return summary_; }

private:
    std::shared_ptr<PreparedSummary> summary_;
};

std::string name_of_prepared(const HookTurn& turn) {
    return std::string("prepared_summary/").append(turn.report.middleware);
}

/// The one that was ordered; null: none.
std::shared_ptr<PreparedSummary> find_prepared(const HookTurn& turn) {
    const auto holder = std::static_pointer_cast<PreparedHolder>(turn.caches().find(name_of_prepared(turn)));
    return holder ? holder->summary() : nullptr;
}

/// Those of the planned messages that a prepared summary stands for; nullopt unless all of them are as they were.
std::optional<std::vector<std::size_t>> still_covered(const PreparedSummary& prepared, const FoldedMessages& plan,
                                                      const Outline& outline) {
    const std::unordered_set<Serial> covers(prepared.covers().begin(), prepared.covers().end());
    std::vector<std::size_t> folded;
    for (const std::size_t i : plan.folded) {
        if (covers.contains(outline[i].serial)) folded.push_back(i);
    }
    if (folded.size() != covers.size() || fingerprint_of_range(outline, folded) != prepared.fingerprint())
        return std::nullopt;
    return folded;
}

}  // namespace

void forget_prepared(HookTurn& turn) { turn.caches().set(name_of_prepared(turn), nullptr); }

namespace {

void drop_prepared(const SummaryWork& work, const std::string& why) {
    HookTurn& turn = work.turn;
    forget_prepared(turn);
    const std::string text = "a prepared summary is dropped: " + why;
    const std::int64_t tokens = work.sizes.context_tokens;
    emit(turn.on_event, {Event::Level::warning, turn.report.middleware, "prepared_dropped", text,
                         turn.conversation_id(), tokens, tokens});
}

}  // namespace

bool waits_for_prepared(const SummaryWork& work) {
    HookTurn& turn = work.turn;
    const std::shared_ptr<PreparedSummary> prepared = turn.config.dry_run ? nullptr : find_prepared(turn);
    if (!prepared || prepared->outcome()) return false;
    const std::int64_t tokens = work.sizes.context_tokens;
    const std::int64_t limit = work.sizes.trigger_tokens;
    const bool is_near = limit > 0 && tokens > limit && tokens <= add_saturating(limit, work.cool_down);
    if (is_near && turn.report.hook == Hook::before_model) {
        turn.report.outcome = Outcome::nothing;
        turn.report.ensure_details().error = "the summary is still being prepared";
        return true;
    }
    drop_prepared(work, "it was not ready when it was due");
    return false;
}

/// A summary that was prepared for messages that are as they were, if it is enough; those behind them stay.
std::optional<SummaryText> SummaryAttempt::take_prepared() {
    const std::shared_ptr<PreparedSummary> prepared = find_prepared(turn_);
    std::optional<SummaryGenerationOutcome> outcome = prepared ? prepared->outcome() : std::nullopt;
    if (!outcome) return std::nullopt;
    SummaryText summary{std::move(outcome->summary)};
    std::string why = outcome->failure ? outcome->failure->message : std::string();
    if (why.empty()) {
        if (auto folded = still_covered(*prepared, fold_.plan(), turn_.outline())) {
            fold_.restrict_to(*std::move(folded));
            why = fold_.refuse(summary, true);
        } else {
            why = "the messages that it stands for have changed";
        }
    }
    turn_.report.ensure_details().model_calls.push_back(
        {std::string(turn_.report.middleware) + ": prepared summary", outcome->usage, 0, why});
    if (why.empty()) return summary;
    fold_.plan_again();
    drop_prepared(work_, why);
    return std::nullopt;
}

bool may_prepare(const SummaryWork& work) {
    if (!work.functions.prepare || work.turn.config.dry_run) return false;
    const std::shared_ptr<PreparedSummary> before = find_prepared(work.turn);
    return !before ||
           (before->outcome() && work.sizes.context_tokens >= add_saturating(before->ordered_at(), work.cool_down));
}

void prepare_summary(const SummaryWork& work, SummaryFold& fold) {
    HookTurn& turn = work.turn;
    const FoldedMessages& plan = fold.plan();
    const Outline outline = turn.outline();
    const std::shared_ptr<PreparedSummary> before = find_prepared(turn);
    if (before && before->outcome() && before->outcome()->ok() && still_covered(*before, plan, outline)) return;
    std::vector<Serial> serials;
    for (const std::size_t i : plan.folded) serials.push_back(outline[i].serial);
    auto summary = std::make_shared<PreparedSummary>(std::move(serials), fingerprint_of_range(outline, plan.folded),
                                                     work.sizes.context_tokens);
    try {
        const SummaryGenerationConfig config = fold.request();
        turn.caches().set(name_of_prepared(turn), std::make_shared<PreparedHolder>(summary));
        work.functions.prepare({config, plan.folded, plan.folded_tokens, {}}, std::move(summary));
    } catch (...) {
        forget_prepared(turn);
        if (work.is_thrown || ends_hook(turn.stop)) throw;
        emit_failure(turn.on_event, turn.report.middleware, turn.conversation_id(),
                     "prepare a summary: " + current_error_text());
    }
}

}  // namespace whittle::inline v0::detail
