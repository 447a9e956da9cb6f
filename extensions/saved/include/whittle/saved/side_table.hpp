#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/error.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/history.hpp"
#include "whittle/saved/detail/marks.hpp"
#include "whittle/storage/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

/// A journal entry whose messages are bytes.
struct SavedEntry : JournalRecord {
    struct Range {
        std::size_t first = 0;
        std::size_t count = 0;
        std::vector<std::string> messages{};
        std::vector<MessageInfo> infos{};
    };
    std::vector<Range> undo{};
};

/// A conversation without its messages, and without their type.
struct SavedConversation {
    std::string id{};
    std::vector<MessageInfo> infos{};
    std::vector<SavedEntry> journal{};
    NoteBook notes{};
    Counters counters{};
    Calibrations calibrations{};
    std::map<std::string, std::string> objects{};  ///< content by key
};

[[nodiscard]] std::string write_side_table(const SavedConversation& saved);
/// Checks the form, and that every number is one that a conversation can work with.
/// Calls `check_cancelled` every 64 KiB of it.
[[nodiscard]] SavedConversation read_side_table(std::string_view json, CancelCheck check_cancelled);
/// Throws Error(parse_failed) if a number is none that a conversation can work with.
void check_saved(const SavedConversation& saved);

/// Reads every object that marks and journal refer to. Throws Error(not_found) for one that `objects` does not allow.
void collect_objects(SavedConversation& saved, Storage& storage, const StoredObjects& objects);
/// What a conversation may read that was loaded from `saved`: what the host names, and what the table brings itself.
[[nodiscard]] std::vector<std::string> roots_of(const SavedConversation& saved, std::vector<std::string> roots);
/// Throws Error(damaged) if the table is that of another conversation than the host asked for.
void check_id(const SavedConversation& saved, std::string_view expected);
/// Puts them into `storage` and gives it to the journal's texts.
void place_objects(SavedConversation& saved, const std::shared_ptr<Storage>& storage);

void check_message_count(const SavedConversation& saved, std::size_t messages);
/// What the table knows of a message, over what the message says of itself. Throws Error(damaged) naming `index` if it
/// is not the message that was saved.
[[nodiscard]] MessageInfo join_saved(MessageInfo described, MessageInfo saved, std::size_t index);
/// Throws Error(damaged) if a message of the journal is not the one that was saved; its text may be in a store.
void check_original(const MessageInfo& described, const SavedEntry& entry, std::size_t range, std::size_t message,
                    bool is_stored);

/// The originals of an entry of which a store has a text.
class StoredPlaces {
public:
    explicit StoredPlaces(const SavedEntry& entry);
    [[nodiscard]] bool contains(std::size_t range, std::size_t message) const;

private:
    std::vector<std::pair<std::size_t, std::size_t>> places_{};
};

template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] SavedEntry to_saved(const JournalEntry<M>& entry) {
    SavedEntry saved{entry, {}};
    for (const Splice<M>& splice : entry.undo) {
        auto& range = saved.undo.emplace_back(SavedEntry::Range{splice.first, splice.count, {}, splice.infos});
        for (const M& m : splice.messages) range.messages.push_back(message_traits<M>::to_bytes(m));
    }
    return saved;
}

template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] SavedConversation to_saved(const Conversation<M>& conversation) {
    SavedConversation saved{.id = conversation.id(),
                            .notes = conversation.middleware_notes(),
                            .counters = conversation.counters(),
                            .calibrations = conversation.calibrations()};
    const Outline outline = conversation.outline();
    saved.infos.reserve(outline.size());
    for (std::size_t i = 0; i < outline.size(); ++i) saved.infos.push_back(outline[i]);
    for (const auto& entry : conversation.journal()) saved.journal.push_back(to_saved(*entry));
    return saved;
}

}  // namespace detail

/// What the host knows of a conversation that it loads. A side table is untrusted: it cannot give a conversation what
/// these do not allow.
struct LoadOptions {
    std::string
        expected_id{};  ///< of the conversation; a table with another one is refused. Empty: the table's is believed
    /// First components of keys, as `root_dir` has them: what it may read back beside what lies below its id. For a
    /// chain's own, `Chain::extra_readable_roots`; further ones for a host's own key function.
    std::vector<std::string> extra_readable_roots{};
    std::function<void()>
        check_cancelled{};  ///< called for each 64 KiB that are read and each message; what it throws gets out
};

/// Everything that `conversation` knows beside its messages, as one JSON text: save it beside them.
/// extensions/saved/README.md has the format. With `embed`, the objects that the conversation refers to are read from
/// there and go into the text: for storages that end with the process. Throws Error(not_found) if one is not there, and
/// what `embed` throws.
template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] std::string to_side_table(const Conversation<M>& conversation, Storage* embed = nullptr) {
    detail::SavedConversation saved = detail::to_saved(conversation);
    if (embed != nullptr) detail::collect_objects(saved, *embed, *conversation.objects());
    return detail::write_side_table(saved);
}

namespace detail {

template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] Conversation<M> to_conversation(SavedConversation saved, std::vector<M> messages,
                                              std::shared_ptr<Storage> storage, const LoadOptions& options);

inline void check_cancelled(const LoadOptions& options) {
    if (options.check_cancelled) options.check_cancelled();
}

[[nodiscard]] inline SavedConversation read_side_table(std::string_view json, const LoadOptions& options) {
    SavedConversation saved = read_side_table(json, [&] { check_cancelled(options); });
    check_id(saved, options.expected_id);
    return saved;
}

}  // namespace detail

/// The inverse: a conversation of `messages` and what was saved beside them. `storage` is the one that the journal
/// reads from; embedded objects are put into it. Throws Error(parse_failed) for text that no side table is,
/// Error(damaged) if the messages are not those that were saved (number, role and parts of each),
/// Error(invalid_argument) for embedded objects without a storage, and what `storage` throws. `options`: what the table
/// is not to be believed.
template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] Conversation<M> from_side_table(std::string_view json, std::vector<M> messages,
                                              std::shared_ptr<Storage> storage, const LoadOptions& options = {}) {
    detail::SavedConversation saved = detail::read_side_table(json, options);
    return detail::to_conversation<M>(std::move(saved), std::move(messages), std::move(storage), options);
}

/// For a list that went on since it was saved: a conversation of the saved messages at its front. `sync` with the
/// whole list then appends the others. Throws what `from_side_table` throws; Error(damaged) if `messages` does not
/// start with those that were saved.
template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] Conversation<M> prefix_from_side_table(std::string_view json, std::span<const M> messages,
                                                     std::shared_ptr<Storage> storage,
                                                     const LoadOptions& options = {}) {
    detail::SavedConversation saved = detail::read_side_table(json, options);
    const auto known = messages.first((std::min)(messages.size(), saved.infos.size()));
    return detail::to_conversation<M>(std::move(saved), {known.begin(), known.end()}, std::move(storage), options);
}

template <AgentMessage M>
requires HasCodec<M> Conversation<M> detail::to_conversation(SavedConversation saved, std::vector<M> messages,
                                                             std::shared_ptr<Storage> storage,
                                                             const LoadOptions& options) {
    detail::check_message_count(saved, messages.size());
    ConversationState<M> state{.id = std::move(saved.id)};
    for (std::size_t i = 0; i < messages.size(); ++i) {
        detail::check_cancelled(options);
        state.infos.push_back(detail::join_saved(describe(messages[i]), std::move(saved.infos[i]), i));
    }
    std::vector<std::vector<Splice<M>>> undo;
    for (const detail::SavedEntry& entry : saved.journal) {
        auto& splices = undo.emplace_back();
        const detail::StoredPlaces stored(entry);
        for (std::size_t s = 0; s < entry.undo.size(); ++s) {
            Splice<M>& splice =
                splices.emplace_back(Splice<M>{entry.undo[s].first, entry.undo[s].count, {}, entry.undo[s].infos});
            for (const std::string& bytes : entry.undo[s].messages) {
                detail::check_cancelled(options);
                splice.messages.push_back(message_traits<M>::from_bytes(bytes));
                const std::size_t m = splice.messages.size() - 1;
                detail::check_original(describe(splice.messages.back()), entry, s, m, stored.contains(s, m));
            }
        }
    }
    detail::place_objects(saved, storage);
    for (std::size_t e = 0; e < saved.journal.size(); ++e) {
        JournalRecord& record = saved.journal[e];
        state.journal.push_back(
            std::make_shared<const JournalEntry<M>>(JournalEntry<M>{std::move(record), std::move(undo[e])}));
    }
    state.roots = detail::roots_of(saved, options.extra_readable_roots);
    state.messages = std::move(messages);
    state.notes = std::move(saved.notes);
    state.counters = saved.counters;
    state.calibrations = std::move(saved.calibrations);
    return Conversation<M>::from_state(std::move(state));
}

// Marks that go with messages, for hosts that save messages and nothing beside them.

/// The messages, each with an id of what the conversation knows of it (`HasMarkId`), which goes into `storage`: few
/// small objects below the conversation's id, `{id}/marks/`, of which a later call writes only those that differ. Save
/// the messages; `load_marked_messages` is the inverse. Journal and notes are not saved: for `undo` save a side table.
/// Throws what the store throws.
template <AgentMessage M>
requires HasMarkId<M>
[[nodiscard]] std::vector<M> save_marks(const Conversation<M>& conversation, Storage& storage) {
    const std::vector<std::string> ids =
        detail::save_marks(conversation.id(), conversation.outline(), conversation.counters(), storage);
    std::vector<M> messages(conversation.messages().begin(), conversation.messages().end());
    for (std::size_t i = 0; i < messages.size(); ++i) message_traits<M>::set_mark_id(messages[i], ids[i]);
    return messages;
}

/// A conversation of messages that may carry ids, which are taken off. What one says is believed only if an object
/// below `{options.expected_id}/marks/` knows it, of a message with this content, behind those that it stood behind;
/// all others are messages that the conversation has not seen, as if they were pushed. Throws Error(invalid_argument)
/// without `options.expected_id` or `storage`, and what the store throws.
template <AgentMessage M>
requires HasMarkId<M>
[[nodiscard]] Conversation<M> load_marked_messages(std::vector<M> messages, const std::shared_ptr<Storage>& storage,
                                                   const LoadOptions& options) {
    detail::KnownMarks known(options.expected_id, storage.get());
    for (M& message : messages) {
        detail::check_cancelled(options);
        known.add(describe(message), message_traits<M>::mark_id(message));
        message_traits<M>::set_mark_id(message, {});
    }
    detail::MarkedList marked = known.take();
    std::vector<M> unseen(std::make_move_iterator(messages.begin() + static_cast<std::ptrdiff_t>(marked.infos.size())),
                          std::make_move_iterator(messages.end()));
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(marked.infos.size()), messages.end());
    ConversationState<M> state{.id = to_safe_name(options.expected_id)};
    state.messages = std::move(messages);
    state.infos = std::move(marked.infos);
    state.counters = marked.counters;
    state.roots = detail::roots_of({}, options.extra_readable_roots);
    Conversation<M> conversation = Conversation<M>::from_state(std::move(state));
    for (M& message : unseen) conversation.push_back(std::move(message));
    return conversation;
}

}  // namespace whittle::inline v0
