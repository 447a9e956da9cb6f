#include "validity_rules.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {
namespace {

void find_ids(const Outline& outline, const Run& run, bool (*is_wanted)(const PartInfo&), IdSet& ids) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
        for (const PartInfo& part : outline[i].parts) {
            if (is_wanted(part)) ids.add(part.call_id);
        }
    }
    ids.sort();
}

bool is_call(const PartInfo& part) noexcept { return part.kind == PartKind::tool_call; }

/// Whether a result begins at that part, and does not only go on.
bool begins_result(const MessageInfo& info, std::size_t p, bool has_copies) noexcept {
    const PartInfo& part = info.parts[p];
    if (!is_in_result(part) || (has_copies && part.kind == PartKind::media)) return false;
    return p == 0 || !is_in_result(info.parts[p - 1]) || info.parts[p - 1].call_id != part.call_id;
}

/// The results of a message behind content of its own; true if such content is in front of the next message.
bool check_results_lead(const Outline& outline, std::size_t i, bool is_late, Findings& findings) {
    const MessageInfo& info = outline[i];
    const bool has_copies = holds_copies_of_results(info);
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        is_late = is_late || is_beside_results(info, info.parts[p]);
        if (!is_late || !begins_result(info, p, has_copies)) continue;
        findings.add(
            i, p,
            fmt::format("the result for tool call {} stands behind other content", quoted(info.parts[p].call_id)));
    }
    return is_late;
}

}  // namespace

void check_user_first(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const std::vector<Run> runs = merged_runs(facts.outline());
    if (!runs.empty() && runs.front().is_assistant)
        findings.add(runs.front().begin, 0, "the first speaker is the assistant, not the user");
}

void check_system_in_front(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    bool has_spoken = false;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (outline[i].role != Role::system) {
            has_spoken = true;
        } else if (has_spoken) {
            findings.add(i, 0, "a system message stands behind other messages");
        }
    }
}

void check_results_next(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    const std::vector<Run> runs = merged_runs(outline);
    std::size_t run = 0;
    std::size_t answered_behind = runs.size();
    IdSet answered;
    for (const CallFact& call : facts.calls()) {
        while (run < runs.size() && runs[run].end <= call.message) ++run;
        if (run == runs.size() || call.message < runs[run].begin || !runs[run].is_assistant) continue;
        if (answered_behind != run) {
            answered.clear();
            if (run + 1 < runs.size()) find_ids(outline, runs[run + 1], is_result_part, answered);
            answered_behind = run;
        }
        if (answered.contains(call.id) || (!call.result && facts.is_running(call.message))) continue;
        findings.add(call.message, call.part,
                     fmt::format("the result of tool call {} is not in the next message", quoted(call.id)));
    }
}

void check_results_first(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    for (const Run& run : merged_runs(outline)) {
        if (run.is_assistant) continue;
        bool is_late = false;
        for (std::size_t i = run.begin; i < run.end; ++i) {
            if (outline[i].role != Role::system) is_late = check_results_lead(outline, i, is_late, findings);
        }
    }
}

void check_result_of_previous(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    IdSet open;
    for (const Run& run : merged_runs(outline)) {
        if (run.is_assistant) {
            open.clear();
            find_ids(outline, run, is_call, open);
            continue;
        }
        for (std::size_t i = run.begin; i < run.end; ++i) {
            if (outline[i].role != Role::system) check_answers(outline, i, open, findings);
        }
    }
}

void check_blank_text(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        const bool needs_content = info.role == Role::user || (info.role == Role::assistant && i + 1 < outline.size());
        if (info.parts.empty() && needs_content) findings.add(i, 0, "a message has no content");
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (info.parts[p].kind != PartKind::text || !info.parts[p].is_blank) continue;
            findings.add(i, p,
                         info.parts[p].text_bytes == 0 ? "a text part is empty" : "a text part is only white space");
        }
    }
}

void check_prefill(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    if (outline.size() == 0) return;
    const std::size_t last = outline.size() - 1;
    const std::span<const PartInfo> parts = outline[last].parts;
    if (outline[last].role != Role::assistant || parts.empty()) return;
    const PartInfo& end = parts.back();
    if (end.kind != PartKind::text || end.is_blank || !end.ends_in_space) return;
    findings.add(last, parts.size() - 1, "the last assistant message ends in white space");
}

void check_thinking_order(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    bool has_called = false;
    for (std::size_t i = outline.open_loop_begin().value_or(outline.size()); i < outline.size(); ++i) {
        if (outline[i].role == Role::system) continue;
        has_called = has_called && outline[i].role == Role::assistant;
        for (std::size_t p = 0; p < outline[i].parts.size(); ++p) {
            const PartKind kind = outline[i].parts[p].kind;
            has_called = has_called || kind == PartKind::tool_call;
            if (kind == PartKind::thinking && has_called)
                findings.add(i, p, "thinking stands behind a call in the open tool loop");
        }
    }
}

void check_thinking_first(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const std::optional<std::size_t> first = facts.outline().open_loop_begin();
    if (first && !starts_with_thinking(facts.outline()[*first]))
        findings.add(*first, 0, "the open tool loop does not start with thinking");
}

}  // namespace whittle::inline v0
