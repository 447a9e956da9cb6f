#include "../message/part_facts.hpp"
#include "repair_history.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

using Messages = std::vector<RepairedMessage>;

/// A message that has to stand behind calls.
struct BlockEntry {
    std::size_t key = 0;  ///< the first call that it answers
    bool is_last = false;
    bool was_there = false;
    RepairedMessage message{};
};

/// What has to stand right behind one message with calls.
struct Block {
    std::vector<BlockEntry> entries{};
    std::size_t highest = 0;  ///< key
    bool has_last = false;

    /// In call order, but without disturbing those that stand there already.
    void insert(BlockEntry entry) {
        const bool is_at_end = highest <= entry.key && (!has_last || entry.is_last);
        const auto goes_behind = [&](const BlockEntry& other) {
            return other.key > entry.key || (other.is_last && !entry.is_last);
        };
        const auto place = is_at_end ? entries.end() : std::ranges::find_if(entries, goes_behind);
        put(place, std::move(entry));
    }
    void put(std::vector<BlockEntry>::iterator place, BlockEntry entry) {
        highest = std::max(highest, entry.key);
        has_last = has_last || entry.is_last;
        entries.insert(place, std::move(entry));
    }
};
using Blocks = std::map<std::size_t, Block>;

/// The edits of a message in the order in which they are made.
RepairedMessage keep(const RepairHistory& h, std::size_t message) {
    const RepairHistory::Item& item = h.items[message];
    RepairedMessage kept{.role = h.outline[message].role, .source = message, .parts = item.edits};
    if (!item.edits.empty()) kept.code = item.edits.front().code;
    std::erase_if(kept.parts,
                  [&](const PartRepair& r) { return r.kind != PartRepair::Kind::erase && item.erased[r.part]; });
    const auto turn_of = [&](const PartRepair& r) {
        if (r.kind == PartRepair::Kind::media_text) return 4;  // may take away a part behind it
        if (r.kind != PartRepair::Kind::erase) return 0;
        const PartKind kind = h.outline[message].parts[r.part].kind;  // an emptied result goes with its last text
        return kind == PartKind::other ? 1 : kind == PartKind::media ? 2 : 3;
    };
    std::ranges::stable_sort(kept.parts, [&](const PartRepair& a, const PartRepair& b) {
        const int turn = turn_of(a);
        return turn != turn_of(b) ? turn < turn_of(b) : turn > 0 && a.part > b.part;
    });
    return kept;
}

BlockEntry entry_of(const RepairHistory& h, std::size_t message, bool was_there) {
    std::size_t key = h.calls.size();
    for (const std::size_t r : h.items[message].results) {
        if (h.results[r].call && !h.results[r].is_taken_out) key = std::min(key, *h.results[r].call);
    }
    return {key, h.holds_other(message), was_there, keep(h, message)};
}

/// A message of its own: a result that is written for a call, or what another message held.
BlockEntry new_entry_of(const RepairHistory& h, std::size_t c) {
    const RepairHistory::Call& call = h.calls[c];
    RepairedMessage message{.kind = RepairedMessage::Kind::result, .call_id = call.id, .tool = call.tool};
    if (!call.answer_code.empty()) {
        const RepairTexts& texts = repair_texts(h.options.language);
        message.code = call.answer_code;
        message.is_error = true;
        message.text = call.answer_code == "bad_arguments" ? texts.bad_arguments : texts.missing_result;
        return {c, false, false, std::move(message)};
    }
    message.code = "moved_result";
    bool has_media = false;
    const RepairHistory::Result& result = h.results[*call.result];
    for (const std::size_t p : result.parts) {
        const PartInfo& part = h.outline[result.message].parts[p];
        message.is_error = message.is_error || part.is_error;
        has_media = has_media || part.kind == PartKind::media;
        message.from.emplace_back(result.message, p);
    }
    // Media of a failed tool may stand beside its result, so other results go in front.
    return {c, h.results_first && message.is_error && has_media, false, std::move(message)};
}

/// By message with calls.
Blocks make_blocks(const RepairHistory& h) {
    Blocks blocks;
    const auto is_at_home = [&](std::size_t i) { return h.items[i].home == h.items[i].before_run; };
    for (std::size_t i = 0; i < h.items.size(); ++i) {
        if (!h.items[i].home || h.items[i].is_dropped || !is_at_home(i)) continue;
        Block& block = blocks[*h.items[i].home];
        block.put(block.entries.end(), entry_of(h, i, true));
    }
    for (auto& [home, block] : blocks) {
        if (!h.in_order || std::ranges::is_sorted(block.entries, {}, &BlockEntry::key)) continue;
        std::ranges::stable_sort(block.entries, {}, &BlockEntry::key);
        for (BlockEntry& entry : block.entries) entry.was_there = false;
    }
    for (std::size_t i = 0; i < h.items.size(); ++i) {
        if (h.items[i].home && !h.items[i].is_dropped && !is_at_home(i))
            blocks[*h.items[i].home].insert(entry_of(h, i, false));
    }
    for (std::size_t c = 0; c < h.calls.size(); ++c) {
        const RepairHistory::Call& call = h.calls[c];
        const bool is_taken_out = call.result && h.results[*call.result].is_taken_out;
        if (is_taken_out || !call.answer_code.empty()) blocks[call.message].insert(new_entry_of(h, c));
    }
    return blocks;
}

/// Each result behind its call.
Messages lay_out_results(RepairHistory& h) {
    Blocks blocks = make_blocks(h);
    Messages list;
    for (std::size_t i = 0; i < h.items.size(); ++i) {
        if (h.items[i].is_dropped || h.items[i].home) continue;
        list.push_back(keep(h, i));
        const auto block = blocks.find(i);
        if (block == blocks.end()) continue;
        for (BlockEntry& entry : block->second.entries) {
            RepairedMessage& message = entry.message;
            if (!entry.was_there && message.kind == RepairedMessage::Kind::kept) {
                message.is_moved = true;
                if (message.code.empty()) message.code = "moved_result";
            }
            if (!entry.was_there && message.code == "moved_result") {
                const std::size_t from = message.from.empty() ? message.source : message.from.front().first;
                h.note(from, 0, "moved_result", "a result now stands behind its call");
            }
            list.push_back(std::move(message));
        }
    }
    return list;
}

RepairedMessage spoken_by(Role role, std::string_view code, std::string_view text) {
    return {.kind = RepairedMessage::Kind::spoken, .role = role, .code = code, .text = std::string(text)};
}

/// A late system message goes to the front if there is none, and becomes a user message otherwise.
void put_system_first(RepairHistory& h, Messages& list) {
    const bool only_one = h.has(Rule::OC6_system_first);
    if (!only_one && !h.has(Rule::A1_system_first)) return;
    const auto is_system = [](const RepairedMessage& m) { return m.role == Role::system; };
    const auto note = [&](const RepairedMessage& m, std::string text) {
        h.note(m.source, 0, "late_system", std::move(text));
    };
    const auto spoken = std::ranges::find_if_not(list, is_system);
    auto leading = spoken - list.begin();
    const auto late = std::find_if(spoken, list.end(), is_system);
    if (leading == 0 && late != list.end()) {
        late->is_moved = true;
        late->code = "late_system";
        note(*late, "a system message now stands in front of the others");
        std::rotate(list.begin(), late, late + 1);
        leading = 1;
    }
    if (only_one) leading = std::min<std::ptrdiff_t>(leading, 1);
    const auto mute = std::remove_if(list.begin() + leading, list.end(), [&](const RepairedMessage& m) {
        const auto says = [](const PartInfo& p) { return p.kind == PartKind::text && p.text_bytes > 0; };
        if (!is_system(m) || std::ranges::any_of(h.outline[m.source].parts, says)) return false;
        note(m, "a late system message without text is left out");
        return true;
    });
    list.erase(mute, list.end());
    for (RepairedMessage& m : std::span(list).subspan(static_cast<std::size_t>(leading))) {
        if (!is_system(m)) continue;
        note(m, "a late system message becomes a user message");
        m = {.kind = RepairedMessage::Kind::spoken, .role = Role::user, .source = m.source, .code = "late_system"};
    }
}

/// Somebody has to have asked, and where the profile says so, before the assistant speaks.
void open_with_user(RepairHistory& h, Messages& list) {
    const auto spoken = std::ranges::find_if(list, [](const auto& m) { return m.role != Role::system; });
    const bool needs_first =
        h.has(Rule::OC6_alternation) || h.has(Rule::A1_user_first) || h.has(Rule::GM1_user_first_and_last);
    const bool is_late = needs_first && spoken != list.end() && spoken->role != Role::user;
    const auto is_word = [&](const RepairedMessage& m) {
        const auto is_own = [](const PartInfo& part) { return !is_result_part(part); };
        return m.role == Role::user && (m.kind != RepairedMessage::Kind::kept || h.any_left(m.source, is_own));
    };
    if (!is_late && (!h.has(Rule::G7_has_user) || std::ranges::any_of(list, is_word))) return;
    h.note_new("missing_user", "a user message is added in front");
    list.insert(spoken, spoken_by(Role::user, "missing_user", repair_texts(h.options.language).missing_user));
}

/// Whether the last that is left of a message is text that ends in white space.
bool ends_in_space(const RepairHistory& h, std::size_t message) {
    const MessageInfo& info = h.outline[message];
    for (std::size_t p = info.parts.size(); p-- > 0;) {
        if (h.is_left(message, p)) return info.parts[p].kind == PartKind::text && info.parts[p].ends_in_space;
    }
    return false;
}

void end_with_user(RepairHistory& h, Messages& list) {
    const auto last = std::find_if(list.rbegin(), list.rend(), [](const auto& m) { return m.role != Role::system; });
    if (!h.options.for_request || last == list.rend() || last->role != Role::assistant) return;
    const bool is_refused = h.has(Rule::OC6_last_role) || h.has(Rule::GM1_user_first_and_last);
    if (!is_refused && !(h.has(Rule::A5_prefill_trailing_space) && ends_in_space(h, last->source))) return;
    if (h.outline[last->source].has(PartKind::tool_call)) return;  // running
    h.note_new("last_role", "a user message is added, so that the assistant does not have the last word");
    list.push_back(spoken_by(Role::user, "last_role", repair_texts(h.options.language).go_on));
}

/// A word of the assistant stands between a tool's message and the user's, and between two of the user's.
void take_turns(RepairHistory& h, Messages& list) {
    if (!h.has(Rule::OC6_user_turns)) return;
    const auto holds_results = [&](const RepairedMessage& m) {
        return m.kind == RepairedMessage::Kind::kept && h.holds_results(m.source);
    };
    bool is_users_side = false;  // the last that spoke
    Messages in_turns;
    for (RepairedMessage& m : list) {
        const Role role = m.role;
        if (role == Role::user && is_users_side && !holds_results(m)) {
            h.note_new(bridge_reason, "a word of the assistant is added in front of the user's");
            in_turns.push_back(spoken_by(Role::assistant, bridge_reason, bridge_text(h.options.language)));
        }
        if (role != Role::system) is_users_side = role != Role::assistant;
        in_turns.push_back(std::move(m));
    }
    list = std::move(in_turns);
}

}  // namespace

Messages lay_out(RepairHistory& h) {
    Messages list = lay_out_results(h);
    put_system_first(h, list);
    open_with_user(h, list);
    end_with_user(h, list);
    take_turns(h, list);
    return list;
}

}  // namespace whittle::inline v0::detail
