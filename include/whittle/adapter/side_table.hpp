#pragma once

#include "whittle/base/error.hpp"
#include "whittle/chain/conversation.hpp"
#include "whittle/chain/state.hpp"
#include "whittle/port/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

/// A journal entry whose messages are bytes.
struct SavedEntry {
    struct Stretch {
        std::size_t first = 0;
        std::size_t count = 0;
        std::vector<std::string> messages{};
        std::vector<MessageInfo> infos{};
    };
    std::uint64_t id = 0;
    int kind = 0;  // of `JournalEntry::Kind`
    std::string by{};
    std::string reason{};
    Timestamp when = 0;
    std::int64_t tokens_before = 0;
    std::int64_t tokens_after = 0;
    std::vector<std::string> stored{};
    std::vector<Stretch> undo{};
    std::vector<StoredText> texts{};
    bool prefix_edited_before = false;
    Serial next_serial = 0;
};

/// A conversation without its messages, and without their type.
struct SavedConversation {
    std::string id{};
    std::vector<MessageInfo> infos{};
    std::vector<SavedEntry> journal{};
    NoteBook notes{};
    std::uint64_t version = 0;
    Serial next_serial = 1;
    std::uint64_t next_entry = 1;
    int turn = 0;
    int run = 0;
    int model_calls = 0;
    std::int64_t read_backs = 0;
    bool explicit_turns = false;
    std::int64_t reported_tokens = 0;
    Serial reported_at = 0;
    bool prefix_edited = false;
    bool request_edited = false;
    Hash128 request{};
    std::map<std::string, std::string> objects{};  ///< content by key
};

[[nodiscard]] std::string write_side_table(const SavedConversation& saved);
/// Checks the form, and that every number is one that a conversation can work with.
[[nodiscard]] SavedConversation read_side_table(std::string_view json);

/// Reads every object that marks and journal refer to.
void collect_objects(SavedConversation& saved, Storage& storage);
/// Puts them into `storage` and gives it to the journal's texts.
void place_objects(SavedConversation& saved, const std::shared_ptr<Storage>& storage);

void check_message_count(const SavedConversation& saved, std::size_t messages);
/// What the table knows of a message, over what the message says of itself. Throws Error(damaged) naming `index` if it
/// is not the message that was saved.
[[nodiscard]] MessageInfo join_saved(MessageInfo described, MessageInfo saved, std::size_t index);
/// The same for a message of the journal; its text may be in a store.
void check_original(const MessageInfo& described, const SavedEntry& entry, std::size_t stretch, std::size_t message);

}  // namespace detail

/// Everything that `conversation` knows beside its messages, as one JSON text: save it beside them. docs/saving.md has
/// the format. With `embed`, the objects that the conversation refers to are read from there and go into the text: for
/// storages that end with the process. Throws Error(not_found) if one is not there, and what `embed` throws.
template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] std::string to_side_table(const Conversation<M>& conversation, Storage* embed = nullptr) {
    ConversationState<M> state = conversation.state();
    detail::SavedConversation saved{
        .id = std::move(state.id),
        .infos = std::move(state.infos),
        .journal = {},
        .notes = std::move(state.notes),
        .version = state.version,
        .next_serial = state.next_serial,
        .next_entry = state.next_entry,
        .turn = state.turn,
        .run = state.run,
        .model_calls = state.model_calls,
        .read_backs = state.read_backs,
        .explicit_turns = state.explicit_turns,
        .reported_tokens = state.reported_tokens,
        .reported_at = state.reported_at,
        .prefix_edited = state.prefix_edited,
        .request_edited = state.request_edited,
        .request = state.request,
    };
    for (const auto& entry : state.journal) {
        detail::SavedEntry& to = saved.journal.emplace_back(detail::SavedEntry{entry->id,
                                                                               static_cast<int>(entry->kind),
                                                                               entry->by,
                                                                               entry->reason,
                                                                               entry->when,
                                                                               entry->tokens_before,
                                                                               entry->tokens_after,
                                                                               entry->stored,
                                                                               {},
                                                                               entry->texts,
                                                                               entry->prefix_edited_before,
                                                                               entry->next_serial});
        for (const Splice<M>& splice : entry->undo) {
            auto& stretch =
                to.undo.emplace_back(detail::SavedEntry::Stretch{splice.first, splice.count, {}, splice.infos});
            for (const M& m : splice.messages) stretch.messages.push_back(message_traits<M>::to_bytes(m));
        }
    }
    if (embed != nullptr) detail::collect_objects(saved, *embed);
    return detail::write_side_table(saved);
}

/// The inverse: a conversation of `messages` and what was saved beside them. `storage` is the one that the journal
/// reads from; embedded objects are put into it. Throws Error(parse_failed) for text that no side table is,
/// Error(damaged) if the messages are not those that were saved (number, role and parts of each),
/// Error(invalid_argument) for embedded objects without a storage, and what `storage` throws.
template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] Conversation<M> from_side_table(std::string_view json, std::vector<M> messages,
                                              std::shared_ptr<Storage> storage) {
    detail::SavedConversation saved = detail::read_side_table(json);
    detail::check_message_count(saved, messages.size());
    ConversationState<M> state{.id = std::move(saved.id)};
    for (std::size_t i = 0; i < messages.size(); ++i) {
        state.infos.push_back(detail::join_saved(describe(messages[i]), std::move(saved.infos[i]), i));
    }
    std::vector<std::vector<Splice<M>>> undo;
    for (const detail::SavedEntry& entry : saved.journal) {
        auto& splices = undo.emplace_back();
        for (std::size_t s = 0; s < entry.undo.size(); ++s) {
            Splice<M>& splice =
                splices.emplace_back(Splice<M>{entry.undo[s].first, entry.undo[s].count, {}, entry.undo[s].infos});
            for (const std::string& bytes : entry.undo[s].messages) {
                splice.messages.push_back(message_traits<M>::from_bytes(bytes));
                detail::check_original(describe(splice.messages.back()), entry, s, splice.messages.size() - 1);
            }
        }
    }
    detail::place_objects(saved, storage);
    for (std::size_t e = 0; e < saved.journal.size(); ++e) {
        detail::SavedEntry& from = saved.journal[e];
        state.journal.push_back(std::make_shared<const JournalEntry<M>>(JournalEntry<M>{
            from.id, static_cast<typename JournalEntry<M>::Kind>(from.kind), std::move(from.by), std::move(from.reason),
            from.when, from.tokens_before, from.tokens_after, std::move(from.stored), std::move(undo[e]),
            std::move(from.texts), from.prefix_edited_before, from.next_serial}));
    }
    state.messages = std::move(messages);
    state.notes = std::move(saved.notes);
    state.version = saved.version;
    state.next_serial = saved.next_serial;
    state.next_entry = saved.next_entry;
    state.turn = saved.turn;
    state.run = saved.run;
    state.model_calls = saved.model_calls;
    state.read_backs = saved.read_backs;
    state.explicit_turns = saved.explicit_turns;
    state.reported_tokens = saved.reported_tokens;
    state.reported_at = saved.reported_at;
    state.prefix_edited = saved.prefix_edited;
    state.request_edited = saved.request_edited;
    state.request = saved.request;
    return Conversation<M>::from_state(std::move(state));
}

}  // namespace whittle::inline v0
