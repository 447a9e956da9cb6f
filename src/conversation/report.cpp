#include "whittle/conversation/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

std::string_view to_string(Hook hook) noexcept {
    switch (hook) {
        case Hook::before_agent: return "before_agent";
        case Hook::before_model: return "before_model";
        case Hook::wrap_model: return "wrap_model";
        case Hook::after_model: return "after_model";
        case Hook::wrap_tool: return "wrap_tool";
        case Hook::on_overflow: return "on_overflow";
        case Hook::after_agent: return "after_agent";
        case Hook::compact_now: return "compact_now";
    }
    return "unknown";
}

std::string_view to_string(Outcome outcome) noexcept {
    switch (outcome) {
        case Outcome::not_applicable: return "not_applicable";
        case Outcome::not_due: return "not_due";
        case Outcome::cooling_down: return "cooling_down";
        case Outcome::nothing: return "nothing";
        case Outcome::too_small: return "too_small";
        case Outcome::committed: return "committed";
        case Outcome::planned: return "planned";
        case Outcome::store_failed: return "store_failed";
        case Outcome::vetoed: return "vetoed";
        case Outcome::failed: return "failed";
    }
    return "unknown";
}

StageDetails& StageReport::ensure_details() {
    if (!details) details = std::make_shared<StageDetails>();
    return *details;
}

namespace {

void keep_candidates(StageDetails& details, std::string_view rule) noexcept {
    for (Candidate& candidate : details.candidates) {
        if (candidate.removed) candidate = {candidate.serial, candidate.part, false, rule, 0};
    }
}

}  // namespace

void detail::note_veto(StageReport& stage) noexcept {
    if (stage.details) keep_candidates(*stage.details, "vetoed");
}

void detail::take_back(StageReport& stage, std::string error) {
    stage.outcome = Outcome::failed;
    StageDetails& details = stage.ensure_details();
    details.error = std::move(error);
    details.tokens_before = details.tokens_after = 0;
    details.first_changed.reset();
    details.cached_tokens_invalidated = 0;
    keep_candidates(details, "failed");
    details.repairs.clear();
    details.violations_left = 0;
    details.thinking_prefix_edited = false;
    details.thinking_parts_dropped = 0;
}

void detail::take_back_commits(Report& report) {
    const std::string why = fmt::format("taken back, since \"{}\" failed", report.stages.back().middleware);
    for (StageReport& stage : report.stages) {
        if (stage.outcome == Outcome::committed) take_back(stage, why);
    }
    report.tokens_after = report.tokens_before;
}

bool Report::changed() const noexcept {
    return std::ranges::any_of(stages, [](const StageReport& s) { return s.outcome == Outcome::committed; });
}

const StageReport* Report::find(std::string_view middleware) const noexcept {
    const auto found = std::ranges::find(stages, middleware, &StageReport::middleware);
    return found == stages.end() ? nullptr : &*found;
}

namespace {

/// What the reasons of our stages mean; empty for those of others.
std::string_view meaning_of(std::string_view reason) noexcept {
    if (reason == "does_not_pay_yet")
        return "cutting does not pay yet, since the provider would have to read all that stands behind the cut again";
    if (reason == "nothing_old_enough") return "nothing is old enough to be cut";
    if (reason == "may_not_be_cut") return "what is old enough may not be cut";
    if (reason == "looked_at_already") return "this call was looked at before";
    return {};
}

std::string text_of_not_due(const StageReport& stage) {
    if (stage.count <= stage.threshold)
        return stage.threshold > 0 ? "not due: not above its limit" : "not due: nothing for it to do";
    if (stage.not_due_reason.empty())
        return stage.threshold > 0 ? "not due" : "not due: no limit is set, or its window is not known";
    const std::string_view meaning = meaning_of(stage.not_due_reason);
    return fmt::format("above its limit, but not due: {}", meaning.empty() ? stage.not_due_reason : meaning);
}

}  // namespace

std::string outcome_text(const StageReport& stage) {
    switch (stage.outcome) {
        case Outcome::not_applicable: return "nothing to do in this hook";
        case Outcome::not_due: return text_of_not_due(stage);
        case Outcome::cooling_down: return "not tried again: the last try freed too little, and little has come since";
        case Outcome::nothing: return "due, but there is nothing that it may take";
        case Outcome::too_small: return "due, but it would free less than it is asked for";
        case Outcome::committed: return "committed";
        case Outcome::planned: return "planned, in a dry run";
        case Outcome::store_failed: return "nothing done, since the store failed";
        case Outcome::vetoed: return "vetoed: the host said no";
        case Outcome::failed: return "failed";
    }
    return "unknown";
}

namespace {

using NameMessage = std::function<std::string(Serial)>;

void append_details(std::string& text, const StageDetails& details, const NameMessage& name_message) {
    if (!details.error.empty()) text += fmt::format("    error: {}\n", details.error);
    if (details.tokens_before != details.tokens_after) {
        text += fmt::format("    {} -> {} tokens", details.tokens_before, details.tokens_after);
        if (details.first_changed) text += fmt::format(", first change at message {}", *details.first_changed);
        text += fmt::format(", {} cached tokens invalidated, {} bytes stored\n", details.cached_tokens_invalidated,
                            details.bytes_stored);
    }
    for (const Candidate& c : details.candidates) {
        text +=
            fmt::format("    {} part {}: {} ({})", name_message(c.serial), c.part, c.removed ? "cut" : "kept", c.rule);
        text += c.removed ? fmt::format(", {} tokens\n", c.tokens_freed) : "\n";
    }
    for (const Repair& r : details.repairs)
        text += fmt::format("    {}: {} ({})\n", r.serial == 0 ? "the list" : name_message(r.serial), r.description,
                            r.code);
    if (details.violations_left > 0) text += fmt::format("    {} rules are still broken\n", details.violations_left);
    if (details.thinking_parts_dropped > 0)
        text += fmt::format("    {} thinking parts dropped\n", details.thinking_parts_dropped);
    if (details.thinking_prefix_edited) text += "    kept thinking is bound to what was edited\n";
    for (const StoreFailure& f : details.store_failures) text += fmt::format("    store \"{}\": {}\n", f.key, f.reason);
}

}  // namespace

std::string to_text(const Report& report, const NameMessage& name_message) {
    std::string text =
        fmt::format("{}: {} -> {} tokens\n", to_string(report.hook), report.tokens_before, report.tokens_after);
    for (const StageReport& stage : report.stages) {
        if (stage.outcome == Outcome::not_applicable) continue;
        text += fmt::format("  {}: {} (count {}, limit {}, {})\n", stage.middleware, outcome_text(stage), stage.count,
                            stage.threshold, stage.counter);
        if (stage.details) append_details(text, *stage.details, name_message);
    }
    return text;
}

std::string to_text(const Report& report) {
    return to_text(report, [](Serial serial) { return fmt::format("serial {}", serial); });
}

}  // namespace whittle::inline v0
