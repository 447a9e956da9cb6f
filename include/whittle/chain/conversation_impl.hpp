#pragma once

// Definitions of Conversation<M>; included by conversation.hpp.

#include "whittle/chain/conversation.hpp"
#include "whittle/chain/state.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <unordered_map>

namespace whittle::inline v0 {

namespace detail {

/// Where each message stands. Linear.
[[nodiscard]] std::unordered_map<Serial, std::size_t> positions_of(const Outline& outline);

/// Room for `extra` more elements without giving up geometric growth.
template <typename T>
void grow(std::vector<T>& v, std::size_t extra) {
    const std::size_t needed = v.size() + extra;
    if (needed > v.capacity()) v.reserve(std::max(needed, 2 * v.capacity()));
}

}  // namespace detail

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

// ---- adding
// ----------------------------------------------------------------------------------------------------------

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
    info.turn = turn_ + (!explicit_turns_ && is_user_message(info) ? 1 : 0);
    return info;
}

template <AgentMessage M>
void Conversation<M>::append(M message, MessageInfo info) {
    join_group(info, outline());
    detail::grow(infos_, 1);
    detail::grow(messages_, 1);
    names_.assign_to(info);
    messages_.push_back(std::move(message));  // there is room: from here on nothing throws
    infos_.push_back(std::move(info));
    const MessageInfo& added = infos_.back();
    columns_.add_message(added);
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
    for (const ToolResult& result : results) returns.push_back({result, {}});
    push_tool_results(returns);
}

template <AgentMessage M>
void Conversation<M>::push_tool_results(std::span<const ToolReturn> returns) requires ToolMessage<M> {
    require_outside_hook("push_tool_results");
    const Tail tail = this->tail();
    try {
        append_results(returns);
    } catch (...) {
        cut_back(tail);
        throw;
    }
}

namespace detail {

/// The mark of a result part whose original is stored.
[[nodiscard]] Mark mark_of_stored(const StoredPart& stored);
/// The mark of a message that an adapter added beside the results, such as media that a provider wants in a user
/// message.
[[nodiscard]] Mark mark_of_result_media();

/// Marks the parts of `info` that show stored results, and collects how to get these back. `seen` counts the parts of
/// each result that earlier messages held.
void mark_stored_parts(MessageInfo& info, std::span<const ToolReturn> returns, std::vector<std::size_t>& seen,
                       std::vector<StoredText>& texts);

}  // namespace detail

template <AgentMessage M>
void Conversation<M>::append_results(std::span<const ToolReturn> returns) {
    std::vector<ToolResult> results;
    for (const ToolReturn& r : returns) results.push_back(r.result);
    auto entry = new_entry(JournalEntry<M>::Kind::tool_return, "tool", "truncate");
    std::vector<std::size_t> seen(returns.size());
    for (M& message : message_traits<M>::make_tool_results(results)) {
        MessageInfo info = describe_new(message);
        if (!info.has(PartKind::tool_result)) {
            info.mark = detail::mark_of_result_media();
            info.turn = turn_;
        }
        MessageInfo original = info;
        std::vector<StoredText> texts;
        detail::mark_stored_parts(info, returns, seen, texts);
        if (!texts.empty()) {
            original.fingerprint = {};  // the whole text was never here
            for (StoredText& text : texts) {
                text.splice = entry->undo.size();
                entry->stored.push_back(text.key);
                entry->texts.push_back(std::move(text));
            }
            entry->undo.push_back({size(), 1, {message}, {std::move(original)}});
        }
        append(std::move(message), std::move(info));
    }
    if (entry->undo.empty()) return;
    for (Splice<M>& splice : entry->undo) splice.infos.front().group = infos_[splice.first].group;
    journal_.push_back(std::move(entry));
    ++next_entry_;
}

/// Takes back what was appended since.
template <AgentMessage M>
void Conversation<M>::cut_back(const Tail& to) noexcept {
    while (size() > to.size) {
        names_.release(infos_.back());
        columns_.remove_message(infos_.back());
        infos_.pop_back();
        messages_.pop_back();
    }
    version_ = to.version;
    next_serial_ = to.next_serial;
    turn_ = to.turn;
    model_calls_ = to.model_calls;
}

// ---- counting
// --------------------------------------------------------------------------------------------------------

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
    columns_.set_overhead(c, system, tools);
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
            columns_.anchor(c, {last_usage_.reported, estimate});
            return;
        }
    }
}

// ---- marks
// -----------------------------------------------------------------------------------------------------------

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

// ---- replacing
// -------------------------------------------------------------------------------------------------------

template <AgentMessage M>
bool Conversation<M>::is_in_place(const std::vector<Splice<M>>& splices) noexcept {
    return std::ranges::all_of(splices, [](const Splice<M>& s) { return s.count == s.messages.size(); });
}

template <AgentMessage M>
void Conversation<M>::make_room(std::vector<Splice<M>>& splices) {
    std::size_t new_size = size();
    for (Splice<M>& s : splices) {
        new_size = new_size + s.messages.size() - s.count;
        s.messages.reserve(s.count);
        s.infos.reserve(s.count);
    }
    if (!is_in_place(splices)) {
        spare_messages_.clear();
        spare_infos_.clear();
        spare_messages_.reserve(std::max(new_size, size()));
        spare_infos_.reserve(std::max(new_size, size()));
    }
    log_.reserve_more(splices.size() + 1);
    detail::grow(journal_, 1);
}

template <AgentMessage M>
void Conversation<M>::exchange(std::vector<Splice<M>>& splices) noexcept {
    for (const Splice<M>& s : splices) {
        for (std::size_t i = 0; i < s.count; ++i) columns_.remove_message(infos_[s.first + i]);
        for (const MessageInfo& info : s.infos) columns_.add_message(info);
    }
    if (is_in_place(splices)) {
        for (Splice<M>& s : splices) {
            std::ranges::swap_ranges(s.messages, std::span(messages_).subspan(s.first, s.count));
            std::ranges::swap_ranges(s.infos, std::span(infos_).subspan(s.first, s.count));
        }
        return;
    }
    spare_messages_.clear();
    spare_infos_.clear();
    std::size_t from = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; from < end; ++from) {
            spare_messages_.push_back(std::move(messages_[from]));
            spare_infos_.push_back(std::move(infos_[from]));
        }
    };
    for (Splice<M>& s : splices) {
        keep_until(s.first);
        const std::size_t inserted = s.messages.size();
        s.first = spare_messages_.size();
        std::ranges::move(s.messages, std::back_inserter(spare_messages_));
        std::ranges::move(s.infos, std::back_inserter(spare_infos_));
        s.messages.clear();
        s.infos.clear();
        for (const std::size_t end = from + s.count; from < end; ++from) {
            s.messages.push_back(std::move(messages_[from]));
            s.infos.push_back(std::move(infos_[from]));
        }
        s.count = inserted;
    }
    keep_until(messages_.size());
    messages_.swap(spare_messages_);
    infos_.swap(spare_infos_);
    spare_messages_.clear();
    spare_infos_.clear();
}

template <AgentMessage M>
std::shared_ptr<JournalEntry<M>> Conversation<M>::new_entry(typename JournalEntry<M>::Kind kind, std::string by,
                                                            std::string reason) {
    auto entry = std::make_shared<JournalEntry<M>>();
    entry->id = next_entry_;
    entry->kind = kind;
    entry->by = std::move(by);
    entry->reason = std::move(reason);
    return entry;
}

/// The commit point: up to `exchange` everything can fail, from there on nothing.
template <AgentMessage M>
void Conversation<M>::commit(std::vector<Splice<M>> splices, std::shared_ptr<JournalEntry<M>> entry) {
    make_room(splices);
    ++version_;
    std::size_t new_size = size();
    for (const Splice<M>& s : splices) new_size = new_size + s.messages.size() - s.count;
    if (splices.empty()) log_.add(version_, 0, 0, 0, new_size);
    std::ptrdiff_t shift = 0;
    for (const Splice<M>& s : splices) {
        log_.add(version_, static_cast<std::size_t>(static_cast<std::ptrdiff_t>(s.first) + shift), s.count,
                 s.messages.size(), new_size);
        shift += static_cast<std::ptrdiff_t>(s.messages.size()) - static_cast<std::ptrdiff_t>(s.count);
    }
    exchange(splices);
    last_usage_.serial = 0;
    if (entry == nullptr) return;
    entry->undo = std::move(splices);
    journal_.push_back(std::move(entry));
    ++next_entry_;
}

template <AgentMessage M>
void Conversation<M>::roll_back(const Savepoint& to) noexcept {
    while (journal_.size() > to.journal) {
        // Made in this hook by this conversation: nobody shares it, and no text of it has gone to a store.
        auto entry = std::const_pointer_cast<JournalEntry<M>>(journal_.back());
        journal_.pop_back();
        exchange(entry->undo);
    }
    log_.shrink_to(to.log);
    columns_.shrink_to(to.columns);
    for (MessageInfo& info : infos_) {
        if (info.tokens.size() > to.columns) info.tokens.resize(to.columns);
    }
    notes_ = to.notes;
    version_ = to.version;
    next_serial_ = to.next_serial;
    next_entry_ = to.next_entry;
    last_usage_ = to.last_usage;
    free_spare();
}

template <AgentMessage M>
void Conversation<M>::free_spare() noexcept {
    std::vector<M>().swap(spare_messages_);
    std::vector<MessageInfo>().swap(spare_infos_);
}

/// After a hook: texts that a store has acknowledged leave memory. Saves room only, so a failure is no failure.
template <AgentMessage M>
void Conversation<M>::settle(std::size_t from_entry) noexcept {
    for (std::size_t e = from_entry; e < journal_.size(); ++e) {
        auto entry = std::const_pointer_cast<JournalEntry<M>>(journal_[e]);
        if (entry->kind != JournalEntry<M>::Kind::edit || entry->texts.empty()) continue;
        try {
            const std::unordered_map<Serial, std::size_t> positions = detail::positions_of(outline());
            const std::vector<StoredText> texts = std::exchange(entry->texts, {});
            for (const StoredText& text : texts) {
                const auto now = positions.find(entry->undo[text.splice].infos[text.message].serial);
                if (now != positions.end()) drop_stored_text(*entry, text, messages_[now->second]);
            }
        } catch (...) {
        }
    }
    free_spare();
}

// ---- undoing
// ---------------------------------------------------------------------------------------------------------

template <AgentMessage M>
void Conversation<M>::prepare_undo(Splice<M>& splice, bool pin) {
    for (std::size_t i = 0; i < splice.messages.size(); ++i) {
        MessageInfo& info = splice.infos[i];
        if (info.fingerprint == Hash128{}) {  // its text was in a store from the start
            MessageInfo fresh = describe(splice.messages[i]);
            for (std::size_t p = 0; p < fresh.parts.size() && p < info.parts.size(); ++p) {
                fresh.parts[p].object_name = info.parts[p].object_name;
                fresh.parts[p].tool = info.parts[p].tool;
            }
            info.parts = std::move(fresh.parts);
            info.fingerprint = fresh.fingerprint;
            info.tokens.clear();
        }
        count_into(info, splice.messages[i]);
        info.pinned = info.pinned || pin;
    }
}

template <AgentMessage M>
bool Conversation<M>::undo() {
    require_outside_hook("undo");
    if (journal_.empty()) return false;
    std::vector<Splice<M>> splices = load_undo(*journal_.back());
    for (Splice<M>& splice : splices) prepare_undo(splice, true);
    commit(std::move(splices), nullptr);
    journal_.pop_back();
    return true;
}

namespace detail {
[[noreturn]] void throw_is_original(Serial serial);
}

template <AgentMessage M>
void Conversation<M>::restore(Serial serial) {
    require_outside_hook("restore");
    const std::size_t index = require_index(serial, "restore");
    for (const auto& entry : journal_) {
        for (std::size_t s = 0; s < entry->undo.size(); ++s) {
            const auto& infos = entry->undo[s].infos;
            const auto found = std::ranges::find(infos, serial, &MessageInfo::serial);
            if (found == infos.end()) continue;
            const auto item = static_cast<std::size_t>(found - infos.begin());
            Splice<M> splice{index, 1, {load_original(*entry, s, item)}, {*found}};
            prepare_undo(splice, true);
            if (splice.infos.front().fingerprint == infos_[index].fingerprint) detail::throw_is_original(serial);
            std::vector<Splice<M>> splices;
            splices.push_back(std::move(splice));
            commit(std::move(splices), new_entry(JournalEntry<M>::Kind::restore, "host", "restore"));
            return;
        }
    }
    detail::throw_is_original(serial);
}

template <AgentMessage M>
Conversation<M> Conversation<M>::fork(std::string new_id) const {
    require_outside_hook("fork");  // the journal entries of a hook are not final
    Conversation copy(*this);
    copy.id_ = to_safe_name(new_id.empty() ? random_ids()->next() : new_id);
    return copy;
}

// ---- hosts that own the list
// -----------------------------------------------------------------------------------------

template <AgentMessage M>
bool Conversation<M>::same_as_host(const M& ours, const MessageInfo& info, const M& host) {
    if constexpr (HasStamp<M>) {
        return message_traits<M>::stamp(ours) == message_traits<M>::stamp(host);
    } else {
        return info.fingerprint == fingerprint(host) || same_message(ours, host);
    }
}

template <AgentMessage M>
SyncResult Conversation<M>::sync(std::span<const M> host) {
    require_outside_hook("sync");
    const std::size_t shorter = std::min(size(), host.size());
    std::size_t front = 0;
    while (front < shorter && same_as_host(messages_[front], infos_[front], host[front])) ++front;
    if (front == size()) {
        const Tail tail = this->tail();
        try {
            for (const M& m : host.subspan(front)) push_back(m);
        } catch (...) {
            cut_back(tail);
            throw;
        }
        return {.common_prefix = front, .appended = host.size() - front};
    }
    std::size_t back = 0;
    while (back < shorter - front &&
           same_as_host(messages_[size() - 1 - back], infos_[size() - 1 - back], host[host.size() - 1 - back]))
        ++back;
    replace_by_host(host, front, back);
    return {.common_prefix = front, .replaced = size() - back - front, .diverged = true};
}

/// Messages behind the replaced stretch whose tool round began in it: they have to find a new one.
template <AgentMessage M>
std::size_t Conversation<M>::count_cut_off(std::size_t first, std::size_t last) const {
    std::size_t end = last;
    for (std::size_t i = last; i < size(); ++i) {
        const bool is_cut_off =
            std::ranges::any_of(std::span(infos_).subspan(first, last - first),
                                [&](const MessageInfo& info) { return infos_[i].group == info.serial; });
        if (infos_[i].group != 0 && is_cut_off) end = i + 1;
    }
    return end - last;
}

template <AgentMessage M>
void Conversation<M>::replace_by_host(std::span<const M> host, std::size_t front, std::size_t back) {
    const Tail tail = this->tail();
    const std::size_t last = size() - back;
    const std::size_t cut_off = count_cut_off(front, last);
    const std::size_t fresh = host.size() - back - front;
    Splice<M> splice{front, last + cut_off - front, {}, {}};
    splice.infos.reserve(fresh + cut_off);
    std::vector<const MessageInfo*> before;  // what stands in front of each new message
    for (const MessageInfo& info : std::span(infos_).first(front)) before.push_back(&info);
    before.reserve(front + fresh + cut_off);
    int turn = front > 0 ? infos_[front - 1].turn : 0;
    try {
        for (std::size_t i = 0; i < fresh + cut_off; ++i) {
            const M& m = i < fresh ? host[front + i] : messages_[last + i - fresh];
            MessageInfo info = i < fresh ? describe_new(m) : infos_[last + i - fresh];
            if (i < fresh) {
                info.serial = next_serial_++;
                info.turn = explicit_turns_ ? turn_ : turn += is_user_message(info) ? 1 : 0;
                if (info.role == Role::assistant) ++model_calls_;
            }
            join_group(info, Outline(std::span<const MessageInfo* const>(before)));
            if (i < fresh) names_.assign_to(info);
            splice.messages.push_back(m);
            splice.infos.push_back(std::move(info));
            before.push_back(&splice.infos.back());
        }
        const int newest_turn = std::max(turn_, turn);
        std::vector<Splice<M>> splices;
        splices.push_back(std::move(splice));
        commit(std::move(splices), new_entry(JournalEntry<M>::Kind::sync, "host", "sync"));
        turn_ = newest_turn;
    } catch (...) {
        cut_back(tail);
        throw;
    }
}

template <AgentMessage M>
void Conversation<M>::apply_to(std::vector<M>& host, std::uint64_t version) const {
    const Changes changes = log_.since(version);
    if (host.size() != log_.size_at(version)) {
        throw Error(Errc::invalid_argument, "apply_to: the host's list has " + std::to_string(host.size()) +
                                                " messages, but had " + std::to_string(log_.size_at(version)) +
                                                " at version " + std::to_string(version));
    }
    std::size_t kept = host.size();
    std::size_t replaced = 0;
    for (const Change& c : changes) kept -= c.old_count, replaced += c.new_count;
    std::vector<M> result;
    result.reserve(size());
    std::vector<M> fresh;  // copies first: they can fail, moving cannot
    for (const Change& c : changes)
        std::ranges::copy(std::span(messages_).subspan(c.new_first, c.new_count), std::back_inserter(fresh));
    std::ranges::copy(std::span(messages_).subspan(kept + replaced), std::back_inserter(fresh));
    auto next_fresh = fresh.begin();
    auto next_host = host.begin();
    const auto take = [&](auto& from, std::size_t count) {
        for (; count > 0; --count) result.push_back(std::move(*from++));
    };
    std::size_t done = 0;
    for (const Change& c : changes) {
        take(next_host, c.old_first - done);
        take(next_fresh, c.new_count);
        next_host += static_cast<std::ptrdiff_t>(c.old_count);
        done = c.old_first + c.old_count;
    }
    take(next_host, host.size() - done);
    take(next_fresh, static_cast<std::size_t>(fresh.end() - next_fresh));
    host = std::move(result);
}

// ---- saving
// ----------------------------------------------------------------------------------------------------------

template <AgentMessage M>
ConversationState<M> Conversation<M>::state() const {
    return {id_,
            messages_,
            infos_,
            journal_,
            notes_,
            version_,
            next_serial_,
            next_entry_,
            turn_,
            run_,
            model_calls_,
            explicit_turns_,
            last_usage_.reported,
            last_usage_.serial};
}

template <AgentMessage M>
Conversation<M> Conversation<M>::from_state(ConversationState<M> state) {
    if (state.messages.size() != state.infos.size()) {
        throw Error(Errc::damaged, "load conversation \"" + state.id + "\": " + std::to_string(state.messages.size()) +
                                       " messages, but " + std::to_string(state.infos.size()) + " side-table entries");
    }
    Conversation c(state.id);
    c.messages_ = std::move(state.messages);
    c.infos_ = std::move(state.infos);
    c.journal_ = std::move(state.journal);
    c.notes_ = std::move(state.notes);
    c.version_ = state.version;
    c.log_.start_at(state.version, c.messages_.size());
    c.next_serial_ = state.next_serial;
    c.next_entry_ = state.next_entry;
    c.turn_ = state.turn;
    c.run_ = state.run;
    c.model_calls_ = state.model_calls;
    c.explicit_turns_ = state.explicit_turns;
    c.last_usage_ = {state.reported_tokens, state.reported_at};
    const auto take_names = [&](const MessageInfo& info) {
        for (const PartInfo& part : info.parts) {
            if (!part.object_name.empty()) c.names_.take(part.object_name);
        }
    };
    for (MessageInfo& info : c.infos_) info.tokens.clear(), take_names(info);
    for (const auto& entry : c.journal_) {
        for (const auto& splice : entry->undo) std::ranges::for_each(splice.infos, take_names);
    }
    return c;
}

}  // namespace whittle::inline v0
