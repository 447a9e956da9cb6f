// Marks that go with messages.
#include "whittle/saved/side_table.hpp"

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

void save_messages(const Conversation<ChatMessage>& conversation, const std::string& path, Storage& storage) {
    std::ofstream out(path, std::ios::binary);
    for (const ChatMessage& m : save_marks(conversation, storage))
        out << message_traits<ChatMessage>::to_bytes(m) << '\n';
}

Conversation<ChatMessage> load_messages(const std::string& path, const std::string& id,
                                        const std::shared_ptr<Storage>& storage) {
    std::vector<ChatMessage> messages;
    std::ifstream in(path, std::ios::binary);
    for (std::string line; std::getline(in, line);) messages.push_back(message_traits<ChatMessage>::from_bytes(line));
    return load_marked_messages(std::move(messages), storage, {.expected_id = id});
}

}  // namespace

TEST_CASE("the turns of a conversation come back from its messages and the store", "[marks]") {
    const whittle::testing::TempDir dir;
    const std::string path = (dir.path() / "talk.jsonl").string();
    const auto storage = memory_storage();
    Conversation<ChatMessage> conversation("talk");
    for (int turn = 0; turn < 3; ++turn) {
        conversation.begin_turn();
        conversation.push_back(ChatMessage::user("go on"));
        conversation.push_back(ChatMessage::user("and that"));
    }
    save_messages(conversation, path, *storage);
    const Conversation<ChatMessage> loaded = load_messages(path, "talk", storage);
    CHECK(loaded.turn_number() == 3);
    CHECK(loaded.outline()[2].turn == 2);
}
