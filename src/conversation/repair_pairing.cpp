#include "repair_history.hpp"

#include "../message/part_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace whittle::inline v0::detail {

bool RepairHistory::is_left(std::size_t message, std::size_t p) const {
    return !items_[message].is_dropped && !items_[message].erased[p];
}

bool RepairHistory::is_beside(std::size_t message, std::size_t p) const {
    return is_beside_results(outline_[message], part(message, p));
}

bool RepairHistory::holds_results(std::size_t message) const {
    const MessageInfo& info = outline_[message];
    if (info.role == Role::assistant || items_[message].is_dropped) return false;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (info.parts[p].kind == PartKind::tool_result && is_left(message, p)) return true;
    }
    return false;
}

void RepairHistory::collect() {
    for (std::size_t i = 0; i < outline_.size(); ++i) {
        for (std::size_t p = 0; p < outline_[i].parts.size(); ++p) {
            if (part(i, p).kind == PartKind::tool_call) calls_.push_back({.message = i, .part = p});
        }
        collect_results(i);
    }
    find_runs();
}

void RepairHistory::collect_results(std::size_t message) {
    std::unordered_map<std::string_view, std::size_t> seen;
    const MessageInfo& info = outline_[message];
    const bool has_copies = holds_copies_of_results(info);
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (!is_in_result(info.parts[p]) || (has_copies && info.parts[p].kind == PartKind::media)) continue;
        const auto [place, is_new] = seen.try_emplace(info.parts[p].call_id, results_.size());
        if (is_new || (info.parts[p].starts_result && !continues(results_[place->second], p))) {
            place->second = results_.size();
            items_[message].results.push_back(results_.size());
            results_.push_back({.message = message});
        }
        Result& result = results_[place->second];
        result.parts.push_back(p);
        result.is_opaque = result.is_opaque && info.parts[p].kind == PartKind::other;
    }
}

/// Whether `p` is of the same result as what stands in front of it although it begins one: opaque parts in front of
/// the first text begin it too, and without an id media and opaque parts always say so.
bool RepairHistory::continues(const Result& result, std::size_t p) const {
    if (result.parts.back() + 1 != p) return false;
    const PartInfo& info = part(result.message, p);
    if (info.call_id.empty() && info.kind != PartKind::tool_result) return true;
    return result.is_opaque;
}

void RepairHistory::find_runs() {
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < outline_.size(); ++i) {
        if (items_[i].is_dropped) continue;
        if (outline_[i].role == Role::tool || holds_results(i)) {
            items_[i].before_run = before;
        } else {
            before = i;
        }
    }
}

/// A result answers a call of the message in front of its run if that has one; else see `find_call`.
void RepairHistory::pair() {
    std::unordered_map<std::size_t, Ids> open_of;  // by message, newest first
    for (std::size_t c = calls_.size(); c-- > 0;) open_of[calls_[c].message][part(calls_[c]).call_id].push_back(c);
    for (std::size_t r = 0; r < results_.size(); ++r) {
        const auto before = items_[results_[r].message].before_run;
        const auto open = before ? open_of.find(*before) : open_of.end();
        if (open == open_of.end()) continue;
        const auto waiting = open->second.find(part(results_[r].message, results_[r].parts.front()).call_id);
        if (waiting == open->second.end() || waiting->second.empty()) continue;
        results_[r].call = waiting->second.back();
        waiting->second.pop_back();
        calls_[*results_[r].call].result = r;
    }
    pair_displaced();
}

void RepairHistory::pair_displaced() {
    std::unordered_map<std::string_view, std::size_t> uses;
    OpenCalls open;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        ++uses[part(calls_[c]).call_id];
        if (!calls_[c].result) open[part(calls_[c]).call_id].insert(c);
    }
    const auto running = running_call();
    for (const bool is_later : {false, true}) {
        for (std::size_t r = 0; r < results_.size(); ++r) {
            if (results_[r].call) continue;
            const auto waiting = open.find(part(results_[r].message, results_[r].parts.front()).call_id);
            if (waiting == open.end()) continue;
            const bool is_only = uses.at(waiting->first) == 1;
            results_[r].call = is_later ? find_later_call(waiting->second, is_only, running)
                                        : find_call(results_[r].message, waiting->second);
            if (!results_[r].call) continue;
            calls_[*results_[r].call].result = r;
            waiting->second.erase(*results_[r].call);
        }
    }
}

/// The newest of the waiting calls that stands in the result's message or in front of it.
std::optional<std::size_t> RepairHistory::find_call(std::size_t result, const std::set<std::size_t>& waiting) const {
    const auto behind = std::ranges::upper_bound(calls_, result, {}, &Call::message);
    const auto next = waiting.lower_bound(static_cast<std::size_t>(behind - calls_.begin()));
    return next == waiting.begin() ? std::nullopt : std::optional(*std::prev(next));
}

/// A later one only if no other call has that id and the call is not running: with ids that are used again it could be
/// another round's.
std::optional<std::size_t> RepairHistory::find_later_call(const std::set<std::size_t>& waiting, bool is_only,
                                                          std::optional<std::size_t> running) const {
    if (waiting.empty() || !is_only) return std::nullopt;
    const std::size_t later = *waiting.begin();
    return running == calls_[later].message ? std::nullopt : std::optional(later);
}

/// By message with calls: whether neither it nor a result of its calls breaks a rule about pairs, and the results stand
/// right behind it, or behind its merged run where nothing will be put into that. From the newest call, since an
/// earlier one of the run depends on it.
std::vector<bool> RepairHistory::find_clean_groups() const {
    std::vector<bool> clean(outline_.size(), true);
    if (const auto due = half_answered_call()) clean[*due] = false;
    std::vector<std::size_t> run_end(outline_.size());  // the last message of one run with each; made from the end
    std::size_t made = outline_.size();
    const auto joins = [&](std::size_t i) {  // a run that began in front of it
        return i < outline_.size() && (items_[i].is_dropped || (outline_[i].role == Role::assistant && clean[i]));
    };
    for (std::size_t c = calls_.size(); c-- > 0;) {
        const Call& call = calls_[c];
        for (; made > call.message; --made) run_end[made - 1] = joins(made) ? run_end[made] : made - 1;
        const bool is_sound =
            !is_out_of_place(call.message, Role::assistant) &&
            (!call.result || is_sound_answer(results_[*call.result].message, call.message, run_end[call.message]));
        if (!is_sound) clean[call.message] = false;
    }
    return clean;
}

bool RepairHistory::is_out_of_place(std::size_t message, Role usual) const {
    const Item& item = items_[message];
    return item.is_unpaired || (item.is_broken && outline_[message].role != usual);
}

/// `run_end`: the last message that the provider reads as one with `call`, and still does when repaired: no result
/// comes in between, and no system message becomes one of the user.
bool RepairHistory::is_sound_answer(std::size_t message, std::size_t call, std::size_t run_end) const {
    const Role role = outline_[message].role;
    if (role == Role::system) return false;
    if (is_out_of_place(message, role == Role::user ? Role::user : Role::tool)) return false;
    const std::optional<std::size_t> before = items_[message].before_run;
    return before == call || (before && *before > call && merges_ && *before <= run_end);
}

void RepairHistory::drop_stray_calls(const std::vector<bool>& clean) {
    for (Call& call : calls_) {
        if (outline_[call.message].role == Role::assistant || clean[call.message]) continue;
        erase(call.message, call.part, "stray_call");
        if (call.result) results_[*call.result].call.reset();
        call.result.reset();
    }
}

void RepairHistory::drop_orphans() {
    std::unordered_map<std::string_view, bool> known;
    for (const Call& call : calls_) known[part(call).call_id] = true;
    for (const Result& result : results_) {
        if (result.call || !pairs_) continue;
        const SharedString& id = part(result.message, result.parts.front()).call_id;
        for (const std::size_t p : result.parts)
            erase(result.message, p, known.contains(id) ? "duplicate_result" : "orphan_result");
    }
    for (std::size_t i = 0; i < outline_.size(); ++i) {
        const bool is_emptied = std::ranges::count(items_[i].erased, true) > 0;
        const bool is_wrong = items_[i].is_unpaired || is_emptied;
        if (outline_[i].role != Role::tool || !is_wrong || holds_results(i)) continue;
        const bool is_kept = std::ranges::any_of(items_[i].results, [&](std::size_t r) { return !!results_[r].call; });
        if (is_kept) continue;
        if (items_[i].code.empty()) note(i, 0, "empty_message", "a tool message without a result is left out");
        items_[i].is_dropped = true;
    }
}

void RepairHistory::find_homes(const std::vector<bool>& clean) {
    for (std::size_t i = 0; i < outline_.size(); ++i) {
        if (!items_[i].results.empty() && !items_[i].is_dropped) find_home(i, clean);
    }
}

void RepairHistory::find_home(std::size_t message, const std::vector<bool>& clean) {
    Item& item = items_[message];
    const auto home_of = [&](std::size_t r) { return calls_[*results_[r].call].message; };
    std::vector<std::size_t> paired;
    std::ranges::copy_if(item.results, std::back_inserter(paired), [&](std::size_t r) { return !!results_[r].call; });
    if (paired.empty() || std::ranges::all_of(paired, [&](std::size_t r) { return clean[home_of(r)]; })) return;
    std::size_t home = home_of(paired.front());
    for (const std::size_t r : paired) {
        if (home_of(r) == item.before_run) home = *item.before_run;
    }
    const bool splits = must_split(message, home);
    for (const std::size_t r : paired) {
        if (splits || home_of(r) != home) take_out(r);
    }
    if (splits) {
        if (outline_[message].role == Role::tool) item.is_dropped = true;
    } else {
        item.home = home;
    }
}

/// Whether what a message holds cannot stay together.
bool RepairHistory::must_split(std::size_t message, std::size_t home) const {
    const MessageInfo& info = outline_[message];
    if (!abilities_.makes_results) return false;
    if (info.role == Role::assistant || info.role == Role::system) return true;
    bool has_other = false;
    bool is_late = false;
    std::size_t newest = 0;
    bool is_sorted = true;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (!is_left(message, p)) continue;
        has_other = has_other || is_beside(message, p);
        is_late = is_late || (has_other && is_in_result(info.parts[p]));
    }
    for (const std::size_t r : items_[message].results) {
        if (!results_[r].call) continue;
        is_sorted = is_sorted && *results_[r].call >= newest;
        newest = *results_[r].call;
    }
    if (in_order_ && (has_other || !is_sorted)) return true;
    if (!has_other) return false;
    const bool is_last = message + 1 == outline_.size() || !is_result_message(outline_[message + 1]);
    return items_[message].before_run != home || (results_first_ && (is_late || !is_last));
}

void RepairHistory::take_out(std::size_t r) {
    if (!abilities_.makes_results) return;
    results_[r].is_taken_out = true;
    for (const std::size_t p : results_[r].parts) {
        items_[results_[r].message].erased[p] = true;
        items_[results_[r].message].edits.push_back({PartRepair::Kind::erase, p, "moved_result", {}, {}});
    }
    if (items_[results_[r].message].code.empty()) items_[results_[r].message].code = "moved_result";
}

/// Results and nothing else: the user has not spoken since the call.
bool RepairHistory::only_answers(std::size_t message) const {
    if (outline_[message].role == Role::tool) return true;
    if (!holds_results(message)) return false;
    for (std::size_t p = 0; p < items_[message].erased.size(); ++p) {
        if (is_left(message, p) && is_beside(message, p)) return false;
    }
    return true;
}

/// The message whose calls are running: nothing but results and repairs stand behind it.
std::optional<std::size_t> RepairHistory::running_call() const {
    for (std::size_t i = outline_.size(); i-- > 0;) {
        if (items_[i].is_dropped) continue;
        if (outline_[i].role == Role::assistant) {
            return outline_[i].has(PartKind::tool_call) ? std::optional(i) : std::nullopt;
        }
        if (!only_answers(i) && origin_of(outline_[i].mark) != Origin::repair) return std::nullopt;
    }
    return std::nullopt;
}

/// A call that this repair answers even while it runs.
bool RepairHistory::has_bad_arguments(const Call& call) const {
    return has(Rule::G4_object_arguments) && !part(call).has_object_arguments;
}

/// The message whose running calls a request comes too early for: some have a result or get one here, but not all.
std::optional<std::size_t> RepairHistory::half_answered_call() const {
    const auto running = running_call();
    if (!options_.for_request || !abilities_.makes_results || !pairs_ || !running) return std::nullopt;
    bool is_answered = false;
    bool is_waiting = false;
    for (const Call& call : calls_) {
        if (call.message != *running || !is_left(call.message, call.part)) continue;
        (call.result || has_bad_arguments(call) ? is_answered : is_waiting) = true;
    }
    return is_answered && is_waiting ? running : std::nullopt;
}

void RepairHistory::answer_missing() {
    if (!abilities_.makes_results || !pairs_) return;
    const auto running = running_call();
    const bool is_due = half_answered_call().has_value();
    for (Call& call : calls_) {
        if (call.result || items_[call.message].is_dropped || !is_left(call.message, call.part)) continue;
        const bool is_wrong = has_bad_arguments(call);
        const bool is_running = running == call.message;
        if (is_running && !is_wrong && !is_due) continue;
        call.answer_code = is_running && is_wrong ? "bad_arguments" : "missing_result";
        note(call.message, call.part, call.answer_code,
             fmt::format("tool call \"{}\" has no result; one is added that says so", shown_id(part(call).call_id)));
    }
}

}  // namespace whittle::inline v0::detail
