#pragma once

// How a host's own messages with tool results come to the end of a history.

#include "whittle/conversation/detail/append.hpp"
#include "whittle/conversation/detail/host_results.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Of the newest message, which is shown in another way.
template <AgentMessage M>
void keep_original(const History<M>& history, JournalEntry<M>& entry, M original, const HostPlan& plan) {
    const MessageInfo& shown = history.side.infos.back();
    MessageInfo info = describe(original);
    count_into(info, original, history.side.columns);
    info.serial = shown.serial;
    info.group = shown.group;
    info.turn = shown.turn;
    info.call_index = shown.call_index;
    take_names_of_results(info, shown);
    if (!plan.only_stored.empty()) info.fingerprint = {};  // the whole text was never here
    const std::size_t splice = entry.undo.size();
    entry.undo.push_back({history.size() - 1, 1, {std::move(original)}, {std::move(info)}});
    add_texts(entry, plan.only_stored, {.splice = splice});
    if (plan.also_stored.empty()) return;
    try {
        std::vector<StoredText> copies = in_order_of_parts(plan.also_stored, splice);
        drop_stored_texts(entry, std::span(copies), history.messages.back(), true);
    } catch (...) {  // saves room only: what the store does not give back stays here
    }
}

/// True if the message is shown in another way than it came.
template <AgentMessage M>
bool append_host_results(History<M>& history, const M& message, ReturnQueue& returns, JournalEntry<M>& entry) {
    const std::vector<HostResult> results = host_results(message);
    std::vector<const ToolReturn*> made;
    for (const HostResult& result : results) made.push_back(returns.take(result.result.call_id));
    const HostPlan plan = plan_host_message(results, made);
    M shown = edited(message, plan.show);
    MessageInfo info = describe_new(history.side, shown);
    mark_results(info, plan.marks);
    append(history, std::move(shown), std::move(info));
    if (plan.has_original()) keep_original(history, entry, edited(message, plan.back), plan);
    return !plan.show.empty();
}

/// Appends the messages and gives the version with which a list of them is in step. What is shown of them in another
/// way is a change of that list.
template <AgentMessage M>
std::uint64_t append_host(History<M>& history, std::span<const M> messages, ReturnQueue& returns) {
    auto entry = new_entry(history, JournalRecord::Kind::tool_return, "tool", "truncate");
    std::vector<std::size_t> changed;
    for (const M& message : messages) {
        if (!holds_results(message)) {
            push(history, message);
        } else if (append_host_results(history, message, returns, *entry)) {
            changed.push_back(history.size() - 1);
        }
    }
    returns.finish();
    for (const ToolReturn* r : returns.taken()) history.side.note_returned(*entry, *r);
    const std::uint64_t in_step = history.side.counters.version;
    history.side.note_shown_otherwise(changed);
    if (!entry->undo.empty()) add_entry(history, std::move(entry));
    return in_step;
}

}  // namespace whittle::inline v0::detail
