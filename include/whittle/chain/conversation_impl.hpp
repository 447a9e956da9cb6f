#pragma once

// Definitions of Conversation<M>; included by conversation.hpp.

#include "whittle/chain/conversation.hpp"
#include "whittle/chain/conversation_detail.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <unordered_map>

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
            const bool has =
                std::ranges::any_of(splice.infos, [&](const MessageInfo& info) { return info.serial == serial; });
            if (has)
                text +=
                    "; journal entry " + std::to_string(entry->id) + " by \"" + entry->by + "\" took it out, undo that";
        }
    }
    throw Error(Errc::not_found, text);
}

template <AgentMessage M>
void Conversation<M>::count_into(MessageInfo& info, const M& message) const {
    info.tokens.reserve(columns_.size());
    while (info.tokens.size() < columns_.size()) {
        info.tokens.push_back(count_message(message, *columns_[info.tokens.size()].counter));
    }
}

template <AgentMessage M>
MessageInfo Conversation<M>::describe_new(const M& message) {
    MessageInfo info = describe(message);
    count_into(info, message);
    info.serial = next_serial_;
    info.call_index = model_calls_;
    info.turn = turn_ + (!explicit_turns_ && starts_turn(info) ? 1 : 0);
    return info;
}

template <AgentMessage M>
void Conversation<M>::append(M message, MessageInfo info) {
    groups_.join(info, outline());
    ++epoch_;
    detail::grow(infos_, 1);
    detail::grow(messages_, 1);
    names_.assign_to(info);
    messages_.push_back(std::move(message));  // there is room: from here on nothing throws
    infos_.push_back(std::move(info));
    const MessageInfo& added = infos_.back();
    columns_.add_message(added);
    if (added.has(PartKind::thinking)) ++thinking_messages_;
    turn_ = added.turn;
    ++next_serial_;
    ++version_;
}

template <AgentMessage M>
void Conversation<M>::note_usage(const std::optional<Usage>& usage) {
    if (!usage || usage->total() <= 0) return;
    columns_.anchor_all(usage->total());
    last_usage_ = {usage->total(), infos_.back().serial};
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
    ++model_calls_;
    note_usage(usage);
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
    Tail tail = this->tail();
    try {
        append_results(returns);
    } catch (...) {
        cut_back(tail);
        throw;
    }
}

template <AgentMessage M>
void Conversation<M>::add_object(std::string_view key, const std::shared_ptr<Storage>& storage) {
    own_objects().add(key, storage);
}

/// A conversation that was moved from has none.
template <AgentMessage M>
StoredObjects& Conversation<M>::own_objects() {
    if (!objects_) objects_ = std::make_shared<StoredObjects>(id_);
    return *objects_;
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
            info.turn = turn_;
        }
        MessageInfo original = info;
        std::vector<StoredText> texts;
        marks.mark(info, texts);
        if (!texts.empty()) {
            original.fingerprint = {};  // the whole text was never here
            for (StoredText& text : texts) {
                text.splice = entry->undo.size();
                entry->texts.push_back(std::move(text));
            }
            entry->undo.push_back({size(), 1, {message}, {std::move(original)}});
        }
        append(std::move(message), std::move(info));
    }
    for (const ToolReturn& r : returns) note_returned(*entry, r);
    if (detail::has_original(returns)) keep_originals(*entry, first, returns);
    if (entry->undo.empty()) return;
    for (Splice<M>& splice : entry->undo) splice.infos.front().group = infos_[splice.first].group;
    journal_.push_back(std::move(entry));
    ++next_entry_;
}

template <AgentMessage M>
void Conversation<M>::note_returned(JournalEntry<M>& entry, const ToolReturn& r) {
    if (!r.read_back.empty()) ++read_backs_;
    for (const StoredPart& stored : r.stored) {
        if (stored.key.empty()) continue;
        entry.stored.push_back(stored.key);
        add_object(stored.key, stored.storage);
    }
}

/// A middleware showed other parts than the tool gave: all messages of this push as they would have been.
template <AgentMessage M>
void Conversation<M>::keep_originals(JournalEntry<M>& entry, std::size_t first, std::span<const ToolReturn> returns) {
    const std::vector<ToolReturn> given = detail::as_given(returns);
    Splice<M> splice{first, size() - first, message_traits<M>::make_tool_results(detail::shown_results(given)), {}};
    detail::ReturnMarks marks(given);
    const detail::NamesOfCalls names(std::span<const MessageInfo>(infos_).subspan(first));
    entry.texts.clear();
    for (std::size_t i = 0; i < splice.messages.size(); ++i) {
        MessageInfo info = describe_new(splice.messages[i]);
        info.serial = i < splice.count ? infos_[first + i].serial : next_serial_++;
        info.turn = turn_;
        if (!info.has(PartKind::tool_result)) info.mark = detail::mark_of_result_media();
        std::vector<StoredText> texts;
        MessageInfo marked = info;
        marks.mark(marked, texts);
        for (StoredText& text : texts) text.message = i, entry.texts.push_back(std::move(text));
        if (!texts.empty()) info.fingerprint = {};
        names.give_to(info);
        info.group = infos_[first].group;
        splice.infos.push_back(std::move(info));
    }
    entry.undo.clear();
    entry.undo.push_back(std::move(splice));
}

/// Takes back what was appended since.
template <AgentMessage M>
void Conversation<M>::cut_back(Tail& to) noexcept {
    ++epoch_;
    groups_.forget();
    while (size() > to.size) {
        if (infos_.back().has(PartKind::thinking)) --thinking_messages_;
        names_.release(infos_.back());
        infos_.pop_back();
        messages_.pop_back();
    }
    columns_ = std::move(to.columns);
    last_usage_ = to.last_usage;
    version_ = to.version;
    next_serial_ = to.next_serial;
    turn_ = to.turn;
    model_calls_ = to.model_calls;
    read_backs_ = to.read_backs;
}

template <AgentMessage M>
std::size_t Conversation<M>::column(const std::shared_ptr<const TokenCounter>& counter) {
    if (const auto found = columns_.find(counter->id())) return *found;
    std::vector<std::int64_t> counts;
    counts.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
        counts.push_back(count_message(messages_[i], *counter));
        infos_[i].tokens.reserve(columns_.size() + 1);
    }
    const std::size_t added = columns_.add(counter);
    for (std::size_t i = 0; i < size(); ++i) infos_[i].tokens.push_back(counts[i]);
    columns_.set_messages(added, counts);
    return added;
}

template <AgentMessage M>
ContextCount Conversation<M>::context(const std::shared_ptr<const TokenCounter>& counter, std::string_view system,
                                      std::span<const ToolSpec> tools) {
    const bool is_new = !columns_.find(counter->id());
    const std::size_t c = column(counter);
    try {
        columns_.set_overhead(c, system, tools);
    } catch (...) {  // the next call has to see a new column again, or it would not anchor it
        if (is_new) columns_.shrink_to(c);
        for (MessageInfo& info : infos_) info.tokens.resize(std::min(info.tokens.size(), columns_.size()));
        throw;
    }
    if (is_new) anchor_late(c);
    return columns_.context(c);
}

/// A counter that comes after a usage was reported can still use it, if nothing was edited since.
template <AgentMessage M>
void Conversation<M>::anchor_late(std::size_t c) {
    if (last_usage_.serial == 0) return;
    std::int64_t estimate = columns_[c].overhead;
    for (const MessageInfo& info : infos_) {
        estimate = add_saturating(estimate, info.tokens[c]);
        if (info.serial == last_usage_.serial) {
            columns_.anchor(c, last_usage_.reported, estimate);
            return;
        }
    }
}

template <AgentMessage M>
void Conversation<M>::begin_turn() {
    require_outside_hook("begin_turn");
    explicit_turns_ = true;
    ++turn_;
}

/// A change of the side table alone.
template <AgentMessage M>
void Conversation<M>::new_version() {
    log_.add(version_ + 1, 0, 0, 0, size());
    ++version_;
}

template <AgentMessage M>
bool Conversation<M>::set_pinned(Serial serial, bool pinned) {
    require_outside_hook("pin");
    const auto index = outline().index_of(serial);
    if (!index) return false;
    if (infos_[*index].pinned != pinned) new_version();  // a plan made before must not go through
    infos_[*index].pinned = pinned;
    return true;
}

template <AgentMessage M>
void Conversation<M>::pin(const std::function<bool(const MessageInfo&)>& predicate) {
    require_outside_hook("pin");
    new_version();
    for (MessageInfo& info : infos_) {
        if (predicate(info)) info.pinned = true;
    }
}

template <AgentMessage M>
void Conversation<M>::mark(std::size_t index, Provenance provenance) {
    require_outside_hook("mark");
    if (index >= size()) {
        throw Error(Errc::invalid_argument, "mark message " + std::to_string(index) + ": there are only " +
                                                std::to_string(size()) + " messages");
    }
    Mark mark =
        provenance.origin == Origin::original ? nullptr : std::make_shared<const Provenance>(std::move(provenance));
    new_version();
    infos_[index].mark = std::move(mark);
}

}  // namespace whittle::inline v0
