// A host that keeps its own vector of messages: sync before the hook, take over the changes after it.
#include <whittle/whittle.hpp>

#include <iostream>
#include <vector>

using namespace whittle;

int main() {
    std::vector<ChatMessage> host{ChatMessage::user("Read both logs.")};
    Conversation conversation("host");
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Reduction{{.skip_truncation = true, .max_tokens_for_clear = 1'000}}};

    for (const std::string id : {"a", "b"}) {
        host.push_back(ChatMessage::assistant().call(id, "read_log"));
        host.push_back(ChatMessage::result(id, "read_log", "log " + id + std::string(5'000, '.')));
        // [sync]
        const SyncResult synced = conversation.sync(host);  // the host's list as it is now
        chain.before_model(conversation);
        conversation.apply_to(host, synced.version);  // copies only what the chain changed
        // [/sync]
        std::cout << synced.appended << " new messages, " << conversation.replacements_since(synced.version).size()
                  << " changes\n";
    }
    for (const ChatMessage& m : host) std::cout << to_string(m.role) << ": " << m.parts.size() << " part(s)\n";
    std::cout << text_of(host[2], 0) << '\n';
}
