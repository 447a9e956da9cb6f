#include "../message/part_facts.hpp"
#include "repair_history.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

namespace whittle::inline v0::detail {

namespace {

/// Whether `p` is of the same result as what stands in front of it although it begins one: opaque parts in front of
/// the first text begin it too, and without an id media and opaque parts always say so.
bool continues(const RepairHistory::Result& result, const PartInfo& part, std::size_t p) {
    const bool needs_none = part.call_id.empty() && part.kind != PartKind::tool_result;
    return result.parts.back() + 1 == p && (needs_none || result.is_opaque);
}

void collect_results(RepairHistory& h, std::size_t message) {
    std::unordered_map<std::string_view, std::size_t> seen;
    const MessageInfo& info = h.outline[message];
    const bool has_copies = holds_copies_of_results(info);
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        const PartInfo& part = info.parts[p];
        if (!is_in_result(part) || (has_copies && part.kind == PartKind::media)) continue;
        const auto [place, is_new] = seen.try_emplace(part.call_id, h.results.size());
        if (is_new || (part.starts_new_result && !continues(h.results[place->second], part, p))) {
            place->second = h.results.size();
            h.items[message].results.push_back(h.results.size());
            h.results.push_back({.message = message, .id = part.call_id});
        }
        RepairHistory::Result& result = h.results[place->second];
        result.parts.push_back(p);
        result.is_opaque = result.is_opaque && part.kind == PartKind::other;
    }
}

void pair_up(RepairHistory& h, std::size_t result, std::size_t call) {
    h.results[result].call = call;
    h.calls[call].result = result;
}

/// A result answers a call of the message in front of its run, if that has one that waits.
void pair_with_run(RepairHistory& h) {
    std::unordered_map<std::size_t, std::unordered_map<std::string_view, std::vector<std::size_t>>> open;  // by message
    for (std::size_t c = h.calls.size(); c-- > 0;) open[h.calls[c].message][h.calls[c].id].push_back(c);
    for (std::size_t r = 0; r < h.results.size(); ++r) {
        const auto before = h.items[h.results[r].message].before_run;
        const auto calls = before ? open.find(*before) : open.end();
        if (calls == open.end()) continue;
        const auto waiting = calls->second.find(h.results[r].id);
        if (waiting == calls->second.end() || waiting->second.empty()) continue;
        pair_up(h, r, waiting->second.back());
        waiting->second.pop_back();
    }
}

/// The newest of the waiting calls that stands in the result's message or in front of it.
std::optional<std::size_t> find_earlier_call(const RepairHistory& h, std::size_t message,
                                             const std::set<std::size_t>& waiting) {
    const auto behind = std::ranges::upper_bound(h.calls, message, {}, &RepairHistory::Call::message);
    const auto next = waiting.lower_bound(static_cast<std::size_t>(behind - h.calls.begin()));
    return next == waiting.begin() ? std::nullopt : std::optional(*std::prev(next));
}

/// Results that stand elsewhere. One may answer a later call only if no other call has that id and the call is not
/// running: with ids that are used again it could be another round's.
void pair_displaced(RepairHistory& h) {
    std::unordered_map<std::string_view, std::size_t> uses;
    std::unordered_map<std::string_view, std::set<std::size_t>> open;  // without a result
    for (std::size_t c = 0; c < h.calls.size(); ++c) {
        ++uses[h.calls[c].id];
        if (!h.calls[c].result) open[h.calls[c].id].insert(c);
    }
    const auto running = h.running_call();
    const auto find_later = [&](std::string_view id, const std::set<std::size_t>& waiting) {
        const bool is_sure = !waiting.empty() && uses.at(id) == 1 && running != h.calls[*waiting.begin()].message;
        return is_sure ? std::optional(*waiting.begin()) : std::nullopt;
    };
    for (const bool is_later : {false, true}) {
        for (std::size_t r = 0; r < h.results.size(); ++r) {
            const RepairHistory::Result& result = h.results[r];
            const auto waiting = result.call ? open.end() : open.find(result.id);
            if (waiting == open.end()) continue;
            const auto call = is_later ? find_later(result.id, waiting->second)
                                       : find_earlier_call(h, result.message, waiting->second);
            if (!call) continue;
            pair_up(h, r, *call);
            waiting->second.erase(*call);
        }
    }
}

}  // namespace

void find_runs(RepairHistory& h) {
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < h.outline.size(); ++i) {
        if (h.items[i].is_dropped) continue;
        const bool is_of_run = h.outline[i].role == Role::tool || h.holds_results(i);
        (is_of_run ? h.items[i].before_run : before) = is_of_run ? before : i;
    }
}

void pair_results(RepairHistory& h) {
    for (std::size_t i = 0; i < h.outline.size(); ++i) {
        for (std::size_t p = 0; p < h.outline[i].parts.size(); ++p) {
            const PartInfo& part = h.outline[i].parts[p];
            if (part.kind == PartKind::tool_call)
                h.calls.push_back({.message = i, .part = p, .id = part.call_id, .tool = part.tool});
        }
        collect_results(h, i);
    }
    find_runs(h);
    pair_with_run(h);
    pair_displaced(h);
}

}  // namespace whittle::inline v0::detail
