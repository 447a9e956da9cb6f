#include "../message/part_facts.hpp"
#include "repair_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace whittle::inline v0::detail {

namespace {

bool is_out_of_place(const RepairHistory& h, std::size_t message, Role usual) {
    const RepairHistory::Item& item = h.items[message];
    return item.is_unpaired || (item.is_broken && h.outline[message].role != usual);
}

/// `run_end`: the last message that the provider reads as one with `call`, and still does when repaired: no result
/// comes in between, and no system message becomes one of the user.
bool is_sound_answer(const RepairHistory& h, std::size_t message, std::size_t call, std::size_t run_end) {
    const Role role = h.outline[message].role;
    if (role == Role::system || is_out_of_place(h, message, role == Role::user ? Role::user : Role::tool)) return false;
    const std::optional<std::size_t> before = h.items[message].before_run;
    return before == call || (before && *before > call && h.merges && *before <= run_end);
}

/// By message with calls: whether neither it nor a result of its calls breaks a rule about pairs, and the results stand
/// right behind it, or behind its merged run where nothing will be put into that. From the newest call, since an
/// earlier one of the run depends on it.
std::vector<bool> find_clean_groups(const RepairHistory& h) {
    std::vector<bool> clean(h.outline.size(), true);
    if (const auto due = h.half_answered_call()) clean[*due] = false;
    std::vector<std::size_t> run_end(h.outline.size());  // the last message of one run with each; made from the end
    std::size_t made = h.outline.size();
    const auto joins = [&](std::size_t i) {  // a run that began in front of it
        return i < h.outline.size() && (h.items[i].is_dropped || (h.outline[i].role == Role::assistant && clean[i]));
    };
    for (std::size_t c = h.calls.size(); c-- > 0;) {
        const std::size_t message = h.calls[c].message;
        const auto result = h.calls[c].result;
        for (; made > message; --made) run_end[made - 1] = joins(made) ? run_end[made] : made - 1;
        const bool is_sound = !is_out_of_place(h, message, Role::assistant) &&
                              (!result || is_sound_answer(h, h.results[*result].message, message, run_end[message]));
        if (!is_sound) clean[message] = false;
    }
    return clean;
}

/// Calls that somebody else than the assistant makes.
void drop_stray_calls(RepairHistory& h) {
    const std::vector<bool> clean = find_clean_groups(h);
    for (RepairHistory::Call& call : h.calls) {
        if (h.outline[call.message].role == Role::assistant || clean[call.message]) continue;
        h.erase(call.message, call.part, "stray_call");
        if (call.result) h.results[*call.result].call.reset();
        call.result.reset();
    }
}

/// Results without a call, and tool messages without a result.
void drop_orphans(RepairHistory& h) {
    std::unordered_set<std::string_view> known;
    for (const RepairHistory::Call& call : h.calls) known.insert(call.id);
    for (const RepairHistory::Result& result : h.results) {
        if (result.call || !h.pairs) continue;
        const std::string_view code = known.contains(result.id) ? "duplicate_result" : "orphan_result";
        for (const std::size_t p : result.parts) h.erase(result.message, p, code);
    }
    for (std::size_t i = 0; i < h.outline.size(); ++i) {
        const bool is_cut = h.is_cut(i);
        const bool is_wrong = h.outline[i].role == Role::tool && (h.items[i].is_unpaired || is_cut);
        if (!is_wrong || h.holds_results(i) || h.holds_answer(i)) continue;
        if (!is_cut) h.note(i, 0, "empty_message", "a tool message without a result is left out");
        h.items[i].is_dropped = true;
    }
}

/// Whether what a message holds cannot stay together.
bool must_split(const RepairHistory& h, std::size_t message, std::size_t home) {
    const MessageInfo& info = h.outline[message];
    if (!h.abilities.makes_results) return false;
    if (info.role == Role::assistant || info.role == Role::system) return true;
    bool has_other = false;
    bool is_late = false;  // a result stands behind other content
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (!h.is_left(message, p)) continue;
        has_other = has_other || is_beside_results(info, info.parts[p]);
        is_late = is_late || (has_other && is_in_result(info.parts[p]));
    }
    std::vector<std::size_t> calls;
    for (const std::size_t r : h.items[message].results) {
        if (h.results[r].call) calls.push_back(*h.results[r].call);
    }
    if (h.in_order && (has_other || !std::ranges::is_sorted(calls))) return true;
    if (!has_other) return false;
    const bool is_last = message + 1 == h.outline.size() || !is_result_message(h.outline[message + 1]);
    return h.items[message].before_run != home || (h.results_first && (is_late || !is_last));
}

void take_out(RepairHistory& h, RepairHistory::Result& result) {
    if (!h.abilities.makes_results) return;
    result.is_taken_out = true;
    RepairHistory::Item& item = h.items[result.message];
    for (const std::size_t p : result.parts) {
        item.erased[p] = true;
        item.edits.push_back({PartRepair::Kind::erase, p, "moved_result", {}, {}});
    }
}

void find_home(RepairHistory& h, std::size_t message, const std::vector<bool>& clean) {
    RepairHistory::Item& item = h.items[message];
    const auto home_of = [&](std::size_t r) { return h.calls[*h.results[r].call].message; };
    std::vector<std::size_t> paired;
    std::ranges::copy_if(item.results, std::back_inserter(paired), [&](std::size_t r) { return !!h.results[r].call; });
    if (std::ranges::all_of(paired, [&](std::size_t r) { return clean[home_of(r)]; })) return;
    std::size_t home = home_of(paired.front());
    if (std::ranges::any_of(paired, [&](std::size_t r) { return home_of(r) == item.before_run; }))
        home = *item.before_run;
    const bool splits = must_split(h, message, home);
    for (const std::size_t r : paired) {
        if (splits || home_of(r) != home) take_out(h, h.results[r]);
    }
    if (!splits) item.home = home;
    if (splits && h.outline[message].role == Role::tool) item.is_dropped = true;
}

}  // namespace

void place_results(RepairHistory& h) {
    drop_stray_calls(h);
    drop_orphans(h);
    find_runs(h);  // a message that lost its results stands between others now
    const std::vector<bool> clean = find_clean_groups(h);
    for (std::size_t i = 0; i < h.items.size(); ++i) {
        if (!h.items[i].is_dropped) find_home(h, i, clean);
    }
}

void answer_missing(RepairHistory& h) {
    if (!h.abilities.makes_results || !h.pairs) return;
    const auto running = h.running_call();
    const bool is_due = h.half_answered_call().has_value();
    for (RepairHistory::Call& call : h.calls) {
        if (call.result || !h.is_left(call.message, call.part)) continue;
        const bool is_wrong = h.has_bad_arguments(call);
        const bool is_running = running == call.message;
        if (is_running && !is_wrong && !is_due) continue;
        call.answer_code = is_running && is_wrong ? "bad_arguments" : "missing_result";
        h.note(call.message, call.part, call.answer_code,
               fmt::format("tool call \"{}\" has no result; one is added that says so", shown_id(call.id)));
    }
}

}  // namespace whittle::inline v0::detail
