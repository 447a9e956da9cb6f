#include "repair_history.hpp"

#include "../message/part_facts.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

bool is_about_pairs(Rule rule) noexcept {
    using enum Rule;
    constexpr std::array rules{G2_paired,        OC1_results_follow,    OC2_result_after_call, A2_results_next,
                               A3_results_first, A4_result_of_previous, GM3_responses_match};
    return std::ranges::find(rules, rule) != rules.end();
}

}  // namespace

const RepairTexts& repair_texts(Language language) noexcept {
    static constexpr RepairTexts english{
        "[No result: it is missing from the history. Call the tool again if the result is needed.]",
        "[Not run: the arguments were not a JSON object.]", "[The user's message is missing from the history.]",
        "Continue.", "[Media left out: this model takes only text in tool results.]"};
    static constexpr RepairTexts chinese{"[没有结果：历史记录中缺少该结果。如有需要，请再次调用该工具。]",
                                         "[未执行：参数不是 JSON 对象。]", "[历史记录中缺少用户消息。]", "请继续。",
                                         "[已省略媒体内容：该模型的工具结果只接受文本。]"};
    return language == Language::chinese ? chinese : english;
}

std::string_view bridge_text(Language language) noexcept { return language == Language::chinese ? "好的。" : "Noted."; }

std::string shown_id(std::string_view id) {
    constexpr std::size_t longest = 64;
    return to_valid_utf8(grapheme_prefix(id, longest));
}

RepairHistory::RepairHistory(const Outline& of, const std::vector<Violation>& violations, const ValidityProfile& rules,
                             const RepairOptions& wanted, MessagePort::Abilities of_type)
    : outline(of), profile(rules), options(wanted), abilities(of_type), items(of.size()) {
    pairs = std::ranges::any_of(profile.rules, is_about_pairs);
    in_order = has(Rule::GM3_responses_match);
    results_first = in_order || has(Rule::A3_results_first);
    merges = has(Rule::A2_results_next) || has(Rule::A4_result_of_previous);
    for (std::size_t i = 0; i < outline.size(); ++i) items[i].erased.resize(outline[i].parts.size());
    for (const Violation& v : violations) {
        if (v.message_index >= items.size()) continue;
        items[v.message_index].is_broken = true;
        if (is_about_pairs(v.rule)) items[v.message_index].is_unpaired = true;
    }
}

bool RepairHistory::is_cut(std::size_t message) const {
    return std::ranges::find(items[message].erased, true) != items[message].erased.end();
}

bool RepairHistory::any_left(std::size_t message, FunctionRef<bool(const PartInfo&)> is_one) const {
    const MessageInfo& info = outline[message];
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (is_left(message, p) && is_one(info.parts[p])) return true;
    }
    return false;
}

bool RepairHistory::holds_results(std::size_t message) const {
    const auto is_result = [](const PartInfo& part) { return part.kind == PartKind::tool_result; };
    return outline[message].role != Role::assistant && any_left(message, is_result);
}

bool RepairHistory::holds_other(std::size_t message) const {
    return any_left(message, [&](const PartInfo& part) { return is_beside_results(outline[message], part); });
}

bool RepairHistory::holds_answer(std::size_t message) const {
    return std::ranges::any_of(items[message].results, [&](std::size_t r) { return results[r].call.has_value(); });
}

std::optional<std::size_t> RepairHistory::running_call() const {
    for (std::size_t i = outline.size(); i-- > 0;) {
        const MessageInfo& info = outline[i];
        if (items[i].is_dropped) continue;
        if (info.role == Role::assistant) return info.has(PartKind::tool_call) ? std::optional(i) : std::nullopt;
        const bool only_answers = info.role == Role::tool || (holds_results(i) && !holds_other(i));
        if (!only_answers && origin_of(info.mark) != Origin::repair) return std::nullopt;  // the user has spoken since
    }
    return std::nullopt;
}

std::optional<std::size_t> RepairHistory::half_answered_call() const {
    const auto running = running_call();
    if (!options.for_request || !abilities.makes_results || !pairs || !running) return std::nullopt;
    bool is_answered = false;
    bool is_waiting = false;
    for (const Call& call : calls) {
        if (call.message != *running || !is_left(call.message, call.part)) continue;
        (call.result || has_bad_arguments(call) ? is_answered : is_waiting) = true;
    }
    return is_answered && is_waiting ? running : std::nullopt;
}

bool RepairHistory::has_bad_arguments(const Call& call) const {
    return has(Rule::G4_object_arguments) && !part_of(call).has_object_arguments;
}

void RepairHistory::erase(std::size_t message, std::size_t part, std::string_view code) {
    if (items[message].erased[part]) return;
    items[message].erased[part] = true;
    items[message].edits.push_back({PartRepair::Kind::erase, part, code, {}, {}});
    note(message, part, code, fmt::format("a {} part is left out", to_string(outline[message].parts[part].kind)));
}

RepairPlan plan_repair(const Outline& outline, const std::vector<Violation>& violations, const ValidityProfile& profile,
                       const RepairOptions& options, MessagePort::Abilities abilities) {
    if (violations.empty() && (!options.for_request || !outline.open_round_begin())) return {};
    RepairHistory history(outline, violations, profile, options, abilities);
    pair_results(history);
    if (violations.empty() && !history.half_answered_call()) return {};
    place_results(history);
    mend_parts(history);
    answer_missing(history);
    mend_names(history);
    RepairPlan plan{.messages = lay_out(history)};
    if (history.repairs.empty()) return {};
    std::ranges::stable_sort(history.repairs, {}, [](const Repair& r) { return std::pair(r.serial, r.part); });
    plan.repairs = std::move(history.repairs);
    return plan;
}

}  // namespace whittle::inline v0::detail
