#include "whittle/conversation/detail/repair.hpp"

#include "draft_state.hpp"
#include "repaired_list.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

namespace {

/// A message type may not let go of a part, such as an opaque one.
bool changes_content(const detail::SideTable& side, const detail::MessagePort::Replacement& replacement) {
    const auto is_same = [](const detail::MessagePort::Copied& copy, const MessageInfo& old) {
        return copy.info->fingerprint == old.fingerprint;
    };
    return std::ranges::any_of(replacement.stretches, [&](const detail::MessagePort::Stretch& s) {
        return !std::ranges::equal(std::span(replacement.copies).subspan(s.begin, s.end - s.begin),
                                   std::span(side.infos).subspan(s.first, s.count), is_same);
    });
}

void report_repair(const RepairResult& result, const detail::DraftContext& context) {
    if (context.env.report == nullptr) return;
    context.env.report->outcome = result.outcome;
    if (result.outcome == Outcome::not_due) return;
    StageDetails& details = context.env.report->ensure_details();
    details.violations_left = static_cast<std::int64_t>(result.remaining.size());
    if (!result.first_changed) return;
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    details.repairs = result.repairs;
    details.cached_tokens_invalidated = context.side.sent_tokens_from(*result.first_changed, context.column);
}

}  // namespace

RepairResult Draft::repair(const ValidityProfile& profile, const RepairOptions& options) {
    const detail::DraftContext& context = state_->context;
    detail::SideTable& side = context.side;
    RepairResult result{.remaining = validate(side.outline(), profile),
                        .tokens_before = context.tokens_before,
                        .tokens_after = context.tokens_before};
    detail::RepairPlan plan =
        detail::plan_repair(side.outline(), result.remaining, profile, options, state_->port->abilities);
    if (!result.remaining.empty() || !plan.repairs.empty()) result.outcome = Outcome::nothing;
    report_repair(result, context);
    if (plan.repairs.empty()) return result;

    const UnixMillis now = context.env.clock->now();
    detail::RepairedList list(side, *state_->port, profile, options.language, now);
    state_->overlay.show(list.make(plan.messages));
    const detail::MessagePort::Replacement replacement = state_->overlay.replacement();
    if (!changes_content(side, replacement)) return result;
    for (const detail::MessagePort::Copied& copy : replacement.copies) side.names.assign_to(*copy.info);

    const std::string_view reason = plan.repairs.front().code;
    result.outcome = context.env.dry_run ? Outcome::planned : Outcome::committed;
    result.repairs = std::move(plan.repairs);
    result.remaining = validate(outline(), profile);
    result.tokens_after = tokens_after();
    result.first_changed = replacement.stretches.front().first;
    report_repair(result, context);
    if (context.env.dry_run) return result;
    detail::require_budget(context.env, context.by, 0);
    JournalRecord record = side.new_record(JournalRecord::Kind::edit, context.by, std::string(reason));
    record.when = now;
    record.tokens_before = result.tokens_before;
    record.tokens_after = result.tokens_after;
    const bool is_prefix_edit = state_->port->commit(replacement, std::move(record));
    side.counters.next_serial = std::max(side.counters.next_serial, list.next_serial());
    if (context.env.report != nullptr)
        context.env.report->details->thinking_prefix_edited = context.env.thinking_on_prefix_edit && is_prefix_edit;
    return result;
}

}  // namespace whittle::inline v0
