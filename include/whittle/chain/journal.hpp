#pragma once

#include "whittle/message/outline.hpp"
#include "whittle/port/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// "Replace messages [first, first + count) by these." Carrying it out turns it into its own inverse.
template <AgentMessage M>
struct Splice {
    std::size_t first = 0;
    std::size_t count = 0;
    std::vector<M> messages{};
    std::vector<MessageInfo> infos{};
};

/// How to get a text back that left memory because a store holds it.
struct StoredText {
    std::size_t splice = 0;   ///< of the entry
    std::size_t message = 0;  ///< of the splice
    std::size_t part = 0;     ///< of the message
    std::string key{};
    std::shared_ptr<Storage> storage{};
    std::optional<std::size_t> element{};  ///< as in `StoredPart`
};

/// One commit, as it can be undone.
template <AgentMessage M>
struct JournalEntry {
    enum class Kind {
        edit,         ///< a middleware's commit
        tool_return,  ///< a tool result that came in shortened
        restore,      ///< an original brought back
        sync,         ///< the host replaced messages
    };
    std::uint64_t id = 0;  ///< from 1, never again used in a conversation
    Kind kind = Kind::edit;
    std::string by{};
    std::string reason{};
    Timestamp when = 0;
    std::int64_t tokens_before = 0;  ///< of the messages, by the counter that judged
    std::int64_t tokens_after = 0;
    std::vector<std::string> stored{};  ///< keys that the commit refers to
    std::vector<Splice<M>> undo{};      ///< in list order; positions are those right after the commit
    std::vector<StoredText> texts{};    ///< texts of `undo` that are in the store instead of in memory
    bool prefix_edited_before = false;  ///< `Conversation::prefix_edited` by messages, in front of the commit
    Serial next_serial = 0;             ///< messages from here on came later
};

/// The text under `text.key`, whole. Throws Error(not_found), or what the store throws.
[[nodiscard]] std::string fetch(const StoredText& text);

/// Throws Error(damaged): a message rebuilt from the store is not the one that was taken out.
[[noreturn]] void throw_damaged(std::string_view attempted, const StoredText& text);

/// One original message of `entry`, with its texts fetched from the store.
template <AgentMessage M>
[[nodiscard]] M load_original(const JournalEntry<M>& entry, std::size_t splice, std::size_t message) {
    M original = entry.undo[splice].messages[message];
    const StoredText* fetched = nullptr;
    for (const StoredText& text : entry.texts) {
        if (text.splice != splice || text.message != message) continue;
        message_traits<M>::set_text(original, text.part, fetch(text));
        fetched = &text;
    }
    const Hash128 expected = entry.undo[splice].infos[message].fingerprint;
    if (fetched != nullptr && expected != Hash128{} && fingerprint(original) != expected)
        throw_damaged("undo", *fetched);
    return original;
}

/// The splices that undo `entry`, complete.
template <AgentMessage M>
[[nodiscard]] std::vector<Splice<M>> load_undo(const JournalEntry<M>& entry) {
    std::vector<Splice<M>> undo = entry.undo;
    for (const StoredText& text : entry.texts) {
        undo[text.splice].messages[text.message] = load_original(entry, text.splice, text.message);
    }
    return undo;
}

/// Lets go of the original text if the store has it and putting it back gives the same message byte for byte.
/// `shown` is the message as it is now.
template <AgentMessage M>
void drop_stored_text(JournalEntry<M>& entry, StoredText text, const M& shown) {
    M& original = entry.undo[text.splice].messages[text.message];
    M back = shown;
    std::size_t at = 0;
    message_traits<M>::for_each_part(original, [&](const PartView& part) {
        if (at++ == text.part) message_traits<M>::set_text(back, text.part, part.text);
    });
    if (at <= text.part || !same_message(back, original)) return;  // no such part, or not the same again
    M small = shown;
    entry.texts.push_back(std::move(text));
    original = std::move(small);
}

}  // namespace whittle::inline v0
