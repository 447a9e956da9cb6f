#pragma once

#include "whittle/chain/journal.hpp"
#include "whittle/chain/notes.hpp"

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
    std::uint64_t version = 0;
    Serial next_serial = 1;
    std::uint64_t next_entry = 1;
    int turn = 0;
    int run = 0;
    int model_calls = 0;
    std::int64_t read_backs = 0;
    bool explicit_turns = false;
    std::int64_t reported_tokens = 0;  ///< the provider's last usage, 0 for none
    Serial reported_at = 0;            ///< the reply that carried it; 0 if the conversation was edited since
    bool prefix_edited = false;        ///< something in front of kept thinking was edited
    bool request_edited = false;       ///< the same by other tools or another system text
    Hash128 request{};                 ///< fingerprint of these; 0 before the first request that was looked at
    std::vector<std::string> roots{};  ///< as `StoredObjects::allow` takes them; no saved table has them
};

}  // namespace whittle::inline v0
