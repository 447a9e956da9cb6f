#include "repair_history.hpp"

#include "../message/validity_rules.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
        "[Not run: the arguments were not a JSON object.]",
        "[The user's message is missing from the history.]",
        "Continue.",
        "[Media left out: this model takes only text in tool results.]",
        "Noted."};
    static constexpr RepairTexts chinese{"[没有结果：历史记录中缺少该结果。如有需要，请再次调用该工具。]",
                                         "[未执行：参数不是 JSON 对象。]",
                                         "[历史记录中缺少用户消息。]",
                                         "请继续。",
                                         "[已省略媒体内容：该模型的工具结果只接受文本。]",
                                         "好的。"};
    return language == Language::chinese ? chinese : english;
}

std::string_view bridge_text(Language language) noexcept { return repair_texts(language).bridge; }

std::string shown_id(std::string_view id) {
    constexpr std::size_t longest = 64;
    return to_valid_utf8(utf8_prefix(id, longest));
}

RepairHistory::RepairHistory(const Outline& outline, const ValidityProfile& profile, const RepairOptions& options,
                             MessagePort::Abilities abilities, const std::vector<Violation>& violations)
    : outline_(outline), profile_(profile), options_(options), abilities_(abilities), items_(outline.size()) {
    pairs_ = std::ranges::any_of(profile.rules, is_about_pairs);
    merges_ = has(Rule::A2_results_next) || has(Rule::A4_result_of_previous);
    in_order_ = has(Rule::GM3_responses_match);
    results_first_ = in_order_ || has(Rule::A3_results_first);
    for (std::size_t i = 0; i < outline.size(); ++i) items_[i].erased.resize(outline[i].parts.size());
    for (const Violation& v : violations) {
        if (v.message >= items_.size()) continue;
        items_[v.message].is_broken = true;
        if (is_about_pairs(v.rule)) items_[v.message].is_unpaired = true;
    }
}

RepairPlan RepairHistory::plan() {
    collect();
    pair();
    drop_stray_calls(find_clean_groups());
    drop_orphans();
    find_runs();  // a message that lost its results stands between others now
    find_homes(find_clean_groups());
    mend_parts();
    drop_empty();
    answer_missing();
    mend_names();
    RepairPlan plan{.messages = lay_out()};
    put_system_first(plan.messages);
    open_with_user(plan.messages);
    end_with_user(plan.messages);
    take_turns(plan.messages);
    if (repairs_.empty()) return {};
    std::ranges::stable_sort(repairs_, {}, [](const Repair& r) { return std::pair(r.serial, r.part); });
    plan.repairs = std::move(repairs_);
    return plan;
}

bool RepairHistory::has(Rule rule) const { return has_rule(profile_, rule); }

void RepairHistory::note(std::size_t message, std::size_t p, std::string_view code, std::string text) {
    if (items_[message].code.empty()) items_[message].code = code;
    repairs_.push_back({outline_[message].serial, p, code, std::move(text)});
}

void RepairHistory::note_new(std::string_view code, std::string text) {
    repairs_.push_back({0, 0, code, std::move(text)});
}

void RepairHistory::erase(std::size_t message, std::size_t p, std::string_view code) {
    if (items_[message].erased[p]) return;
    items_[message].erased[p] = true;
    items_[message].edits.push_back({PartRepair::Kind::erase, p, code, {}, {}});
    note(message, p, code, fmt::format("a {} part is left out", name_of(part(message, p).kind)));
}

void RepairHistory::mend_parts() {
    const auto running = running_call();
    for (std::size_t i = 0; i < outline_.size(); ++i) {
        if (items_[i].is_dropped || !items_[i].is_broken) continue;
        const bool has_results = holds_results(i);
        for (std::size_t p = 0; p < outline_[i].parts.size(); ++p) {
            if (is_left(i, p)) mend_part(i, p, has_results, running == i);
        }
    }
}

void RepairHistory::mend_part(std::size_t message, std::size_t p, bool holds_results, bool is_running) {
    const PartInfo& info = part(message, p);
    const auto edit = [&](PartRepair::Kind kind, std::string_view code, std::string text) {
        items_[message].edits.push_back({kind, p, code, {}, {}});
        note(message, p, code, std::move(text));
    };
    const bool is_text = info.kind == PartKind::text;
    const bool is_blank = (is_text && info.is_blank && has(Rule::A5_blank_text)) ||
                          (is_text && info.bytes == 0 && has(Rule::GM6_empty_parts));
    const bool is_garbled = info.is_invalid_utf8 && has(Rule::G1_utf8);
    if (is_blank) return erase(message, p, "blank_text");
    if (is_garbled && info.kind == PartKind::thinking) {  // never edited: all of the message goes
        for (std::size_t other = 0; other < outline_[message].parts.size(); ++other) {
            if (part(message, other).kind == PartKind::thinking) erase(message, other, "bad_utf8");
        }
        return;
    }
    if (is_garbled && info.kind == PartKind::other) return erase(message, p, "bad_utf8");
    if (is_garbled && info.bytes > 0 && (is_text || info.kind == PartKind::tool_result))  // else its id is: renamed
        edit(PartRepair::Kind::valid_utf8, "bad_utf8", "bytes that are not UTF-8 become U+FFFD");
    if (info.kind == PartKind::media && has(Rule::OC6_text_only_results) && holds_results)
        edit(PartRepair::Kind::media_text, "media_in_result", "media in a result become a sentence");
    const bool is_bad_call = info.kind == PartKind::tool_call && !info.has_object_arguments;
    if (is_bad_call && (has(Rule::G4_object_arguments) || is_garbled)) {
        if (is_running && !abilities_.makes_results) return;  // a tool may still run with them
        edit(PartRepair::Kind::empty_arguments, "bad_arguments", "arguments that are no JSON object become {}");
    }
}

/// Messages in which nothing is left, and replies without content where that is a rule.
void RepairHistory::drop_empty() {
    for (std::size_t i = 0; i < outline_.size(); ++i) {
        Item& item = items_[i];
        const bool is_edited = std::ranges::count(item.erased, true) > 0;
        const bool is_prefill = outline_[i].parts.empty() && i + 1 == outline_.size() && options_.for_request;
        if (item.is_dropped || (!item.is_broken && !is_edited && !is_prefill)) continue;
        bool has_part = false;
        bool has_content = false;
        for (std::size_t p = 0; p < outline_[i].parts.size(); ++p) {
            if (!is_left(i, p)) continue;
            const PartInfo& info = part(i, p);
            has_part = true;
            has_content =
                has_content || (info.kind == PartKind::text ? info.bytes > 0 : info.kind != PartKind::thinking);
        }
        const bool needs_part = is_edited || has(Rule::A5_blank_text) || has(Rule::GM6_empty_parts);
        const bool is_mute = outline_[i].role == Role::assistant && !has_content && has(Rule::OC3_content);
        if (!is_mute && (has_part || !needs_part)) continue;
        note(i, 0, "empty_message", "a message without content is left out");
        item.is_dropped = true;
    }
}

std::string RepairHistory::valid_id(std::string_view id) const {
    std::string valid(id);
    if (!is_valid_utf8(id) || (has(Rule::G8_names) && profile_.call_id_alphabet))
        std::ranges::replace_if(
            valid, [](char c) { return !is_call_id_char(c); }, '_');
    if (!has(Rule::G8_names)) return valid;
    if (valid.empty()) valid = "call";
    if (profile_.max_call_id > 0 && valid.size() > profile_.max_call_id)
        valid = utf8_prefix(valid, profile_.max_call_id);
    return valid;
}

std::string RepairHistory::valid_tool(std::string_view tool) const {
    if (!has(Rule::G8_names)) return has(Rule::G1_utf8) ? to_valid_utf8(tool) : std::string(tool);
    if (tool.empty()) return "unnamed";
    std::string valid(tool);
    std::ranges::replace_if(
        valid, [&](char c) { return !is_tool_name_char(c, profile_); }, '_');
    if (!starts_tool_name(valid.front(), profile_)) valid.insert(0, 1, '_');
    if (profile_.max_tool_name > 0 && valid.size() > profile_.max_tool_name) valid.resize(profile_.max_tool_name);
    return valid;
}

/// `id` with the first number from 2 that makes it new.
std::string RepairHistory::free_id(std::string_view id, const Ids& taken) {
    for (std::size_t& n = next_number_.try_emplace(std::string(id), 2).first->second;; ++n) {
        const std::string end = fmt::format("_{}", n);
        std::string_view front = id;
        if (profile_.max_call_id > end.size()) front = utf8_prefix(id, profile_.max_call_id - end.size());
        std::string candidate = std::string(front) + end;
        if (!taken.contains(candidate)) return candidate;
    }
}

void RepairHistory::mend_names() {
    if (!abilities_.renames_calls) return;
    Ids taken;  // the first call keeps an id that is used again
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        if (is_left(calls_[c].message, calls_[c].part)) taken[part(calls_[c]).call_id].push_back(c);
    }
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        Call& call = calls_[c];
        if (!is_left(call.message, call.part)) continue;
        const PartInfo& info = part(call);
        std::string id = valid_id(info.call_id);
        const bool is_repeated = has(Rule::G3_unique_ids) && taken.at(info.call_id).front() != c;
        if (is_repeated || (id != info.call_id && taken.contains(id))) id = free_id(id, taken);
        std::string tool = valid_tool(info.tool);
        const bool is_new_id = id != info.call_id;
        const std::string_view code = !is_new_id ? "bad_tool_name" : is_repeated ? "duplicate_id" : "bad_id";
        if (is_new_id || tool != info.tool) rename(call, std::move(id), std::move(tool), code);
        if (is_new_id) taken[call.new_id].push_back(c);
        name_answer(call);
    }
}

/// A result that names another tool than its call, where that matters. Its first part speaks for all of them.
void RepairHistory::name_answer(const Call& call) {
    if (!call.result || results_[*call.result].is_taken_out || !in_order_) return;
    const Result& result = results_[*call.result];
    const std::string tool = tool_of(call);
    const auto is_named_wrongly = [&](std::size_t p) {
        const SharedString& named = part(result.message, p).tool;
        return !named.empty() && named != tool;
    };
    if (!call.new_tool.empty() || !is_named_wrongly(result.parts.front())) return;
    for (const std::size_t p : result.parts) {
        if (!is_named_wrongly(p)) continue;
        items_[result.message].edits.push_back({PartRepair::Kind::rename, p, "bad_tool_name", id_of(call), tool});
        note(result.message, p, "bad_tool_name", fmt::format("a result of tool \"{}\" names it", shown_id(tool)));
    }
}

void RepairHistory::rename(Call& call, std::string id, std::string tool, std::string_view code) {
    const PartInfo& info = part(call);
    call.new_id = std::move(id);
    call.new_tool = tool == info.tool ? std::string() : std::move(tool);
    const auto edit = [&](std::size_t message, std::size_t p) {
        items_[message].edits.push_back({PartRepair::Kind::rename, p, code, call.new_id, call.new_tool});
        if (items_[message].code.empty()) items_[message].code = code;
    };
    edit(call.message, call.part);
    note(call.message, call.part, code,
         fmt::format("tool call \"{}\" becomes \"{}\" of tool \"{}\"", shown_id(info.call_id), shown_id(call.new_id),
                     shown_id(tool_of(call))));
    if (!call.result) return;
    const Result& result = results_[*call.result];
    if (!result.is_taken_out) std::ranges::for_each(result.parts, [&](std::size_t p) { edit(result.message, p); });
}

bool is_half_answered(const Outline& outline) {
    const auto call = outline.open_call();
    if (!call) return false;
    std::unordered_map<std::string_view, bool> is_answered;
    for (const PartInfo& part : outline[*call].parts) {
        if (part.kind == PartKind::tool_call) is_answered.emplace(part.call_id, false);
    }
    for (std::size_t i = *call + 1; i < outline.size(); ++i) {
        for (const PartInfo& part : outline[i].parts) {
            const auto answered = is_answered.find(part.call_id);
            if (is_result_part(part) && answered != is_answered.end()) answered->second = true;
        }
    }
    const auto is_done = [](const auto& entry) { return entry.second; };
    return std::ranges::any_of(is_answered, is_done) && !std::ranges::all_of(is_answered, is_done);
}

RepairPlan plan_repair(const Outline& outline, const std::vector<Violation>& violations, const ValidityProfile& profile,
                       const RepairOptions& options, MessagePort::Abilities abilities) {
    return RepairHistory(outline, profile, options, abilities, violations).plan();
}

}  // namespace whittle::inline v0::detail
