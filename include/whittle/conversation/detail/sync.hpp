#pragma once

// How Conversation<M> follows a host that owns the list, and how it is saved; included by conversation.hpp.

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Everything that a saved conversation consists of. Token counts are not part of it: they are made again.
template <AgentMessage M>
struct ConversationState {
    std::string id{};
    std::vector<M> messages{};
    std::vector<MessageInfo> infos{};  ///< as many as messages
    std::vector<std::shared_ptr<const JournalEntry<M>>> journal{};
    NoteBook notes{};
    Counters counters{};
    Calibrations calibrations{};
    std::vector<std::string> roots{};  ///< as `StoredObjects::allow` takes them; no saved table has them
};

template <AgentMessage M>
bool Conversation<M>::same_as_host(const M& ours, const MessageInfo& info, const M& host) {
    if constexpr (HasStamp<M>) {
        return message_traits<M>::stamp(ours) == message_traits<M>::stamp(host);
    } else {
        const bool looks_same = info.fingerprint == fingerprint(host);
        if (looks_same && (!info.has(PartKind::thinking) || detail::same_thinking_seal(ours, host))) return true;
        return same_message(ours, host);
    }
}

template <AgentMessage M>
SyncResult Conversation<M>::sync(std::span<const M> host) {
    require_outside_hook("sync");
    const std::size_t shorter = std::min(size(), host.size());
    std::size_t front = 0;
    while (front < shorter && same_as_host(messages_[front], side_.infos[front], host[front])) ++front;
    if (front == size()) {
        append_all_or_nothing([&] {
            detail::grow(side_.infos, host.size() - front);
            detail::grow(messages_, host.size() - front);
            for (const M& m : host.subspan(front)) push_back(m);
        });
        return {.common_prefix = front, .appended = host.size() - front, .version = side_.counters.version};
    }
    std::size_t back = 0;
    while (back < shorter - front &&
           same_as_host(messages_[size() - 1 - back], side_.infos[size() - 1 - back], host[host.size() - 1 - back]))
        ++back;
    const std::size_t replaced = size() - back - front;
    replace_by_host(host, front, back);
    return {.common_prefix = front, .replaced = replaced, .diverged = true, .version = side_.counters.version};
}

template <AgentMessage M>
void Conversation<M>::replace_by_host(std::span<const M> host, std::size_t front, std::size_t back) {
    detail::SideTable::Tail tail = side_.tail();
    const std::size_t last = size() - back;
    const std::size_t cut_off = side_.count_cut_off(front, last);
    const std::size_t fresh = host.size() - back - front;
    Splice<M> splice{front, last + cut_off - front, {}, {}};
    splice.infos.reserve(fresh + cut_off);
    std::vector<const MessageInfo*> before;  // what stands in front of each new message
    for (const MessageInfo& info : std::span(side_.infos).first(front)) before.push_back(&info);
    before.reserve(front + fresh + cut_off);
    std::vector<MessageInfo> named;  // copies, to give the names back if this fails
    named.reserve(fresh);
    int turn = front > 0 ? side_.infos[front - 1].turn : 0;
    GroupFinder groups;
    try {
        for (std::size_t i = 0; i < fresh + cut_off; ++i) {
            const M& m = i < fresh ? host[front + i] : messages_[last + i - fresh];
            MessageInfo info = i < fresh ? describe_new(m) : side_.infos[last + i - fresh];
            if (i < fresh) {
                info.serial = side_.counters.next_serial++;
                info.turn = side_.counters.explicit_turns ? side_.counters.turn : turn += starts_turn(info) ? 1 : 0;
                if (info.role == Role::assistant) ++side_.counters.model_calls;
            }
            groups.join(info, Outline(std::span<const MessageInfo* const>(before)));
            if (i < fresh) {
                named.push_back(info);
                side_.names.assign_to(named.back());
                info = named.back();
            }
            splice.messages.push_back(m);
            splice.infos.push_back(std::move(info));
            before.push_back(&splice.infos.back());
        }
        const int newest_turn = std::max(side_.counters.turn, turn);
        std::vector<Splice<M>> splices;
        splices.push_back(std::move(splice));
        commit(std::move(splices), new_entry(JournalEntry<M>::Kind::sync, "host", "sync"));
        side_.counters.turn = newest_turn;
    } catch (...) {
        for (const MessageInfo& info : named) side_.names.release(info);
        cut_back(tail);
        throw;
    }
}

template <AgentMessage M>
template <typename T, std::invocable<const M&> Make>
requires std::constructible_from<T, std::invoke_result_t<Make, const M&>>
void Conversation<M>::apply_to(std::vector<T>& host, std::uint64_t version, const Make& make) const {
    const Changes changes = side_.log.since(version);
    if (host.size() != side_.log.size_at(version)) {
        throw Error(Errc::invalid_argument, "apply_to: the host's list has " + std::to_string(host.size()) +
                                                " messages, but had " + std::to_string(side_.log.size_at(version)) +
                                                " at version " + std::to_string(version));
    }
    std::size_t kept = host.size();
    std::size_t replaced = 0;
    for (const Change& c : changes) kept -= c.old_count, replaced += c.new_count;
    std::vector<T> result;
    result.reserve(size());
    std::vector<T> fresh;  // copies first: they can fail, moving cannot
    const auto copy = [&](std::span<const M> messages) {
        for (const M& m : messages) fresh.emplace_back(make(m));
    };
    for (const Change& c : changes) copy(std::span(messages_).subspan(c.new_first, c.new_count));
    copy(std::span(messages_).subspan(kept + replaced));
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

template <AgentMessage M>
ConversationState<M> Conversation<M>::state() const {
    return {side_.id,
            messages_,
            side_.infos,
            journal_,
            side_.notes,
            side_.counters,
            side_.columns.calibrations(),
            side_.objects ? side_.objects->roots() : std::vector<std::string>{}};
}

template <AgentMessage M>
Conversation<M> Conversation<M>::from_state(ConversationState<M> state) {
    if (state.messages.size() != state.infos.size()) {
        throw Error(Errc::damaged, "load conversation \"" + state.id + "\": " + std::to_string(state.messages.size()) +
                                       " messages, but " + std::to_string(state.infos.size()) + " side-table entries");
    }
    Conversation c(state.id);
    c.messages_ = std::move(state.messages);
    c.journal_ = std::move(state.journal);
    c.side_.load(std::move(state.infos), std::move(state.notes), state.counters);
    c.side_.columns.load(std::move(state.calibrations));
    for (const std::string& root : state.roots) c.side_.objects->allow(root);
    for (const auto& entry : c.journal_) {
        for (const std::string& key : entry->stored) c.side_.objects->claim(key, nullptr);
        for (const StoredText& text : entry->texts) c.side_.objects->claim(text.key, text.storage);
        for (const auto& splice : entry->undo) c.side_.take_names(splice.infos);
    }
    return c;
}

}  // namespace whittle::inline v0
