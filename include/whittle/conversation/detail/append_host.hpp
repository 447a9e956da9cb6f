#pragma once

// How a host's own messages with tool results come to the end of a history.

#include "whittle/conversation/detail/append.hpp"

#include <algorithm>
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
    info.round_serial = shown.round_serial;
    info.turn = shown.turn;
    info.model_calls_before = shown.model_calls_before;
    take_names_of_results(info, shown);
    if (!plan.only_stored.empty()) info.fingerprint = {};  // the whole text was never here
    const std::size_t splice = entry.undo.size();
    entry.undo.push_back({history.size() - 1, 1, {std::move(original)}, {std::move(info)}});
    add_texts(entry, plan.only_stored, splice, 0);
    if (plan.also_stored.empty()) return;
    try {
        std::vector<StoredText> copies = plan.also_stored;
        for (StoredText& text : copies) text.splice = splice;
        std::ranges::sort(copies, {}, &StoredText::part);
        release_texts_from_memory(entry, std::span(copies), history.messages.back(), true);
    } catch (...) {  // saves room only: what the store does not give back stays here
    }
}

/// True if the message is shown in another way than it came.
template <AgentMessage M>
bool append_host_results(History<M>& history, const M& message, ReturnQueue& returns, JournalEntry<M>& entry) {
    const std::vector<HostResult> results = host_results(message);
    const HostPlan plan = plan_message(results, returns.take(results), MadeBy::host);
    M shown = edited(message, plan.show);
    MessageInfo info = describe_new(history.side, shown);
    mark_results(info, plan.marks);
    append_message(history, std::move(shown), std::move(info));
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
            push(history, M(message));
        } else if (append_host_results(history, message, returns, *entry)) {
            changed.push_back(history.size() - 1);
        }
    }
    returns.finish();
    for (const ToolReturn* r : returns.taken()) history.side.note_returned(*entry, *r);
    ChangeLog& log = history.side.log;
    log.reserve_more(changed.size());
    std::uint64_t& version = history.side.counters.version;
    const std::uint64_t in_step = version;
    if (!changed.empty()) ++version;
    for (const std::size_t i : changed) log.add(version, i, 1, 1, history.size());
    if (!entry->undo.empty()) add_entry(history, std::move(entry));
    return in_step;
}

}  // namespace whittle::inline v0::detail
