#pragma once

// How stretches of a history are replaced, and how that is rolled back.

#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/history.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

template <AgentMessage M>
[[nodiscard]] std::vector<InfoSplice> info_splices(const std::vector<Splice<M>>& splices) {
    std::vector<InfoSplice> views;
    for (const Splice<M>& s : splices) views.push_back({s.first, s.count, s.infos});
    return views;
}

template <AgentMessage M>
[[nodiscard]] bool is_in_place(const std::vector<Splice<M>>& splices) noexcept {
    return std::ranges::all_of(splices, [](const Splice<M>& s) { return s.count == s.messages.size(); });
}

/// Does all of an exchange that can fail.
template <AgentMessage M>
void make_room(History<M>& history, std::vector<Splice<M>>& splices) {
    std::size_t new_size = history.size();
    for (Splice<M>& s : splices) {
        new_size = new_size + s.messages.size() - s.count;
        s.messages.reserve(s.count);
        s.infos.reserve(s.count);
    }
    if (!is_in_place(splices)) {
        history.spare.clear();
        history.spare_infos.clear();
        history.spare.reserve(std::max(new_size, history.size()));
        history.spare_infos.reserve(std::max(new_size, history.size()));
    }
    history.side.log.reserve_more(splices.size() + 1);
    grow(history.journal, 1);
}

/// Carries the splices out: each becomes its own inverse. There is room.
template <AgentMessage M>
void exchange(History<M>& history, std::vector<Splice<M>>& splices) noexcept {
    std::vector<M>& messages = history.messages;
    std::vector<MessageInfo>& infos = history.side.infos;
    history.side.note_moved();
    for (const Splice<M>& s : splices) history.side.replace_in_sums({s.first, s.count, s.infos});
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

/// Whether `splices` change what kept thinking is bound to; looks at thinking of messages from `since` on. `prints`: of
/// message `old`, and of that in a splice which takes its place.
using PrintsOf = FunctionRef<std::pair<BoundPrint, BoundPrint>(std::size_t old, std::size_t splice, std::size_t at)>;
[[nodiscard]] bool edits_prefix(const SideTable& side, std::span<const InfoSplice> splices, Serial since,
                                PrintsOf prints);
template <AgentMessage M>
[[nodiscard]] bool edits_prefix(const History<M>& history, const std::vector<Splice<M>>& splices, Serial since) {
    return edits_prefix(
        history.side, info_splices(splices), since, [&](std::size_t old, std::size_t splice, std::size_t at) {
            return std::pair(bound_print(history.messages[old]), bound_print(splices[splice].messages[at]));
        });
}

/// Replaces without an entry in the journal. Up to `exchange` everything can fail, and `splices` stay as they are then.
template <AgentMessage M>
void replace(History<M>& history, std::vector<Splice<M>>& splices) {
    const std::vector<InfoSplice> replaced = info_splices(splices);
    make_room(history, splices);
    history.side.note_replaced(replaced);
    exchange(history, splices);
}

/// Replaces, with `entry` as the newest of the journal. True if that changes what kept thinking is bound to.
template <AgentMessage M>
bool commit(History<M>& history, std::vector<Splice<M>>& splices, std::shared_ptr<JournalEntry<M>> entry) {
    const bool is_prefix_edit = edits_prefix(history, splices, 0);
    replace(history, splices);
    Counters& counters = history.side.counters;
    counters.prefix_edited = counters.prefix_edited || is_prefix_edit;
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
