#pragma once

// Definitions of Conversation<M>; included by conversation.hpp.

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

template <AgentMessage M>
void Conversation<M>::require_outside_hook(std::string_view attempted) const {
    if (!in_hook_) return;
    throw Error(Errc::invalid_argument,
                std::string(attempted) + ": not inside a hook; change messages there with turn.edit()");
}

template <AgentMessage M>
std::size_t Conversation<M>::require_index(Serial serial, std::string_view attempted) const {
    if (const auto index = outline().index_of(serial)) return *index;
    std::string text = std::string(attempted) + " message " + std::to_string(serial) + ": it is not in the list";
    for (const auto& entry : journal_) {
        for (const auto& splice : entry->undo) {
            if (Outline(std::span(splice.infos)).index_of(serial)) text += detail::took_it_out(*entry);
        }
    }
    throw Error(Errc::not_found, text);
}

template <AgentMessage M>
void Conversation<M>::count_into(MessageInfo& info, const M& message) const {
    info.tokens.reserve(side_.columns.size());
    while (info.tokens.size() < side_.columns.size()) {
        info.tokens.push_back(count_message(message, *side_.columns[info.tokens.size()].counter));
    }
}

template <AgentMessage M>
MessageInfo Conversation<M>::describe_new(const M& message) {
    MessageInfo info = describe(message);
    count_into(info, message);
    side_.number(info);
    return info;
}

template <AgentMessage M>
void Conversation<M>::append(M&& message, MessageInfo&& info) {
    ++side_.epoch;
    detail::grow(messages_, 1);
    side_.prepare(info);
    messages_.push_back(std::move(message));  // there is room: from here on nothing throws
    side_.append(std::move(info));
}

template <AgentMessage M>
void Conversation<M>::push_back(M message, std::optional<Usage> usage) {
    require_outside_hook("push_back");
    if constexpr (HasUsage<M>) {
        if (!usage) usage = message_traits<M>::usage(message);
    }
    MessageInfo info = describe_new(message);
    const bool is_reply = info.role == Role::assistant;
    append(std::move(message), std::move(info));
    if (!is_reply) return;
    ++side_.counters.model_calls;
    side_.note_usage(usage);
}

template <AgentMessage M>
void Conversation<M>::push_tool_results(std::span<const ToolResult> results) requires ToolMessage<M> {
    std::vector<ToolReturn> returns;
    for (const ToolResult& result : results) returns.push_back({.result = result});
    push_tool_results(returns);
}

template <AgentMessage M>
void Conversation<M>::push_tool_results(std::span<const ToolReturn> returns) requires ToolMessage<M> {
    require_outside_hook("push_tool_results");
    append_all_or_nothing([&] { append_results(returns); });
}

template <AgentMessage M>
void Conversation<M>::append_results(std::span<const ToolReturn> returns) {
    auto entry = new_entry(JournalEntry<M>::Kind::tool_return, "tool", "truncate");
    const std::size_t first = size();
    detail::ReturnMarks marks(returns);
    for (M& message : message_traits<M>::make_tool_results(detail::shown_results(returns))) {
        MessageInfo info = describe_new(message);
        if (!info.has(PartKind::tool_result)) {
            info.mark = detail::mark_of_result_media();
            info.turn = side_.counters.turn;
        }
        MessageInfo original = info;
        std::vector<StoredText> texts;
        marks.mark(info, texts);
        if (!texts.empty()) {
            original.fingerprint = {};  // the whole text was never here
            detail::add_texts(*entry, texts, {.splice = entry->undo.size()});
            entry->undo.push_back({size(), 1, {message}, {std::move(original)}});
        }
        append(std::move(message), std::move(info));
    }
    for (const ToolReturn& r : returns) side_.note_returned(*entry, r);
    if (detail::has_original(returns)) keep_originals(*entry, first, returns);
    if (entry->undo.empty()) return;
    for (Splice<M>& splice : entry->undo) splice.infos.front().group = side_.infos[splice.first].group;
    journal_.push_back(std::move(entry));
    ++side_.counters.next_entry;
}

/// A middleware showed other parts than the tool gave: all messages of this push as they would have been.
template <AgentMessage M>
void Conversation<M>::keep_originals(JournalEntry<M>& entry, std::size_t first, std::span<const ToolReturn> returns) {
    const std::vector<ToolReturn> given = detail::as_given(returns);
    Splice<M> splice{first, size() - first, message_traits<M>::make_tool_results(detail::shown_results(given)), {}};
    detail::ReturnMarks marks(given);
    const detail::NamesOfCalls names(std::span<const MessageInfo>(side_.infos).subspan(first));
    entry.texts.clear();
    for (std::size_t i = 0; i < splice.messages.size(); ++i) {
        MessageInfo info = describe_new(splice.messages[i]);
        info.serial = i < splice.count ? side_.infos[first + i].serial : side_.counters.next_serial++;
        info.turn = side_.counters.turn;
        if (!info.has(PartKind::tool_result)) info.mark = detail::mark_of_result_media();
        std::vector<StoredText> texts;
        MessageInfo marked = info;
        marks.mark(marked, texts);
        detail::add_texts(entry, texts, {.message = i});
        if (!texts.empty()) info.fingerprint = {};
        names.give_to(info);
        info.group = side_.infos[first].group;
        splice.infos.push_back(std::move(info));
    }
    entry.undo.clear();
    entry.undo.push_back(std::move(splice));
}

/// Takes back what was appended since.
template <AgentMessage M>
void Conversation<M>::cut_back(detail::SideTable::Tail& to) noexcept {
    while (size() > to.size) messages_.pop_back();
    side_.cut_back(to);
}

template <AgentMessage M>
template <std::invocable Append>
void Conversation<M>::append_all_or_nothing(const Append& append) {
    detail::SideTable::Tail tail = side_.tail();
    try {
        append();
    } catch (...) {
        cut_back(tail);
        throw;
    }
}

template <AgentMessage M>
std::size_t Conversation<M>::column(const std::shared_ptr<const TokenCounter>& counter) {
    if (const auto found = side_.columns.find(counter->id())) return *found;
    std::vector<std::int64_t> counts;
    counts.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
        counts.push_back(count_message(messages_[i], *counter));
        side_.infos[i].tokens.reserve(side_.columns.size() + 1);
    }
    const std::size_t added = side_.columns.add(counter);
    for (std::size_t i = 0; i < size(); ++i) side_.infos[i].tokens.push_back(counts[i]);
    side_.columns.set_messages(added, counts);
    return added;
}

template <AgentMessage M>
ContextCount Conversation<M>::context(const std::shared_ptr<const TokenCounter>& counter, std::string_view system,
                                      std::span<const ToolSpec> tools) {
    const std::size_t known = side_.columns.size();
    const std::size_t counted = column(counter);
    return side_.context(counted, counted == known, system, tools);
}

template <AgentMessage M>
void Conversation<M>::begin_turn() {
    require_outside_hook("begin_turn");
    side_.counters.explicit_turns = true;
    ++side_.counters.turn;
}

template <AgentMessage M>
bool Conversation<M>::set_pinned(Serial serial, bool pinned) {
    require_outside_hook("pin");
    return side_.set_pinned(serial, pinned);
}

template <AgentMessage M>
void Conversation<M>::pin(const std::function<bool(const MessageInfo&)>& predicate) {
    require_outside_hook("pin");
    side_.pin(predicate);
}

template <AgentMessage M>
void Conversation<M>::mark(std::size_t index, Provenance provenance) {
    require_outside_hook("mark");
    side_.mark(index, std::move(provenance));
}

}  // namespace whittle::inline v0
