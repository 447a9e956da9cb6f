#include "validity_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace whittle::inline v0 {
namespace {

/// The first index at or after `at` that holds no result message.
std::size_t end_of_results(const Outline& outline, std::size_t at) noexcept {
    while (at < outline.size() && is_result_message(outline[at])) ++at;
    return at;
}

void find_answered(const Outline& outline, std::size_t begin, std::size_t end, IdSet& ids) {
    ids.clear();
    for (std::size_t i = begin; i < end; ++i) {
        for (const PartInfo& part : outline[i].parts) {
            if (is_result_part(part)) ids.add(part.call_id);
        }
    }
    ids.sort();
}

void find_called(const MessageInfo& info, IdSet& ids) {
    ids.clear();
    for (const PartInfo& part : info.parts) {
        if (part.kind == PartKind::tool_call) ids.add(part.call_id);
    }
    ids.sort();
}

}  // namespace

void check_answers(const Outline& outline, std::size_t i, const IdSet& open, Findings& findings) {
    std::unordered_set<std::string_view> seen;
    const std::span<const PartInfo> parts = outline[i].parts;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const std::string_view id = parts[p].call_id;
        if (parts[p].kind != PartKind::tool_result || open.contains(id) || !seen.insert(id).second) continue;
        findings.add(i, p, fmt::format("the result for tool call {} does not stand right after its call", quoted(id)));
    }
    if (outline[i].role == Role::tool && std::ranges::none_of(parts, is_result_part)) {
        findings.add(i, 0, "a tool message answers no tool call");
    }
}

void check_results_follow(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    std::size_t current = outline.size();
    IdSet answered;
    bool running = false;
    for (const CallFact& call : facts.calls()) {
        if (call.message != current) {
            current = call.message;
            find_answered(outline, current + 1, end_of_results(outline, current + 1), answered);
            running = facts.is_running(current);
        }
        if (answered.contains(call.id) || (running && !call.result)) continue;
        findings.add(call.message, call.part,
                     fmt::format("the result of tool call {} does not follow directly", quoted(call.id)));
    }
}

void check_result_after_call(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    IdSet open;  // the calls that a result may answer here
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (is_result_message(outline[i])) {
            check_answers(outline, i, open, findings);
        } else {
            find_called(outline[i], open);
        }
    }
}

}  // namespace whittle::inline v0
