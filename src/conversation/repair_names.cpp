#include "../message/validity_rules.hpp"
#include "repair_history.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace whittle::inline v0::detail {

namespace {

std::string valid_id(const RepairHistory& h, std::string_view id) {
    std::string valid(id);
    if (!is_valid_utf8(id) || (h.has(Rule::G8_names) && h.profile.call_id_alphabet))
        std::ranges::replace_if(
            valid, [](char c) { return !is_call_id_char(c); }, '_');
    if (!h.has(Rule::G8_names)) return valid;
    if (valid.empty()) valid = "call";
    if (h.profile.max_call_id > 0 && valid.size() > h.profile.max_call_id)
        valid = grapheme_prefix(valid, h.profile.max_call_id);
    return valid;
}

std::string valid_tool(const RepairHistory& h, std::string_view tool) {
    if (!h.has(Rule::G8_names)) return h.has(Rule::G1_utf8) ? to_valid_utf8(tool) : std::string(tool);
    if (tool.empty()) return "unnamed";
    std::string valid(tool);
    std::ranges::replace_if(
        valid, [&](char c) { return !is_tool_name_char(c, h.profile); }, '_');
    if (!starts_tool_name(valid.front(), h.profile)) valid.insert(0, 1, '_');
    if (h.profile.max_tool_name > 0 && valid.size() > h.profile.max_tool_name) valid.resize(h.profile.max_tool_name);
    return valid;
}

/// Which ids are in use.
class CallIds {
public:
    explicit CallIds(const RepairHistory& h) : longest_(h.profile.max_call_id) {
        for (std::size_t c = 0; c < h.calls.size(); ++c) {
            if (h.is_left(h.calls[c].message, h.calls[c].part)) add(h.calls[c].id, c);
        }
    }
    /// The first call keeps an id that is used again. `id`: kept by the history.
    void add(std::string_view id, std::size_t call) { first_.try_emplace(id, call); }
    [[nodiscard]] bool contains(std::string_view id) const { return first_.contains(id); }
    [[nodiscard]] bool keeps(std::size_t call, std::string_view id) const { return first_.at(id) == call; }
    /// `id` with the first number from 2 that makes it new.
    [[nodiscard]] std::string numbered(const std::string& id) {
        for (std::size_t& n = next_number_.try_emplace(id, 2).first->second;; ++n) {
            const std::string end = fmt::format("_{}", n);
            std::string_view front = id;
            if (longest_ > end.size()) front = grapheme_prefix(id, longest_ - end.size());
            std::string candidate = std::string(front) + end;
            if (!contains(candidate)) return candidate;
        }
    }

private:
    std::size_t longest_;                                         // in bytes; 0: no limit
    std::unordered_map<std::string_view, std::size_t> first_{};   // call of each id
    std::unordered_map<std::string, std::size_t> next_number_{};  // by id: numbers below are taken
};

void rename(RepairHistory& h, RepairHistory::Call& call, std::string_view id, std::string_view tool,
            std::string_view code) {
    const SharedString new_tool(call.tool == tool ? std::string_view() : tool);
    const std::string old = shown_id(call.id);
    call.id = id;
    call.tool = tool;
    const auto edit = [&](std::size_t message, std::size_t p) {
        h.items[message].edits.push_back({PartRepair::Kind::rename, p, code, call.id, new_tool});
    };
    edit(call.message, call.part);
    h.note(call.message, call.part, code,
           fmt::format("tool call \"{}\" becomes \"{}\" of tool \"{}\"", old, shown_id(id), shown_id(tool)));
    if (!call.result || h.results[*call.result].is_taken_out) return;
    const RepairHistory::Result& result = h.results[*call.result];
    for (const std::size_t p : result.parts) edit(result.message, p);
}

/// A result that names another tool than its call, where that matters. Its first part speaks for all of them.
void name_answer(RepairHistory& h, const RepairHistory::Call& call) {
    const bool is_renamed = call.tool != h.part_of(call).tool;
    if (!h.in_order || is_renamed || !call.result || h.results[*call.result].is_taken_out) return;
    const RepairHistory::Result& result = h.results[*call.result];
    const auto is_named_wrongly = [&](std::size_t p) {
        const SharedString& named = h.outline[result.message].parts[p].tool;
        return !named.empty() && named != call.tool;
    };
    if (!is_named_wrongly(result.parts.front())) return;
    for (const std::size_t p : result.parts) {
        if (!is_named_wrongly(p)) continue;
        h.items[result.message].edits.push_back({PartRepair::Kind::rename, p, "bad_tool_name", call.id, call.tool});
        h.note(result.message, p, "bad_tool_name",
               fmt::format("a result of tool \"{}\" names it", shown_id(call.tool)));
    }
}

}  // namespace

void mend_names(RepairHistory& h) {
    if (!h.abilities.renames_calls) return;
    CallIds ids(h);
    for (std::size_t c = 0; c < h.calls.size(); ++c) {
        RepairHistory::Call& call = h.calls[c];
        if (!h.is_left(call.message, call.part)) continue;
        std::string id = valid_id(h, call.id);
        const std::string tool = valid_tool(h, call.tool);
        const bool is_repeated = h.has(Rule::G3_unique_ids) && !ids.keeps(c, call.id);
        if (is_repeated || (call.id != id && ids.contains(id))) id = ids.numbered(id);
        const bool is_new = call.id != id;
        const std::string_view code = !is_new ? "bad_tool_name" : is_repeated ? "duplicate_id" : "bad_id";
        if (is_new || call.tool != tool) rename(h, call, id, tool, code);
        if (is_new) ids.add(call.id, c);
        name_answer(h, call);
    }
}

}  // namespace whittle::inline v0::detail
