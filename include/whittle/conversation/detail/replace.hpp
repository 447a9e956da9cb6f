#pragma once

// How stretches of a history are replaced, and how that is rolled back.

#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/history.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

template <AgentMessage M>
[[nodiscard]] bool is_in_place(const std::vector<Splice<M>>& splices) noexcept {
    return std::ranges::all_of(splices, [](const Splice<M>& s) { return s.count == s.messages.size(); });
}

/// Does all of an exchange that can fail, and gives the size after it.
template <AgentMessage M>
std::size_t make_room(History<M>& history, std::vector<Splice<M>>& splices) {
    std::size_t new_size = history.size();
    for (Splice<M>& s : splices) {
        new_size = new_size + s.messages.size() - s.count;
        s.messages.reserve(s.count);
        s.infos.reserve(s.count);
    }
    if (!is_in_place(splices)) {
        history.spare.clear();
        history.spare_infos.clear();
        history.spare.reserve((std::max)(new_size, history.size()));
        history.spare_infos.reserve((std::max)(new_size, history.size()));
    }
    history.side.log.reserve_more(splices.size() + 1);
    grow(history.journal, 1);
    return new_size;
}

/// Carries the splices out: each becomes its own inverse. There is room.
template <AgentMessage M>
void exchange(History<M>& history, std::vector<Splice<M>>& splices) noexcept {
    std::vector<M>& messages = history.messages;
    std::vector<MessageInfo>& infos = history.side.infos;
    history.side.note_moved();
    for (const Splice<M>& s : splices) {
        for (const MessageInfo& info : std::span(infos).subspan(s.first, s.count)) history.side.take_from_sums(info);
        for (const MessageInfo& info : s.infos) history.side.add_to_sums(info);
    }
    if (is_in_place(splices)) {
        for (Splice<M>& s : splices) {
            std::ranges::swap_ranges(s.messages, std::span(messages).subspan(s.first, s.count));
            std::ranges::swap_ranges(s.infos, std::span(infos).subspan(s.first, s.count));
        }
        return;
    }
    history.spare.clear();
    history.spare_infos.clear();
    std::size_t from = 0;
    const auto move_until = [&](std::size_t end, std::vector<M>& to, std::vector<MessageInfo>& infos_to) {
        for (; from < end; ++from) {
            to.push_back(std::move(messages[from]));
            infos_to.push_back(std::move(infos[from]));
        }
    };
    for (Splice<M>& s : splices) {
        move_until(s.first, history.spare, history.spare_infos);
        const std::size_t inserted = s.messages.size();
        s.first = history.spare.size();
        std::ranges::move(s.messages, std::back_inserter(history.spare));
        std::ranges::move(s.infos, std::back_inserter(history.spare_infos));
        s.messages.clear();
        s.infos.clear();
        move_until(from + s.count, s.messages, s.infos);
        s.count = inserted;
    }
    move_until(messages.size(), history.spare, history.spare_infos);
    messages.swap(history.spare);
    infos.swap(history.spare_infos);
    history.spare.clear();
    history.spare_infos.clear();
}

/// Whether `splices` change what kept thinking is bound to; looks at thinking of messages from `since` on.
template <AgentMessage M>
[[nodiscard]] bool edits_prefix(const History<M>& history, const std::vector<Splice<M>>& splices, Serial since) {
    const auto thinks = [](const MessageInfo& info) { return info.has(PartKind::thinking); };
    const auto brings_thinking = [&](const Splice<M>& s) { return std::ranges::any_of(s.infos, thinks); };
    if (!history.side.has_thinking() && std::ranges::none_of(splices, brings_thinking)) return false;
    std::vector<const M*> messages;  // as they would be
    std::vector<const MessageInfo*> infos;
    const auto add = [&](const M& message, const MessageInfo& info) {
        messages.push_back(&message);
        infos.push_back(&info);
    };
    std::size_t old = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; old < end; ++old) add(history.messages[old], history.side.infos[old]);
    };
    for (const Splice<M>& s : splices) {
        keep_until(s.first);
        for (std::size_t i = 0; i < s.infos.size(); ++i) add(s.messages[i], s.infos[i]);
        old += s.count;
    }
    keep_until(history.size());
    const Outline after{std::span<const MessageInfo* const>(infos)};
    const auto fingerprints = [&](std::size_t before, std::size_t now) {
        return std::pair(bound_fingerprint(history.messages[before]), bound_fingerprint(*messages[now]));
    };
    return first_void_thinking(history.side.infos, after, since, fingerprints).has_value();
}

/// Replaces without an entry in the journal. Up to `exchange` everything can fail, and `splices` stay as they are then.
template <AgentMessage M>
void replace(History<M>& history, std::vector<Splice<M>>& splices) {
    const std::size_t new_size = make_room(history, splices);
    SideTable& side = history.side;
    const std::uint64_t version = ++side.counters.version;
    side.counters.reported_at = 0;
    if (splices.empty()) side.log.add(version, 0, 0, 0, new_size);
    std::size_t inserted = 0;
    std::size_t removed = 0;
    for (const Splice<M>& s : splices) {
        side.log.add(version, s.first + inserted - removed, s.count, s.messages.size(), new_size);
        inserted += s.messages.size();
        removed += s.count;
    }
    exchange(history, splices);
}

/// Replaces, with `entry` as the newest of the journal. True if that changes what kept thinking is bound to.
template <AgentMessage M>
bool commit(History<M>& history, std::vector<Splice<M>>& splices, std::shared_ptr<JournalEntry<M>> entry) {
    const bool is_prefix_edit = edits_prefix(history, splices, 0);
    replace(history, splices);
    Counters& counters = history.side.counters;
    counters.thinking_prefix_edited = counters.thinking_prefix_edited || is_prefix_edit;
    entry->undo = std::move(splices);
    add_entry(history, std::move(entry));
    return is_prefix_edit;
}

template <AgentMessage M>
void free_spare(History<M>& history) noexcept {
    std::vector<M>().swap(history.spare);
    std::vector<MessageInfo>().swap(history.spare_infos);
}

/// Takes back the commits of a hook.
template <AgentMessage M>
void roll_back(History<M>& history, const Savepoint& to) noexcept {
    while (history.journal.size() > to.journal) {
        // Made in this hook by this conversation: nobody shares it, and no text of it has gone to a store.
        auto entry = std::const_pointer_cast<JournalEntry<M>>(history.journal.back());
        history.journal.pop_back();
        exchange(history, entry->undo);
    }
    history.side.roll_back(to.side);
    free_spare(history);
}

}  // namespace whittle::inline v0::detail
