#include "whittle/trimming/detail/trimmer.hpp"

#include "trimming_run.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view cache_prefix = "trimming:";

EditScheduleConfig edit_schedule_of(const TrimmingSettings& settings) noexcept {
    return {.start_tokens = settings.config.start_tokens,
            .keep_rounds = settings.config.keep_rounds,
            .first_calls = settings.rules.first_calls,
            .force_above_window_fraction = settings.config.force_above_window_fraction};
}

std::vector<EditOffer> offers_of(TrimmingState& state) {
    constexpr std::uint64_t most_parts = 100'000;
    std::vector<EditOffer> offers;
    for (const TrimPlace& place : state.open_places()) {
        const TrimPart& part = state.at(place);
        if (!part.candidate) continue;
        offers.push_back({.message = place.first,
                          .id = state.messages()[place.first].serial * most_parts + place.second % most_parts,
                          .tokens_now = part.tokens,
                          .tokens_then = *part.candidate});
    }
    return offers;
}

void report_kept(TrimmingRun& run) {
    for (const TrimPlace& place : run.state.open_places()) {
        if (run.state.at(place).candidate) run.report(place, false, "does_not_pay_yet", 0);
    }
}

}  // namespace

Trimmer::Trimmer(TrimmingSettings settings, std::string name)
    : settings_(std::make_shared<const TrimmingSettings>(std::move(settings))), name_(std::move(name)) {}

/// That of these settings; null: there is none, or one of another.
std::shared_ptr<TrimmingState> Trimmer::find_state(const ConversationCaches& caches) const {
    auto state = std::static_pointer_cast<TrimmingState>(caches.find(std::string(cache_prefix) + name_));
    return state != nullptr && state->settings == settings_ ? state : nullptr;
}

std::shared_ptr<TrimmingState> Trimmer::state_of(HookTurn& turn) const {
    std::shared_ptr<TrimmingState> state = find_state(turn.caches());
    if (state != nullptr) return state;
    state = std::make_shared<TrimmingState>(settings_, name_);
    turn.caches().set(std::string(cache_prefix) + name_, state);
    return state;
}

void Trimmer::before_model(HookTurn& turn, WithDraft with_draft) const {
    const std::shared_ptr<TrimmingState> state = state_of(turn);
    const std::lock_guard lock(state->mutex);
    turn.report.threshold = config().start_tokens;
    turn.report.outcome = Outcome::not_due;
    const std::int64_t total = turn.report.count = state->request_tokens = turn.context_tokens();
    const EditScheduleConfig when = edit_schedule_of(*settings_);
    EditSchedule schedule(turn, when);
    if (state->is_idle() && !schedule.is_at_edge(total)) return schedule.advance();
    state->take(turn);
    turn.report.not_due_reason = "looked_at_already";
    if (schedule.is_new_call()) {
        state->is_valid = false;  // until all is done
        const bool is_pause =
            (schedule.is_cold() && total > cold_start_of(config().start_tokens)) || schedule.is_at_edge(total);
        TrimmingRun run(turn, *state, schedule, is_pause);
        find_candidates(run);
        const std::vector<EditOffer> offers = offers_of(*state);
        const auto tokens = [&](std::size_t begin, std::size_t end) { return state->tokens(begin, end); };
        const auto first = schedule.decide(offers, total, tokens, name_);
        state->is_valid = true;
        turn.report.not_due_reason = first            ? "may_not_be_cut"
                                     : offers.empty() ? "nothing_old_enough"
                                                      : "does_not_pay_yet";
        if (first) {
            find_candidates_behind(run, *first);
            with_draft([&](Draft& edit) { commit_candidates(run, edit, *first, INT64_MAX); });
        }
        if (turn.config.explain) report_kept(run);
    }
    if (turn.report.outcome != Outcome::not_due || total <= turn.report.threshold) turn.report.not_due_reason = {};
    schedule.advance();
}

void Trimmer::after_model(HookTurn& turn) const {
    const std::shared_ptr<TrimmingState> state = state_of(turn);
    const std::lock_guard lock(state->mutex);
    if (!state->is_idle()) state->take(turn);
    EditSchedule::note_reply(turn);
}

bool Trimmer::on_overflow(HookTurn& turn, WithDraft with_draft) const {
    const std::shared_ptr<TrimmingState> state = state_of(turn);
    const std::lock_guard lock(state->mutex);
    return trim(turn, *state, INT64_MAX, with_draft);
}

/// Down to the target, oldest first. With a state of its own: what may not be touched this time may be the next.
bool Trimmer::compact_now(HookTurn& turn, WithDraft with_draft) const {
    TrimmingState state(settings_, name_);
    return trim(turn, state, turn.tokens_above_target(), with_draft);
}

/// Until that many tokens are free.
bool Trimmer::trim(HookTurn& turn, TrimmingState& state, std::int64_t enough, WithDraft with_draft) const {
    state.take(turn);
    const EditScheduleConfig when = edit_schedule_of(*settings_);
    EditSchedule schedule(turn, when);
    TrimmingRun run(turn, state, schedule, true);
    find_candidates(run);
    bool is_committed = false;
    with_draft([&](Draft& edit) { is_committed = commit_candidates(run, edit, 0, enough).committed(); });
    return is_committed;
}

ToolOutcome Trimmer::wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) const {
    std::shared_ptr<TrimmingState> state;
    if (context.caches) state = find_state(*context.caches);
    return run_trimmed(config(), name_, state.get(), context, out, next);
}

std::size_t planned_prefix(const Outline& outline, const NoteBook& notes) {
    const Note* const note = notes.find(EditSchedule::note_owner, "frozen_before");
    const auto* const serial = note == nullptr ? nullptr : std::get_if<std::int64_t>(&note->value);
    if (serial == nullptr) return 0;
    return EditSchedule::frozen_messages(outline, *serial);
}

}  // namespace whittle::inline v0::detail
