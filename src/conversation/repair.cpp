#include "whittle/conversation/detail/repair.hpp"

#include "repaired_list.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// A message type may not let go of a part, such as an opaque one.
bool changes_content(const SideTable& side, const MessagePort::Replacement& replacement) {
    const auto same = [](const MessagePort::Copied& copy, const MessageInfo& old) {
        return copy.info->fingerprint == old.fingerprint;
    };
    return std::ranges::any_of(replacement.stretches, [&](const MessagePort::Stretch& s) {
        return !std::ranges::equal(std::span(replacement.copies).subspan(s.begin, s.end - s.begin),
                                   std::span(side.infos).subspan(s.first, s.count), same);
    });
}

void report_repair(const RepairResult& result, const SideTable& side, std::size_t column, StageReport* report) {
    if (report == nullptr) return;
    report->outcome = result.outcome;
    if (result.outcome == Outcome::undue) return;
    StageDetails& details = report->more();
    details.violations_left = static_cast<std::int64_t>(result.remaining.size());
    if (result.outcome == Outcome::nothing) return;
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    details.repairs = result.repairs;
    details.cached_tokens_invalidated = side.sent_tokens_from(*result.first_changed, column);
}

}  // namespace

RepairResult mend(SideTable& side, MessagePort& port, std::size_t column, const ValidityProfile& profile,
                  const RepairOptions& options, const EditEnvironment& environment) {
    RepairResult result{.remaining = validate(side.outline(), profile), .tokens_before = side.columns[column].messages};
    result.tokens_after = result.tokens_before;
    report_repair(result, side, column, environment.report);
    if (result.remaining.empty() && !(options.for_request && is_half_answered(side.outline()))) return result;
    RepairPlan plan = plan_repair(side.outline(), result.remaining, profile, options, port.abilities);
    result.outcome = Outcome::nothing;
    report_repair(result, side, column, environment.report);
    if (plan.repairs.empty()) return result;

    const Timestamp now = environment.clock->now();
    RepairedList list(side, port, profile, options.language, now);
    Overlay overlay(side, port, column);
    overlay.show(list.make(plan.messages));
    const MessagePort::Replacement replacement = overlay.replacement();
    if (!changes_content(side, replacement)) return result;
    for (const MessagePort::Copied& copy : replacement.copies) side.names.assign_to(*copy.info);

    const std::string_view reason = plan.repairs.front().code;
    result = {.outcome = environment.dry_run ? Outcome::planned : Outcome::committed,
              .repairs = std::move(plan.repairs),
              .remaining = validate(overlay.outline(), profile),
              .tokens_before = result.tokens_before,
              .tokens_after = overlay.tokens(),
              .first_changed = replacement.stretches.front().first};
    report_repair(result, side, column, environment.report);
    if (environment.dry_run) return result;
    require_budget(environment, repair_name, 0);
    JournalRecord record = side.new_record(JournalRecord::Kind::edit, std::string(repair_name), std::string(reason));
    record.when = now;
    record.tokens_before = result.tokens_before;
    record.tokens_after = result.tokens_after;
    const bool is_prefix_edit = port.commit(replacement, std::move(record));
    side.counters.next_serial = std::max(side.counters.next_serial, list.next_serial());
    if (environment.report != nullptr)
        environment.report->details->prefix_edited = environment.on_prefix_edit && is_prefix_edit;
    return result;
}

}  // namespace whittle::inline v0::detail
