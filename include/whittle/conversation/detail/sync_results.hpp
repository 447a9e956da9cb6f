#pragma once

// How Conversation<M> takes in a host's own messages with tool results; included by conversation.hpp.

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/host_results.hpp"

#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

template <AgentMessage M>
void Conversation<M>::push_tool_results(std::span<const M> messages, std::span<const ToolReturn> returns) {
    require_outside_hook("push_tool_results");
    detail::ReturnQueue queue(returns, detail::ReturnQueue::Missing::refused);
    append_all_or_nothing([&] { append_host(messages, queue); });
}

template <AgentMessage M>
SyncResult Conversation<M>::sync(std::span<const M> host, std::span<const ToolReturn> returns) {
    require_outside_hook("sync");
    const std::size_t first = find_first_result(host, returns);
    SyncResult result = sync(host.first(first));
    if (first == host.size()) return result;
    detail::ReturnQueue queue(returns, detail::ReturnQueue::Missing::passed_over);
    append_all_or_nothing([&] { result.version = append_host(host.subspan(first), queue); });
    result.appended += host.size() - first;
    return result;
}

/// The results that came last have their messages at the end of the list, behind all that both sides know.
template <AgentMessage M>
std::size_t Conversation<M>::find_first_result(std::span<const M> host, std::span<const ToolReturn> returns) const {
    detail::ReturnQueue waiting(returns, detail::ReturnQueue::Missing::passed_over);
    std::size_t first = host.size();
    for (std::size_t i = host.size(); i-- > 0 && waiting.taken().size() < returns.size();) {
        if (i < size() && same_as_host(messages_[i], side_.infos[i], host[i])) break;
        if (!detail::holds_results(host[i])) continue;
        for (const detail::HostResult& result : detail::host_results(host[i])) {
            if (waiting.take(result.result.call_id) != nullptr) first = i;
        }
    }
    return first;
}

/// Appends the messages and gives the version with which a list of them is in step. What is shown of them in another
/// way is a change of that list.
template <AgentMessage M>
std::uint64_t Conversation<M>::append_host(std::span<const M> messages, detail::ReturnQueue& returns) {
    auto entry = new_entry(JournalEntry<M>::Kind::tool_return, "tool", "truncate");
    std::vector<std::size_t> changed;
    for (const M& message : messages) {
        if (!detail::holds_results(message)) {
            push_back(message);
        } else if (append_host_results(message, returns, *entry)) {
            changed.push_back(size() - 1);
        }
    }
    returns.finish();
    for (const ToolReturn* r : returns.taken()) side_.note_returned(*entry, *r);
    side_.log.reserve_more(changed.size());
    const std::uint64_t in_step = side_.counters.version;
    if (!changed.empty()) ++side_.counters.version;
    for (const std::size_t i : changed) side_.log.add(side_.counters.version, i, 1, 1, size());
    if (entry->undo.empty()) return in_step;
    journal_.push_back(std::move(entry));
    ++side_.counters.next_entry;
    return in_step;
}

/// True if the message is shown in another way than it came.
template <AgentMessage M>
bool Conversation<M>::append_host_results(const M& message, detail::ReturnQueue& returns, JournalEntry<M>& entry) {
    const std::vector<detail::HostResult> results = detail::host_results(message);
    std::vector<const ToolReturn*> made;
    for (const detail::HostResult& result : results) made.push_back(returns.take(result.result.call_id));
    const detail::HostPlan plan = detail::plan_host_message(results, made);
    M shown = detail::edited(message, plan.show);
    MessageInfo info = describe_new(shown);
    detail::mark_results(info, plan.marks);
    append(std::move(shown), std::move(info));
    if (plan.has_original()) keep_original(entry, detail::edited(message, plan.back), plan);
    return !plan.show.empty();
}

/// Of the newest message, which is shown in another way.
template <AgentMessage M>
void Conversation<M>::keep_original(JournalEntry<M>& entry, M original, const detail::HostPlan& plan) {
    const MessageInfo& shown = side_.infos.back();
    MessageInfo info = describe(original);
    count_into(info, original);
    info.serial = shown.serial;
    info.group = shown.group;
    info.turn = shown.turn;
    info.call_index = shown.call_index;
    detail::take_names_of_results(info, shown);
    if (!plan.only_stored.empty()) info.fingerprint = {};  // the whole text was never here
    const std::size_t splice = entry.undo.size();
    entry.undo.push_back({size() - 1, 1, {std::move(original)}, {std::move(info)}});
    detail::add_texts(entry, plan.only_stored, {.splice = splice});
    if (plan.also_stored.empty()) return;
    try {
        std::vector<StoredText> copies = detail::in_order_of_parts(plan.also_stored, splice);
        drop_stored_texts(entry, std::span(copies), messages_.back(), true);
    } catch (...) {  // saves room only: what the store does not give back stays here
    }
}

}  // namespace whittle::inline v0
