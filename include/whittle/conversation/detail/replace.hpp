#pragma once

// How Conversation<M> replaces stretches, rolls back and undoes; included by conversation.hpp.

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

template <AgentMessage M>
bool Conversation<M>::is_in_place(const std::vector<Splice<M>>& splices) noexcept {
    return std::ranges::all_of(splices, [](const Splice<M>& s) { return s.count == s.messages.size(); });
}

template <AgentMessage M>
std::size_t Conversation<M>::make_room(std::vector<Splice<M>>& splices) {
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
    side_.log.reserve_more(splices.size() + 1);
    detail::grow(journal_, 1);
    return new_size;
}

template <AgentMessage M>
void Conversation<M>::exchange(std::vector<Splice<M>>& splices) noexcept {
    ++side_.epoch;
    ++side_.edits;
    side_.groups.forget();
    for (const Splice<M>& s : splices) {
        for (const MessageInfo& info : std::span(side_.infos).subspan(s.first, s.count)) side_.take_from_sums(info);
        for (const MessageInfo& info : s.infos) side_.add_to_sums(info);
    }
    if (is_in_place(splices)) {
        for (Splice<M>& s : splices) {
            std::ranges::swap_ranges(s.messages, std::span(messages_).subspan(s.first, s.count));
            std::ranges::swap_ranges(s.infos, std::span(side_.infos).subspan(s.first, s.count));
        }
        return;
    }
    spare_messages_.clear();
    spare_infos_.clear();
    std::size_t from = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; from < end; ++from) {
            spare_messages_.push_back(std::move(messages_[from]));
            spare_infos_.push_back(std::move(side_.infos[from]));
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
            s.infos.push_back(std::move(side_.infos[from]));
        }
        s.count = inserted;
    }
    keep_until(messages_.size());
    messages_.swap(spare_messages_);
    side_.infos.swap(spare_infos_);
    spare_messages_.clear();
    spare_infos_.clear();
}

template <AgentMessage M>
std::shared_ptr<JournalEntry<M>> Conversation<M>::new_entry(typename JournalEntry<M>::Kind kind, std::string by,
                                                            std::string reason) {
    return std::make_shared<JournalEntry<M>>(
        JournalEntry<M>{side_.new_record(kind, std::move(by), std::move(reason)), {}});
}

/// The commit point: up to `exchange` everything can fail, from there on nothing.
template <AgentMessage M>
bool Conversation<M>::commit(std::vector<Splice<M>> splices, std::shared_ptr<JournalEntry<M>> entry) {
    const bool is_prefix_edit = entry != nullptr && edits_prefix(splices, 0);
    const std::size_t new_size = make_room(splices);
    ++side_.counters.version;
    if (splices.empty()) side_.log.add(side_.counters.version, 0, 0, 0, new_size);
    std::ptrdiff_t shift = 0;
    for (const Splice<M>& s : splices) {
        side_.log.add(side_.counters.version, static_cast<std::size_t>(static_cast<std::ptrdiff_t>(s.first) + shift),
                      s.count, s.messages.size(), new_size);
        shift += static_cast<std::ptrdiff_t>(s.messages.size()) - static_cast<std::ptrdiff_t>(s.count);
    }
    exchange(splices);
    side_.counters.reported_at = 0;
    if (entry == nullptr) return false;
    side_.counters.prefix_edited = side_.counters.prefix_edited || is_prefix_edit;
    entry->undo = std::move(splices);
    journal_.push_back(std::move(entry));
    ++side_.counters.next_entry;
    return is_prefix_edit;
}

template <AgentMessage M>
bool Conversation<M>::edits_prefix(const std::vector<Splice<M>>& splices, Serial since) const {
    const auto thinks = [](const MessageInfo& info) { return info.has(PartKind::thinking); };
    const auto brings_thinking = [&](const Splice<M>& s) { return std::ranges::any_of(s.infos, thinks); };
    if (!side_.has_thinking() && std::ranges::none_of(splices, brings_thinking)) return false;
    detail::PrefixWalk walk(since);
    std::size_t old = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; old < end; ++old) walk.keep(side_.infos[old]);
    };
    for (const Splice<M>& s : splices) {
        keep_until(s.first);
        const std::size_t end = s.first + s.count;
        detail::Positions places(Outline(std::span<const MessageInfo>(side_.infos).subspan(s.first, s.count)));
        for (std::size_t i = 0; i < s.infos.size(); ++i) {
            const auto same = places.find(s.infos[i].serial, i);
            if (!same || s.first + *same < old) {
                walk.insert(s.infos[i]);
                continue;
            }
            for (const std::size_t at = s.first + *same; old < at; ++old) walk.remove(side_.infos[old]);
            walk.change(detail::bound_print(messages_[old]), detail::bound_print(s.messages[i]), s.infos[i].serial);
            ++old;
        }
        for (; old < end; ++old) walk.remove(side_.infos[old]);
    }
    keep_until(side_.infos.size());
    return walk.first_void().has_value();
}

template <AgentMessage M>
void Conversation<M>::roll_back(const detail::Savepoint& to) noexcept {
    while (journal_.size() > to.journal) {
        // Made in this hook by this conversation: nobody shares it, and no text of it has gone to a store.
        auto entry = std::const_pointer_cast<JournalEntry<M>>(journal_.back());
        journal_.pop_back();
        exchange(entry->undo);
    }
    side_.roll_back(to.side);
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
            std::vector<StoredText> texts = std::exchange(entry->texts, {});
            entry->texts.reserve(texts.size());
            detail::Positions positions(outline());
            sort_by_message(texts);
            for (std::span<StoredText> left(texts); !left.empty();) {
                const std::span<StoredText> same = left.first(count_of_first_message(left));
                const Splice<M>& splice = entry->undo[same.front().splice];
                const std::size_t message = same.front().message;
                const auto now = positions.find(splice.infos[message].serial, splice.first + message);
                if (now) drop_stored_texts(*entry, same, messages_[*now]);
                left = left.subspan(same.size());
            }
        } catch (...) {
        }
    }
    free_spare();
}

template <AgentMessage M>
void Conversation<M>::prepare_undo(Splice<M>& splice, bool pin, Poll poll) {
    for (std::size_t i = 0; i < splice.messages.size(); ++i) {
        poll();
        MessageInfo& info = splice.infos[i];
        if (info.fingerprint == Hash128{}) {  // its text was in a store from the start
            MessageInfo fresh = describe(splice.messages[i]);
            for (std::size_t p = 0; p < fresh.parts.size() && p < info.parts.size(); ++p) {
                fresh.parts[p].object_name = info.parts[p].object_name;
                fresh.parts[p].tool = info.parts[p].tool;
                fresh.parts[p].call_id.share_if_equal(info.parts[p].call_id);
            }
            info.parts = std::move(fresh.parts);
            info.fingerprint = fresh.fingerprint;
        }
        info.tokens.clear();  // the columns may be others by now
        count_into(info, splice.messages[i]);
        info.pinned = info.pinned || pin;
    }
}

template <AgentMessage M>
bool Conversation<M>::undo(Poll poll) {
    require_outside_hook("undo");
    if (journal_.empty()) return false;
    std::vector<Splice<M>> splices = load_undo(side_.own_objects(), *journal_.back(), poll);
    for (Splice<M>& splice : splices) prepare_undo(splice, true, poll);
    const JournalEntry<M>& entry = *journal_.back();
    // Thinking from before the commit is valid again, later thinking was bound to what is taken back now.
    const bool is_edited = entry.prefix_edited_before || edits_prefix(splices, entry.next_serial);
    commit(std::move(splices), nullptr);
    side_.counters.prefix_edited = is_edited;
    journal_.pop_back();
    return true;
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
            Splice<M> splice{index, 1, {load_original(side_.own_objects(), *entry, s, item)}, {*found}};
            prepare_undo(splice, true, no_poll);
            if (splice.infos.front().fingerprint == side_.infos[index].fingerprint) detail::throw_is_original(serial);
            join_group(splice.infos.front(), Outline(std::span<const MessageInfo>(side_.infos).first(index)));
            detail::require_restorable(outline(), index, splice.infos.front(), entry->id);
            std::vector<Splice<M>> splices;
            splices.push_back(std::move(splice));
            commit(std::move(splices), new_entry(JournalEntry<M>::Kind::restore, "host", "restore"));
            return;
        }
    }
    detail::throw_is_original(serial);
}

template <AgentMessage M>
Conversation<M> Conversation<M>::fork(std::string new_id, const std::shared_ptr<Storage>& storage) const {
    require_outside_hook("fork");  // the journal entries of a hook are not final
    Conversation copy(*this);
    copy.side_.id = to_safe_name(new_id.empty() ? random_ids()->next() : new_id);
    if (!side_.objects) return copy;
    copy.side_.objects = std::make_shared<StoredObjects>(*side_.objects, copy.side_.id);
    copy.side_.objects->save_roots(storage);
    return copy;
}

}  // namespace whittle::inline v0
