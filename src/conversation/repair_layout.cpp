#include "repair_history.hpp"

#include "../message/part_facts.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

RepairedMessage RepairHistory::keep(std::size_t message) const {
    const Item& item = items_[message];
    RepairedMessage kept{.source = message, .parts = item.edits};
    if (!item.edits.empty()) kept.code = item.edits.front().code;
    const auto is_erased = [](const PartRepair& r) { return r.kind == PartRepair::Kind::erase; };
    const auto turn_of = [&](const PartRepair& r) {  // text in place of media may take away a part behind it
        return is_erased(r) ? 1 : r.kind == PartRepair::Kind::media_text ? 2 : 0;
    };
    std::erase_if(kept.parts, [&](const PartRepair& r) { return !is_erased(r) && item.erased[r.part]; });
    const auto place_of = [&](const PartRepair& r) {
        const PartKind kind = part(message, r.part).kind;
        return kind == PartKind::other ? 0 : kind == PartKind::media ? 1 : 2;
    };
    std::ranges::stable_sort(kept.parts, [&](const PartRepair& a, const PartRepair& b) {
        if (turn_of(a) != turn_of(b)) return turn_of(a) < turn_of(b);
        if (turn_of(a) == 0) return false;
        if (is_erased(a) && place_of(a) != place_of(b))
            return place_of(a) < place_of(b);  // an emptied result goes with its last text
        return a.part > b.part;
    });
    return kept;
}

/// A result written for `call`.
RepairedMessage RepairHistory::answer(const Call& call) {
    const RepairTexts& texts = repair_texts(options_.language);
    return {.kind = RepairedMessage::Kind::result,
            .code = call.answer_code,
            .call_id = id_of(call),
            .tool = tool_of(call),
            .is_error = true,
            .text = std::string(call.answer_code == "bad_arguments" ? texts.bad_arguments : texts.missing_result)};
}

/// A message of its own for what another message held.
RepairedMessage RepairHistory::take_over(const Result& result) const {
    const Call& call = calls_[*result.call];
    RepairedMessage message{
        .kind = RepairedMessage::Kind::result, .code = "moved_result", .call_id = id_of(call), .tool = tool_of(call)};
    for (const std::size_t p : result.parts) {
        message.is_error = message.is_error || part(result.message, p).is_error;
        message.from.emplace_back(result.message, p);
    }
    return message;
}

/// Media of a failed tool may stand beside its result, so other results go in front.
RepairHistory::BlockEntry RepairHistory::take_over_entry(std::size_t call) const {
    const Result& result = results_[*calls_[call].result];
    const bool has_media = std::ranges::any_of(
        result.parts, [&](std::size_t p) { return part(result.message, p).kind == PartKind::media; });
    RepairedMessage message = take_over(result);
    const bool is_last = results_first_ && message.is_error && has_media;
    return {call, is_last, false, std::move(message)};
}

/// In call order, but without disturbing those that stand there already.
void RepairHistory::insert_into(Block& block, BlockEntry entry) const {
    const bool is_at_end = block.highest <= entry.key && (!block.has_last || entry.is_last);
    if (is_at_end) return block.push_back(std::move(entry));
    const auto place = std::ranges::find_if(block.entries, [&](const BlockEntry& other) {
        return other.key > entry.key || (other.is_last && !entry.is_last);
    });
    block.has_last = block.has_last || entry.is_last;
    block.highest = std::max(block.highest, entry.key);
    block.entries.insert(place, std::move(entry));
}

/// By message with calls: what has to stand right behind it.
std::map<std::size_t, RepairHistory::Block> RepairHistory::make_blocks() {
    std::map<std::size_t, Block> blocks;
    const auto key_of = [&](std::size_t message) {
        std::size_t key = calls_.size();
        for (const std::size_t r : items_[message].results) {
            if (results_[r].call && !results_[r].is_taken_out) key = std::min(key, *results_[r].call);
        }
        return key;
    };
    const auto entry_for = [&](std::size_t i, bool was_there) {
        const auto& parts = outline_[i].parts;
        bool is_mixed = false;
        for (std::size_t p = 0; p < parts.size(); ++p) is_mixed = is_mixed || (is_left(i, p) && is_beside(i, p));
        return BlockEntry{key_of(i), is_mixed, was_there, keep(i)};
    };
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].home && !items_[i].is_dropped && items_[i].home == items_[i].before_run)
            blocks[*items_[i].home].push_back(entry_for(i, true));
    }
    for (auto& [home, block] : blocks) {
        if (!in_order_ || std::ranges::is_sorted(block.entries, {}, &BlockEntry::key)) continue;
        std::ranges::stable_sort(block.entries, {}, &BlockEntry::key);
        for (BlockEntry& entry : block.entries) entry.was_there = false;
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].home && !items_[i].is_dropped && items_[i].home != items_[i].before_run)
            insert_into(blocks[*items_[i].home], entry_for(i, false));
    }
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        if (!calls_[c].answer_code.empty())
            insert_into(blocks[calls_[c].message], {c, false, false, answer(calls_[c])});
        if (calls_[c].result && results_[*calls_[c].result].is_taken_out)
            insert_into(blocks[calls_[c].message], take_over_entry(c));
    }
    return blocks;
}

std::vector<RepairedMessage> RepairHistory::lay_out() {
    std::map<std::size_t, Block> blocks = make_blocks();
    std::vector<RepairedMessage> list;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].is_dropped || items_[i].home) continue;
        list.push_back(keep(i));
        const auto block = blocks.find(i);
        if (block == blocks.end()) continue;
        for (BlockEntry& entry : block->second.entries) {
            const bool is_new = entry.message.kind != RepairedMessage::Kind::kept;
            if (!entry.was_there && !is_new) {
                entry.message.is_moved = true;
                if (entry.message.code.empty()) entry.message.code = "moved_result";
            }
            if (!entry.was_there && entry.message.code == "moved_result") {
                const std::size_t from = is_new ? entry.message.from.front().first : entry.message.source;
                repairs_.push_back({outline_[from].serial, 0, "moved_result", "a result now stands behind its call"});
            }
            list.push_back(std::move(entry.message));
        }
    }
    return list;
}

Role RepairHistory::role_of(const RepairedMessage& message) const {
    if (message.kind == RepairedMessage::Kind::user) return Role::user;
    if (message.kind == RepairedMessage::Kind::assistant) return Role::assistant;
    return message.kind == RepairedMessage::Kind::result ? Role::tool : outline_[message.source].role;
}

/// A late system message goes to the front if there is none, and becomes a user message otherwise.
void RepairHistory::put_system_first(std::vector<RepairedMessage>& list) {
    const bool only_one = has(Rule::OC6_system_first);
    if (!only_one && !has(Rule::A1_system_first)) return;
    const auto is_system = [&](const RepairedMessage& m) { return role_of(m) == Role::system; };
    const auto spoken = std::ranges::find_if_not(list, is_system);
    auto leading = static_cast<std::size_t>(spoken - list.begin());
    const auto late = std::find_if(spoken, list.end(), is_system);
    if (leading == 0 && late != list.end()) {
        late->is_moved = true;
        late->code = "late_system";
        note(late->source, 0, "late_system", "a system message now stands in front of the others");
        std::rotate(list.begin(), late, late + 1);
        leading = 1;
    }
    if (only_one) leading = std::min<std::size_t>(leading, 1);
    const auto says_nothing = [&](const RepairedMessage& m) {
        const auto says = [](const PartInfo& p) { return p.kind == PartKind::text && p.bytes > 0; };
        return is_system(m) && std::ranges::none_of(outline_[m.source].parts, says);
    };
    for (std::size_t i = leading; i < list.size();) {
        if (!says_nothing(list[i])) {
            ++i;
            continue;
        }
        note(list[i].source, 0, "late_system", "a late system message without text is left out");
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::size_t i = leading; i < list.size(); ++i) {
        if (!is_system(list[i])) continue;
        note(list[i].source, 0, "late_system", "a late system message becomes a user message");
        list[i] = {.kind = RepairedMessage::Kind::user, .source = list[i].source, .code = "late_system"};
    }
}

/// Somebody has to have asked, and where the profile says so, before the assistant speaks.
void RepairHistory::open_with_user(std::vector<RepairedMessage>& list) {
    const auto is_user = [&](const RepairedMessage& m) {
        if (m.kind != RepairedMessage::Kind::kept) return m.kind == RepairedMessage::Kind::user;
        if (role_of(m) != Role::user) return false;
        for (std::size_t p = 0; p < outline_[m.source].parts.size(); ++p) {
            if (is_left(m.source, p) && !is_result_part(part(m.source, p))) return true;
        }
        return false;
    };
    const auto spoken = std::ranges::find_if(list, [&](const auto& m) { return role_of(m) != Role::system; });
    const bool needs_first = has(Rule::OC6_alternation) || has(Rule::A1_user_first) || has(Rule::GM1_turns);
    const bool is_late = needs_first && spoken != list.end() && role_of(*spoken) != Role::user;
    if (!is_late && (!has(Rule::G7_has_user) || std::ranges::any_of(list, is_user))) return;
    note_new("missing_user", "a user message is added in front");
    list.insert(spoken, {.kind = RepairedMessage::Kind::user,
                         .code = "missing_user",
                         .text = std::string(repair_texts(options_.language).missing_user)});
}

/// Whether the last that is left of a message is text that ends in white space.
bool RepairHistory::ends_in_space(std::size_t message) const {
    for (std::size_t p = outline_[message].parts.size(); p-- > 0;) {
        if (is_left(message, p)) return part(message, p).kind == PartKind::text && part(message, p).ends_in_space;
    }
    return false;
}

void RepairHistory::end_with_user(std::vector<RepairedMessage>& list) {
    const auto last =
        std::find_if(list.rbegin(), list.rend(), [&](const auto& m) { return role_of(m) != Role::system; });
    if (!options_.for_request || last == list.rend() || role_of(*last) != Role::assistant) return;
    const bool is_refused = has(Rule::OC6_last_role) || has(Rule::GM1_turns);
    if (!is_refused && !(has(Rule::A5_prefill) && ends_in_space(last->source))) return;
    if (outline_[last->source].has(PartKind::tool_call)) return;  // running
    note_new("last_role", "a user message is added, so that the assistant does not have the last word");
    list.push_back({.kind = RepairedMessage::Kind::user,
                    .code = "last_role",
                    .text = std::string(repair_texts(options_.language).go_on)});
}

/// A word of the assistant stands between a tool's message and the user's, and between two of the user's.
void RepairHistory::take_turns(std::vector<RepairedMessage>& list) {
    if (!has(Rule::OC6_user_turns)) return;
    const auto holds_results_now = [&](const RepairedMessage& m) {
        return m.kind == RepairedMessage::Kind::kept && role_of(m) == Role::user && holds_results(m.source);
    };
    bool is_users_side = false;  // the last that spoke
    std::vector<RepairedMessage> in_turns;
    for (RepairedMessage& m : list) {
        const Role role = role_of(m);
        if (role == Role::user && is_users_side && !holds_results_now(m)) {
            note_new(bridge_reason, "a word of the assistant is added in front of the user's");
            in_turns.push_back({.kind = RepairedMessage::Kind::assistant,
                                .code = bridge_reason,
                                .text = std::string(bridge_text(options_.language))});
        }
        if (role != Role::system) is_users_side = role != Role::assistant;
        in_turns.push_back(std::move(m));
    }
    list = std::move(in_turns);
}

}  // namespace whittle::inline v0::detail
