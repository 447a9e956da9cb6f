#include "validity_rules.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace whittle::inline v0 {
namespace {

template <typename Wrong>
void for_each_part(const Outline& outline, Wrong&& visit) {
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (std::size_t p = 0; p < outline[i].parts.size(); ++p) visit(i, p, outline[i].parts[p]);
    }
}

void check_utf8(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    for_each_part(facts.outline(), [&](std::size_t i, std::size_t p, const PartInfo& part) {
        if (!part.is_invalid_utf8) return;
        findings.add(i, p, fmt::format("a {} part is not valid UTF-8", to_string(part.kind)));
    });
}

void check_paired(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    for (const CallFact& call : facts.calls()) {
        if (call.result || call.message == facts.open_round_begin()) continue;
        findings.add(call.message, call.part, fmt::format("tool call {} has no result", quoted(call.id)));
    }
    for (const ResultFact& result : facts.results()) {
        if (!result.call) {
            findings.add(result.message, result.part,
                         fmt::format("the result for tool call {} has no call before it", quoted(result.id)));
        } else if (result.is_second) {
            findings.add(result.message, result.part,
                         fmt::format("tool call {} has a second result", quoted(result.id)));
        }
    }
}

void check_unique_ids(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    for (const CallFact& call : facts.calls()) {
        if (!call.is_repeated) continue;
        findings.add(call.message, call.part, fmt::format("tool call id {} was used before", quoted(call.id)));
    }
}

void check_object_arguments(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    for (const CallFact& call : facts.calls()) {
        if (facts.outline()[call.message].parts[call.part].has_object_arguments) continue;
        findings.add(call.message, call.part,
                     fmt::format("the arguments of tool call {} are no JSON object", quoted(call.id)));
    }
}

void check_has_user(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    const auto speaks = [](const PartInfo& part) { return !is_result_part(part); };
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (outline[i].role == Role::user && std::ranges::any_of(outline[i].parts, speaks)) return;
    }
    findings.add_for_list(outline.size() == 0 ? "the list is empty" : "the list has no user message");
}

bool is_tool_name(std::string_view name, const ValidityProfile& profile) noexcept {
    const auto is_allowed = [&](char c) { return is_tool_name_char(c, profile); };
    return !name.empty() && name.size() <= profile.max_tool_name && std::ranges::all_of(name, is_allowed);
}

/// What is wrong with the name or the id of a call, or empty.
std::string naming_problem(const PartInfo& call, const ValidityProfile& profile) {
    if (!is_tool_name(call.tool, profile)) {
        return fmt::format("tool name {} is not 1 to {} of [A-Za-z0-9_{}-]", quoted(call.tool), profile.max_tool_name,
                           profile.more_tool_name_characters);
    }
    if (!starts_tool_name(call.tool.view().front(), profile)) {
        return fmt::format("tool name {} does not start with a letter or _", quoted(call.tool));
    }
    if (call.call_id.empty()) return fmt::format("a call of tool {} has no id", quoted(call.tool));
    if (profile.max_call_id != 0 && call.call_id.size() > profile.max_call_id) {
        return fmt::format("tool call id {} is longer than {} bytes", quoted(call.call_id), profile.max_call_id);
    }
    if (profile.call_id_alphabet && !std::ranges::all_of(call.call_id.view(), is_call_id_char)) {
        return fmt::format("tool call id {} has characters outside [A-Za-z0-9_-]", quoted(call.call_id));
    }
    return {};
}

void check_names(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings) {
    for (const CallFact& call : facts.calls()) {
        std::string problem = naming_problem(facts.outline()[call.message].parts[call.part], profile);
        if (!problem.empty()) findings.add(call.message, call.part, std::move(problem));
    }
}

/// Once for each tool, at its first call.
void check_tools_defined(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    if (!facts.tools()) return;
    std::unordered_set<std::string_view> known;
    for (const ToolSpec& tool : *facts.tools()) known.insert(tool.name);
    for (const CallFact& call : facts.calls()) {
        const std::string_view tool = facts.outline()[call.message].parts[call.part].tool;
        if (known.insert(tool).second)
            findings.add(call.message, call.part, fmt::format("tool {} is not in the request", quoted(tool)));
    }
}

/// What middlewares write in place of messages, or beside them, must not pass for the model's own words.
void check_no_invented_claim(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const auto is_ours = [](const Mark& mark) {
        const Origin origin = origin_of(mark);
        return origin == Origin::summary || origin == Origin::skills || origin == Origin::attachment ||
               origin == Origin::nudge;
    };
    for_each_part(facts.outline(), [&](std::size_t i, std::size_t p, const PartInfo&) {
        const MessageInfo& info = facts.outline()[i];
        const Mark& mark = mark_of(info, p);
        if (info.role != Role::assistant || !is_ours(mark)) return;
        findings.add(i, p, fmt::format("a {} speaks as the assistant", to_string(mark->origin)));
    });
}

void check_content(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const auto is_content = [](const PartInfo& part) {
        return part.kind == PartKind::text ? part.text_bytes > 0 : part.kind != PartKind::thinking;
    };
    const Outline& outline = facts.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (outline[i].role != Role::assistant || std::ranges::any_of(outline[i].parts, is_content)) continue;
        findings.add(i, 0, "an assistant message has neither text nor tool calls");
    }
}

void check_last_role(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    if (outline.size() == 0) return;
    const std::size_t last = outline.size() - 1;
    const Role role = outline[last].role;
    if (role == Role::user || role == Role::tool) return;
    findings.add(last, 0, fmt::format("the last message has role {}, not user or tool", to_string(role)));
}

/// Once equal neighbours are merged, two sides always alternate: what is left to break is who begins.
void check_alternation(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const Role role = outline[i].role;
        if (role == Role::system) continue;
        if (role != Role::user)
            findings.add(i, 0, fmt::format("the first speaker has role {}, not user", to_string(role)));
        return;
    }
}

void check_system_first(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    for (std::size_t i = 1; i < outline.size(); ++i) {
        if (outline[i].role != Role::system) continue;
        findings.add(i, 0, "a system message stands after the first message");
    }
}

void check_user_turns(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    const MessageInfo* before = nullptr;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        if (info.role == Role::system) continue;
        const bool speaks = info.role == Role::user && !is_result_message(info);
        if (speaks && before != nullptr && is_result_message(*before)) {
            findings.add(i, 0, "a user message stands right behind a tool message");
        } else if (speaks && before != nullptr && before->role == Role::user) {
            findings.add(i, 0, "two user messages stand in a row");
        }
        before = &info;
    }
}

void check_text_only_results(const HistoryFacts& facts, const ValidityProfile&, Findings& findings) {
    const Outline& outline = facts.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (!is_result_message(outline[i])) continue;
        for (std::size_t p = 0; p < outline[i].parts.size(); ++p) {
            const PartInfo& part = outline[i].parts[p];
            if (part.kind != PartKind::media) continue;
            findings.add(i, p, fmt::format("the result of tool call {} holds media", quoted(part.call_id)));
        }
    }
}

constexpr std::array<RuleRow, 32> rows{{
    {Rule::G1_utf8, "G1", Severity::refused, check_utf8},
    {Rule::G2_paired, "G2", Severity::refused, check_paired},
    {Rule::G3_unique_ids, "G3", Severity::refused, check_unique_ids},
    {Rule::G4_object_arguments, "G4", Severity::refused, check_object_arguments},
    {Rule::G6_no_invented_claim, "G6", Severity::silent, check_no_invented_claim},
    {Rule::G7_has_user, "G7", Severity::refused, check_has_user},
    {Rule::G8_names, "G8", Severity::refused, check_names},
    {Rule::G9_tools_defined, "G9", Severity::refused, check_tools_defined},
    {Rule::G11_images, "G11.images", Severity::refused, check_images},
    {Rule::G11_request_bytes, "G11.request_bytes", Severity::refused, check_request_bytes},
    {Rule::OC1_results_follow, "OC1", Severity::refused, check_results_follow},
    {Rule::OC2_result_after_call, "OC2", Severity::refused, check_result_after_call},
    {Rule::OC3_content, "OC3", Severity::refused, check_content},
    {Rule::OC6_last_role, "OC6.last_role", Severity::refused, check_last_role},
    {Rule::OC6_alternation, "OC6.alternation", Severity::refused, check_alternation},
    {Rule::OC6_system_first, "OC6.system_first", Severity::refused, check_system_first},
    {Rule::OC6_text_only_results, "OC6.text_only_results", Severity::refused, check_text_only_results},
    {Rule::OC6_user_turns, "OC6.user_turns", Severity::refused, check_user_turns},
    {Rule::A1_user_first, "A1", Severity::refused, check_user_first},
    {Rule::A1_system_first, "A1.system_first", Severity::silent, check_system_in_front},
    {Rule::A2_results_next, "A2", Severity::refused, check_results_next},
    {Rule::A3_results_first, "A3", Severity::refused, check_results_first},
    {Rule::A4_result_of_previous, "A4", Severity::refused, check_result_of_previous},
    {Rule::A5_blank_text, "A5", Severity::refused, check_blank_text},
    {Rule::A5_prefill_trailing_space, "A5.prefill", Severity::refused, check_prefill},
    {Rule::A6_thinking_before_calls, "A6", Severity::refused, check_thinking_order},
    {Rule::A7_thinking_first, "A7", Severity::refused, check_thinking_first},
    {Rule::A10_images, "A10", Severity::refused, check_images},
    {Rule::GM1_user_first_and_last, "GM1", Severity::refused, check_turns},
    {Rule::GM2_call_after_user, "GM2", Severity::refused, check_call_after_user},
    {Rule::GM3_responses_match, "GM3", Severity::refused, check_responses_match},
    {Rule::GM6_empty_parts, "GM6", Severity::refused, check_empty_parts},
}};

}  // namespace

std::span<const RuleRow> rule_table() noexcept { return rows; }

bool is_call_id_char(char c) noexcept { return detail::is_alnum(c) || c == '_' || c == '-'; }

bool is_tool_name_char(char c, const ValidityProfile& profile) noexcept {
    return is_call_id_char(c) || profile.more_tool_name_characters.find(c) != std::string::npos;
}

bool starts_tool_name(char c, const ValidityProfile& profile) noexcept {
    return !profile.tool_name_starts_as_identifier || detail::is_letter(c) || c == '_';
}

std::string quoted(std::string_view id) {
    constexpr std::size_t longest = 64;
    const std::string_view shown = grapheme_prefix(id, longest);
    return fmt::format("\"{}{}\"", to_valid_utf8(shown), shown.size() < id.size() ? "..." : "");
}

}  // namespace whittle::inline v0
