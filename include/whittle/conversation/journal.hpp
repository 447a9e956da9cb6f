#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/traits.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// "Replace messages [first, first + count) by these." Carrying it out turns it into its own inverse.
template <AgentMessage M>
struct Splice {
    std::size_t first = 0;             ///< index of the first message that goes
    std::size_t count = 0;             ///< how many go; 0: the new ones are inserted
    std::vector<M> messages{};         ///< what comes in their place
    std::vector<MessageInfo> infos{};  ///< the side table's entry of each of `messages`
};

/// How to get a text back that left memory because a store holds it.
struct StoredText {
    std::size_t splice = 0;                        ///< of the entry
    std::size_t message_in_splice = 0;             ///< of the splice
    std::size_t part = 0;                          ///< of the message
    std::string key{};                             ///< of the object
    std::shared_ptr<Storage> storage{};            ///< that has the object
    std::optional<std::size_t> index_in_object{};  ///< as in `StoredPart`
};

/// What is known of a commit beside the messages that it replaced.
struct JournalRecord {
    /// Who changed the messages: a middleware, a tool's return, the host.
    enum class Kind {
        edit,         ///< a middleware's commit
        tool_return,  ///< a tool result that came in shortened
        restore,      ///< an original brought back
        sync,         ///< the host replaced messages
    };
    std::uint64_t id = 0;                        ///< from 1, never again used in a conversation
    Kind kind = Kind::edit;                      ///< what made it
    std::string by{};                            ///< who made it, such as a middleware's name
    std::string reason{};                        ///< a stable word, such as "clear"
    UnixMillis when = 0;                         ///< when it was made
    std::int64_t tokens_before = 0;              ///< of the messages, by the counter that judged
    std::int64_t tokens_after = 0;               ///< of the messages after the commit, by the same counter
    std::vector<std::string> referenced_keys{};  ///< keys that the commit refers to
    std::vector<StoredText>
        texts_in_store{};  ///< texts of the replaced messages that are in the store instead of in memory
    bool thinking_prefix_edited_before =
        false;               ///< `Conversation::thinking_prefix_edited` by messages, in front of the commit
    Serial next_serial = 0;  ///< messages from here on came later
};

/// One commit, as it can be undone.
template <AgentMessage M>
struct JournalEntry : JournalRecord {
    std::vector<Splice<M>> undo{};  ///< in list order; positions are those right after the commit
};

/// A message that a commit replaced, as the journal keeps it. A view, valid until the journal changes.
struct ReplacedMessage {
    const JournalRecord& record;        ///< of the commit
    std::size_t splice = 0;             ///< of its entry
    std::size_t message_in_splice = 0;  ///< of the splice
    const MessageInfo& info;            ///< its entry in the side table, as it was
};

/// The text under `text.key`, whole. Throws Error(not_found), also if it is none of `objects`, or what the store
/// throws: the journal may come from a saved table, which may name anything.
[[nodiscard]] std::string fetch_text(const StoredObjects& objects, const StoredText& text);
/// The same without that question: of a text that this process has stored itself, never of a journal's.
[[nodiscard]] std::string fetch_trusted_text(const StoredText& text);

/// `fetch_text` for one text after the other: an object that has several is read once.
class TextFetcher {
public:
    /// As the function `fetch_text`; the object that was read last is kept.
    [[nodiscard]] std::string fetch_text(const StoredObjects& objects, const StoredText& text);

private:
    std::string key_{};
    std::shared_ptr<Storage> storage_{};
    std::optional<StoredContent> content_{};
};

/// Calls `visit` for the texts of each message, which are put together for it, in their order.
void for_each_message(std::span<StoredText> texts, FunctionRef<void(std::span<StoredText>)> visit);
/// Adds `texts` to those of the record. Strong guarantee.
void add_texts(JournalRecord& record, std::span<StoredText> texts);

/// Throws Error(damaged): a message rebuilt from the store is not the one that was taken out.
[[noreturn]] void throw_damaged(std::string_view operation, const StoredText& text);

/// Puts the texts of one message back into it; `texts` are all that a store has of it.
template <AgentMessage M>
void restore_texts(M& original, const MessageInfo& info, const StoredObjects& objects,
                   std::span<const StoredText> texts) {
    if (texts.empty()) return;
    TextFetcher fetcher;
    PartFinder<M> parts;
    for (const StoredText& text : texts) parts.set_text(original, text.part, fetcher.fetch_text(objects, text));
    if (info.fingerprint != Hash128{} && fingerprint(original) != info.fingerprint) throw_damaged("undo", texts.back());
}

/// Calls `visit` for each message that a commit of the journal replaced, the oldest commit first.
template <AgentMessage M>
void visit_replaced(std::span<const std::shared_ptr<const JournalEntry<M>>> journal,
                    FunctionRef<void(const ReplacedMessage&)> visit) {
    for (const auto& entry : journal) {
        for (std::size_t s = 0; s < entry->undo.size(); ++s)
            for (std::size_t m = 0; m < entry->undo[s].infos.size(); ++m)
                visit({*entry, s, m, entry->undo[s].infos[m]});
    }
}

/// Such a message as it is in memory.
template <AgentMessage M>
[[nodiscard]] const M& message_in_memory(const ReplacedMessage& replaced) {
    return static_cast<const JournalEntry<M>&>(replaced.record)
        .undo[replaced.splice]
        .messages[replaced.message_in_splice];
}

/// Such a message with its texts fetched from the store.
template <AgentMessage M>
[[nodiscard]] M load_original(const StoredObjects& objects, const ReplacedMessage& replaced) {
    M original = message_in_memory<M>(replaced);
    std::vector<StoredText> texts;
    for (const StoredText& text : replaced.record.texts_in_store) {
        if (text.splice == replaced.splice && text.message_in_splice == replaced.message_in_splice)
            texts.push_back(text);
    }
    restore_texts(original, replaced.info, objects, texts);
    return original;
}

/// The splices that undo `entry`, complete. Calls `check_cancelled` for each message whose texts come from a store.
template <AgentMessage M>
[[nodiscard]] std::vector<Splice<M>> load_undo(const StoredObjects& objects, const JournalEntry<M>& entry,
                                               CancelCheck check_cancelled) {
    std::vector<Splice<M>> undo = entry.undo;
    std::vector<StoredText> texts = entry.texts_in_store;
    for_each_message(texts, [&](std::span<const StoredText> same) {
        check_cancelled();
        Splice<M>& splice = undo[same.front().splice];
        const std::size_t message = same.front().message_in_splice;
        restore_texts(splice.messages[message], splice.infos[message], objects, same);
    });
    return undo;
}

/// Lets go of the original texts of one message if the store has them and putting them back gives the same message byte
/// for byte. `shown` is the message as it is now. `query_store`: it may have other texts, and is asked for each; may
/// throw what it throws then.
template <AgentMessage M>
void release_texts_from_memory(JournalEntry<M>& entry, std::span<StoredText> texts, const M& shown,
                               bool query_store = false) {
    M& original = entry.undo[texts.front().splice].messages[texts.front().message_in_splice];
    M back = shown;
    PartFinder<M> parts;
    PartFinder<M> parts_back;
    std::size_t found = 0;
    for (const StoredText& text : texts) {
        parts.visit(original, text.part, [&](const PartView& part) {
            if (query_store && fetch_trusted_text(text) != part.text) return;
            parts_back.set_text(back, text.part, part.text);
            ++found;
        });
    }
    if (found < texts.size() || !same_message(back, original)) return;  // no such part, or not the same again
    M shorter = shown;
    add_texts(entry, texts);
    original = std::move(shorter);
}

}  // namespace whittle::inline v0
