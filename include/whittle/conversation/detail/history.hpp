#pragma once

#include "whittle/conversation/detail/side_table.hpp"
#include "whittle/conversation/journal.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Everything that a saved conversation consists of. Token counts are not part of it: they are made again.
template <AgentMessage M>
struct ConversationState {
    std::string id{};                                               ///< of the conversation
    std::vector<M> messages{};                                      ///< as they stand now
    std::vector<MessageInfo> infos{};                               ///< as many as messages
    std::vector<std::shared_ptr<const JournalEntry<M>>> journal{};  ///< commits, oldest first
    NoteBook notes{};                                               ///< what middlewares keep
    Counters counters{};                                            ///< serials, turns, calls
    Calibrations calibrations{};                                    ///< what was learnt of billed tokens
    std::vector<std::string> roots{};  ///< as `StoredObjects::allow` takes them; no saved table has them
};

namespace detail {

/// The messages of a conversation, what is known beside them, and how each commit is undone. Plain state: append.hpp
/// and append_host.hpp add to it, replace.hpp commits and rolls back, undo.hpp undoes, sync.hpp follows a host.
template <AgentMessage M>
struct History {
    std::vector<M> messages{};
    SideTable side;
    std::vector<std::shared_ptr<const JournalEntry<M>>> journal{};
    std::vector<M> spare{};  // room for `exchange`
    std::vector<MessageInfo> spare_infos{};

    [[nodiscard]] std::size_t size() const noexcept { return messages.size(); }
};

/// Counts a message in the columns that it is not counted in yet.
template <AgentMessage M>
void count_into(MessageInfo& info, const M& message, const TokenColumns& columns) {
    info.tokens_by_counter.reserve(columns.size());
    while (info.tokens_by_counter.size() < columns.size())
        info.tokens_by_counter.push_back(count_message(message, *columns[info.tokens_by_counter.size()].counter));
}

/// The column of a counter. A new one counts all messages.
template <AgentMessage M>
[[nodiscard]] std::size_t column_of(History<M>& history, const std::shared_ptr<const TokenCounter>& counter) {
    return history.side.column(counter, [&](std::size_t i) { return count_message(history.messages[i], *counter); });
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<JournalEntry<M>> new_entry(const History<M>& history, JournalRecord::Kind kind,
                                                         std::string by, std::string reason) {
    return std::make_shared<JournalEntry<M>>(
        JournalEntry<M>{history.side.new_record(kind, std::move(by), std::move(reason)), {}});
}

template <AgentMessage M>
void add_entry(History<M>& history, std::shared_ptr<JournalEntry<M>> entry) {
    history.journal.push_back(std::move(entry));
    ++history.side.counters.next_entry;
}

}  // namespace detail

}  // namespace whittle::inline v0
