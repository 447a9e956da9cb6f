// A conversation is saved as its messages and a side table; another process goes on with it, and can undo.
#include <whittle/saved/side_table.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

// [save]
struct Saved {  // your program writes these to files or to a database
    std::vector<std::string> messages{};
    std::string side_table{};
};

Saved save(const Conversation<ChatMessage>& conversation) {
    Saved saved{.side_table = to_side_table(conversation)};
    for (const ChatMessage& m : conversation.messages())
        saved.messages.push_back(message_traits<ChatMessage>::to_bytes(m));
    return saved;
}

Conversation<ChatMessage> load(const Saved& saved, const std::shared_ptr<Storage>& storage) {
    std::vector<ChatMessage> messages;
    for (const std::string& bytes : saved.messages) messages.push_back(message_traits<ChatMessage>::from_bytes(bytes));
    return from_side_table(saved.side_table, std::move(messages), storage, {.expected_id = "book"});
}
// [/save]

}  // namespace

int main() {
    const auto storage = memory_storage();  // or file_storage: the originals that the chain has stored
    Conversation history("book");
    history.push_back(ChatMessage::user("Read the book."));
    for (const std::string id : {"c1", "c2"}) {
        history.push_back(ChatMessage::assistant().call(id, "read_page"));
        history.push_back(ChatMessage::result(id, "read_page", std::string(40'000, '.')));
    }
    Chain{ChainConfig{.storage = storage}, Reduction{{.max_tokens_for_clear = 10'000}}}.before_model(history);

    const Saved saved = save(history);
    Conversation<ChatMessage> loaded = load(saved, storage);
    std::cout << loaded.messages().size() << " messages, " << loaded.journal().size() << " change\n"
              << text_of(loaded.messages()[2], 0) << '\n';
    loaded.undo();
    std::cout << text_of(loaded.messages()[2], 0).size() << " bytes after undo\n";
}
