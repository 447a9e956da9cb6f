#include "whittle/trimming/detail/trimmer.hpp"

#include "trimming_arrival.hpp"
#include "trimming_run.hpp"

#include <mutex>
#include <utility>

namespace whittle::inline v0::detail {

Trimmer::Trimmer(TrimmingConfig config, std::string name)
    : config_(std::make_shared<const TrimmingConfig>(std::move(config))), name_(std::move(name)) {}

namespace {

constexpr std::string_view attachment_prefix = "trimming:";

}  // namespace

/// That of this configuration; null: there is none, or one of another.
std::shared_ptr<TrimmingState> Trimmer::find_state(const Attachments& attachments) const {
    auto state = std::static_pointer_cast<TrimmingState>(attachments.find(std::string(attachment_prefix) + name_));
    return state != nullptr && state->shared_config() == config_ ? state : nullptr;
}

std::shared_ptr<TrimmingState> Trimmer::state_of(HookTurn& turn) const {
    std::shared_ptr<TrimmingState> state = find_state(turn.attachments());
    if (state != nullptr) return state;
    state = std::make_shared<TrimmingState>(config_, name_);
    turn.attachments().set(std::string(attachment_prefix) + name_, state);
    return state;
}

void Trimmer::before_model(HookTurn& turn, WithDraft with_draft) const {
    const std::shared_ptr<TrimmingState> state = state_of(turn);
    const std::lock_guard lock(state->mutex);
    turn.report.threshold = config_->start_tokens;
    turn.report.outcome = Outcome::undue;
    const std::int64_t total = turn.report.count = state->request_tokens = turn.context_tokens();
    const EditScheduleConfig when = edit_schedule_of(*config_);
    EditSchedule schedule(turn, when);
    if (state->is_at_rest() && !schedule.is_at_edge(total)) return schedule.advance();
    state->take(turn);
    turn.report.reason = "looked_at_already";
    const bool is_new = schedule.is_new_call();
    if (is_new) {
        state->invalidate();  // until all is done
        TrimmingRun run(turn, *state, schedule, name_);
        run.look((schedule.is_cold() && total > config_->cold_start_tokens) || schedule.is_at_edge(total));
        const auto first = run.decide(total);
        state->validate();
        turn.report.reason = first                    ? "may_not_be_cut"
                             : state->offered.empty() ? "nothing_old_enough"
                                                      : "does_not_pay_yet";
        if (first) with_draft([&](Draft& edit) { run.commit(edit, *first); });
        run.tell_kept();
    }
    if (turn.report.outcome != Outcome::undue || total <= turn.report.threshold) turn.report.reason = {};
    schedule.advance();
}

void Trimmer::after_model(HookTurn& turn) const {
    const std::shared_ptr<TrimmingState> state = state_of(turn);
    const std::lock_guard lock(state->mutex);
    if (!state->is_at_rest()) state->take(turn);
    EditSchedule::note_reply(turn);
}

bool Trimmer::on_overflow(HookTurn& turn, WithDraft with_draft) const {
    const std::shared_ptr<TrimmingState> state = state_of(turn);
    const std::lock_guard lock(state->mutex);
    return trim(turn, *state, INT64_MAX, with_draft);
}

/// Down to the target, oldest first. With a state of its own: what may not be touched this time may be the next.
bool Trimmer::compact_now(HookTurn& turn, WithDraft with_draft) const {
    TrimmingState state(config_, name_);
    return trim(turn, state, turn.tokens_above_target(), with_draft);
}

/// Until that many tokens are free.
bool Trimmer::trim(HookTurn& turn, TrimmingState& state, std::int64_t enough, WithDraft with_draft) const {
    state.take(turn);
    const EditScheduleConfig when = edit_schedule_of(*config_);
    EditSchedule schedule(turn, when);
    bool is_committed = false;
    TrimmingRun run(turn, state, schedule, name_);
    run.look(true);
    with_draft([&](Draft& edit) { is_committed = run.commit(edit, 0, enough).committed(); });
    return is_committed;
}

ToolOutcome Trimmer::wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) const {
    std::shared_ptr<TrimmingState> state;
    if (context.attachments) state = find_state(*context.attachments);
    return run_trimmed(*config_, name_, state.get(), context, out, next);
}

std::size_t planned_prefix(const Outline& outline, const NoteBook& notes) {
    const Note* const note = notes.find(EditSchedule::note_owner, "frozen_before");
    const auto* const serial = note == nullptr ? nullptr : std::get_if<std::int64_t>(&note->value);
    if (serial == nullptr) return 0;
    return EditSchedule::frozen_messages(outline, *serial);
}

}  // namespace whittle::inline v0::detail
