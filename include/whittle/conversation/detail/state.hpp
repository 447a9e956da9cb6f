#pragma once

#include "whittle/conversation/journal.hpp"
#include "whittle/conversation/detail/side_table.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// Everything that a saved conversation consists of. Token counts are not part of it: they are made again.
template <AgentMessage M>
struct ConversationState {
    std::string id{};
    std::vector<M> messages{};
    std::vector<MessageInfo> infos{};  ///< as many as messages
    std::vector<std::shared_ptr<const JournalEntry<M>>> journal{};
    NoteBook notes{};
    Counters counters{};
    std::vector<std::string> roots{};  ///< as `StoredObjects::allow` takes them; no saved table has them
};

}  // namespace whittle::inline v0
