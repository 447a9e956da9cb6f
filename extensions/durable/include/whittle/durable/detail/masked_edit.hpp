#pragma once

#include "whittle/base/error.hpp"
#include "whittle/durable/detail/saved_edit.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

// What a log in a store that masks holds: messages and texts as the store would keep them, with fingerprints that fit.
// The conversation in memory stays as it is.

void mask_mark(Mark& mark, const Storage& masks);
/// The marks of a message and its parts.
void mask_marks(MessageInfo& info, const Storage& masks);
void mask_notes(NoteBook& notes, const Storage& masks);
/// What `described`, the masked message, says of itself, over what is known of it. Throws Error(callback_failed) if it
/// has other parts than the message had.
void join_masked(MessageInfo& info, MessageInfo described, bool has_stored_texts);

/// Throws Error(callback_failed) if what the masks left of the message cannot be read again: nothing is saved then.
template <AgentMessage M>
requires HasCodec<M>
void mask_message(std::string& bytes, MessageInfo& info, bool has_stored_texts, const Storage& masks) {
    mask_marks(info, masks);
    std::optional<std::string> masked = masks.masked(bytes);
    if (!masked) return;
    try {
        join_masked(info, describe(message_traits<M>::from_bytes(*masked)), has_stored_texts);
    } catch (const Error& error) {
        throw Error(Errc::callback_failed,
                    std::string("save: a message cannot be read once it is masked: ") + error.what());
    }
    bytes = *std::move(masked);
}

template <AgentMessage M>
void mask_entry(SavedEntry& entry, const Storage& masks) {
    const StoredPlaces stored(entry);
    for (std::size_t s = 0; s < entry.undo.size(); ++s) {
        auto& range = entry.undo[s];
        for (std::size_t m = 0; m < range.messages.size(); ++m)
            mask_message<M>(range.messages[m], range.infos[m], stored.contains(s, m), masks);
    }
}

/// `messages`: those of the conversation, as the edit leaves it.
template <AgentMessage M>
void mask_edit(SavedEdit& edit, std::span<const M> messages, const Storage& masks) {
    for (SavedRange& range : edit.ranges) {
        for (std::size_t m = 0; m < range.messages.size(); ++m)
            mask_message<M>(range.messages[m], range.infos[m], false, masks);
    }
    for (SavedPatch& patch : edit.patches) {
        std::string bytes = message_traits<M>::to_bytes(messages[patch.at]);
        mask_message<M>(bytes, patch.info, false, masks);
    }
    for (SavedEntry& entry : edit.journal) mask_entry<M>(entry, masks);
    mask_notes(edit.notes, masks);
}

template <AgentMessage M>
void mask_document(SavedDocument& document, const Storage& masks) {
    for (std::size_t m = 0; m < document.messages.size(); ++m)
        mask_message<M>(document.messages[m], document.saved.infos[m], false, masks);
    for (SavedEntry& entry : document.saved.journal) mask_entry<M>(entry, masks);
    mask_notes(document.saved.notes, masks);
}

}  // namespace whittle::inline v0::detail
