// A conversation in two files.
#include "whittle/chain/chain.hpp"
#include "whittle/saved/side_table.hpp"

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace whittle;

namespace {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void save(const Conversation<ChatMessage>& conversation, const std::string& path) {
    std::ofstream messages(path, std::ios::binary);
    for (const ChatMessage& m : conversation.messages()) messages << message_traits<ChatMessage>::to_bytes(m) << '\n';
    std::ofstream(path + ".whittle.json", std::ios::binary) << to_side_table(conversation);
}

Conversation<ChatMessage> load(const std::string& path, std::shared_ptr<Storage> storage) {
    std::vector<ChatMessage> messages;
    std::ifstream in(path, std::ios::binary);
    for (std::string line; std::getline(in, line);) messages.push_back(message_traits<ChatMessage>::from_bytes(line));
    return from_side_table(read_file(path + ".whittle.json"), std::move(messages), std::move(storage));
}

}  // namespace

TEST_CASE("a conversation saved to two files is loaded with its marks", "[side_table]") {
    const testing::TempDir dir;
    Conversation<ChatMessage> conversation("demo");
    conversation.push_back(ChatMessage::user("hello\nthere"));
    conversation.pin(1);
    save(conversation, dir / "demo.jsonl");
    const Conversation<ChatMessage> loaded = load(dir / "demo.jsonl", nullptr);
    CHECK(loaded.id() == "demo");
    CHECK(loaded.messages()[0] == conversation.messages()[0]);
    CHECK(loaded.outline()[0].pinned);
}
