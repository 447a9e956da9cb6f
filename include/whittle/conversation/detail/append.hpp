#pragma once

// How messages come to the end of a history.

#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/history.hpp"
#include "whittle/conversation/detail/host_results.hpp"

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// A message that is about to be appended.
template <AgentMessage M>
[[nodiscard]] MessageInfo describe_new(const SideTable& side, const M& message) {
    MessageInfo info = describe(message);
    count_into(info, message, side.columns);
    side.number(info);
    return info;
}

/// Strong guarantee.
template <AgentMessage M>
void append_message(History<M>& history, std::type_identity_t<M>&& message, MessageInfo&& info) {
    ++history.side.epoch;
    grow(history.messages, 1);
    history.side.prepare(info);
    history.messages.push_back(std::move(message));  // there is room: from here on nothing throws
    history.side.append(std::move(info));
}

/// Appends a message of the host or a model's reply. Strong guarantee.
template <AgentMessage M>
void push(History<M>& history, std::type_identity_t<M>&& message, std::optional<Usage> usage = std::nullopt) {
    if constexpr (HasUsage<M>) {
        if (!usage) usage = message_traits<M>::usage(message);
    }
    MessageInfo info = describe_new(history.side, message);
    const bool is_reply = info.role == Role::assistant;
    append_message(history, std::move(message), std::move(info));
    if (is_reply) history.side.note_reply(usage);
}

template <AgentMessage M>
void cut_back(History<M>& history, SideTable::Tail& to) noexcept {
    while (history.size() > to.size) history.messages.pop_back();
    history.side.cut_back(to);
}

/// Calls `work`; takes back what it appended if it throws.
template <AgentMessage M, std::invocable Work>
void append_all_or_nothing(History<M>& history, const Work& work) {
    SideTable::Tail tail = history.side.tail();
    try {
        work();
    } catch (...) {
        cut_back(history, tail);
        throw;
    }
}

/// Of a push of results; one without results came beside them.
template <AgentMessage M>
[[nodiscard]] MessageInfo describe_returned(const SideTable& side, const M& message) {
    MessageInfo info = describe_new(side, message);
    info.turn = side.counters.turn;
    if (!info.has(PartKind::tool_result)) info.mark = mark_of_result_media();
    return info;
}

/// Marks the parts of a message that was made of the returns, and gives how to get back what it does not show.
template <AgentMessage M>
[[nodiscard]] std::vector<StoredText> mark_made(MessageInfo& info, const M& message, ReturnQueue& returns) {
    const std::vector<HostResult> results = host_results(message);
    HostPlan plan = plan_message(results, returns.take(results), MadeBy::adapter);
    mark_results(info, plan.marks);
    return std::move(plan.only_stored);
}

/// A middleware showed other parts than the tool gave: all messages from `first` on as they would have been.
template <AgentMessage M>
void keep_originals(History<M>& history, JournalEntry<M>& entry, std::size_t first,
                    std::span<const ToolReturn> returns) {
    SideTable& side = history.side;
    const std::vector<ToolReturn> given = as_given(returns);
    Splice<M> splice{first, history.size() - first, message_traits<M>::make_tool_results(shown_results(given)), {}};
    ReturnQueue queue(given, ReturnQueue::Missing::passed_over);
    const NamesOfCalls names(std::span<const MessageInfo>(side.infos).subspan(first));
    entry.texts_in_store.clear();
    for (std::size_t i = 0; i < splice.messages.size(); ++i) {
        MessageInfo& info = splice.infos.emplace_back(describe_returned(side, splice.messages[i]));
        info.serial = i < splice.count ? side.infos[first + i].serial : side.counters.next_serial++;
        info.round_serial = side.infos[first].round_serial;
        MessageInfo marked = info;
        if (add_texts(entry, mark_made(marked, splice.messages[i], queue), 0, i))
            info.fingerprint = {};  // the whole text was never here
        names.give_to(info);
    }
    entry.undo.clear();
    entry.undo.push_back(std::move(splice));
}

/// Appends the results of the open round.
template <AgentMessage M>
void append_results(History<M>& history, std::span<const ToolReturn> returns) {
    auto entry = new_entry(history, JournalRecord::Kind::tool_return, "tool", "truncate");
    const std::size_t first = history.size();
    const bool is_marked = !is_plain(returns);
    ReturnQueue queue(returns, ReturnQueue::Missing::passed_over);
    for (M& message : message_traits<M>::make_tool_results(shown_results(returns))) {
        MessageInfo info = describe_returned(history.side, message);
        MessageInfo original = info;
        if (is_marked && add_texts(*entry, mark_made(info, message, queue), entry->undo.size(), 0)) {
            original.fingerprint = {};  // the whole text was never here
            entry->undo.push_back({history.size(), 1, {message}, {std::move(original)}});
        }
        append_message(history, std::move(message), std::move(info));
    }
    for (const ToolReturn& r : returns) history.side.note_returned(*entry, r);
    const auto is_changed = [](const ToolReturn& r) { return r.original.has_value(); };
    if (std::ranges::any_of(returns, is_changed)) keep_originals(history, *entry, first, returns);
    if (entry->undo.empty()) return;
    for (Splice<M>& splice : entry->undo)
        splice.infos.front().round_serial = history.side.infos[splice.first].round_serial;
    add_entry(history, std::move(entry));
}

}  // namespace whittle::inline v0::detail
