#pragma once

// How the journal of a history gives back what was replaced, and how its texts leave memory.

#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/replace.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// After a hook: texts that a store has acknowledged leave memory. Saves room only, so a failure is no failure.
template <AgentMessage M>
void settle(History<M>& history, std::size_t from_entry) noexcept {
    for (std::size_t e = from_entry; e < history.journal.size(); ++e) {
        auto entry = std::const_pointer_cast<JournalEntry<M>>(history.journal[e]);
        if (entry->kind != JournalRecord::Kind::edit || entry->texts_in_store.empty()) continue;
        try {
            std::vector<StoredText> texts = std::exchange(entry->texts_in_store, {});
            entry->texts_in_store.reserve(texts.size());
            Positions positions(history.side.outline());
            for_each_message(texts, [&](std::span<StoredText> same) {
                const Splice<M>& splice = entry->undo[same.front().splice];
                const std::size_t message = same.front().message_in_splice;
                const auto now = positions.find(splice.infos[message].serial, splice.first + message);
                if (now) release_texts_from_memory(*entry, same, history.messages[*now]);
            });
        } catch (...) {
        }
    }
    free_spare(history);
}

/// Makes what a journal entry kept ready to come back, pinned.
template <AgentMessage M>
void prepare_undo(const SideTable& side, Splice<M>& splice, CancelCheck check_cancelled) {
    for (std::size_t i = 0; i < splice.messages.size(); ++i) {
        check_cancelled();
        MessageInfo& info = splice.infos[i];
        if (info.fingerprint == Hash128{}) {  // its text was in a store from the start
            MessageInfo fresh = describe(splice.messages[i]);
            keep_known(fresh, info, {});
            info = std::move(fresh);
        }
        info.tokens_by_counter.clear();  // the columns may be others by now
        count_into(info, splice.messages[i], side.columns);
        info.pinned = true;
    }
}

/// False if the journal is empty.
template <AgentMessage M>
bool undo_newest(History<M>& history, CancelCheck check_cancelled) {
    if (history.journal.empty()) return false;
    const JournalEntry<M>& entry = *history.journal.back();
    std::vector<Splice<M>> splices = load_undo(history.side.own_objects(), entry, check_cancelled);
    for (Splice<M>& splice : splices) prepare_undo(history.side, splice, check_cancelled);
    // Thinking from before the commit is valid again, later thinking was bound to what is taken back now.
    const bool is_edited = entry.thinking_prefix_edited_before || edits_prefix(history, splices, entry.next_serial);
    replace(history, splices);
    history.side.counters.thinking_prefix_edited = is_edited;
    history.journal.pop_back();
    return true;
}

/// Brings back the original of message `serial`.
template <AgentMessage M>
void restore(History<M>& history, Serial serial) {
    SideTable& side = history.side;
    std::vector<ReplacedMessage> replaced;
    visit_replaced<M>(history.journal, [&](const ReplacedMessage& message) {
        if (message.info.serial == serial) replaced.push_back(message);
    });
    const std::size_t index = require_index(side.outline(), serial, replaced);
    if (replaced.empty()) throw_is_original(serial);
    const ReplacedMessage& oldest = replaced.front();
    std::vector<Splice<M>> splices;
    splices.push_back({index, 1, {load_original<M>(side.own_objects(), oldest)}, {oldest.info}});
    prepare_undo(side, splices.front(), never_cancelled);
    MessageInfo& info = splices.front().infos.front();
    if (info.fingerprint == side.infos[index].fingerprint) throw_is_original(serial);
    link_to_round(info, Outline(std::span<const MessageInfo>(side.infos).first(index)));
    require_restorable(side.outline(), index, info, oldest.record.id);
    commit(history, splices, new_entry(history, JournalRecord::Kind::restore, "host", "restore"));
}

}  // namespace whittle::inline v0::detail
