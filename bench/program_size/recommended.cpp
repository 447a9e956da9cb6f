#include <whittle/whittle.hpp>

using namespace whittle;

int main(int count, char**) {
    const Chain chain = make_chain(recommended({.context_window = 32'000}));
    Conversation history("size");
    history.push_back(ChatMessage::user("Read the book."));
    for (int page = 0; page < count; ++page) {
        const std::string id = "c" + std::to_string(page);
        history.push_back(ChatMessage::assistant().call(id, "read_page", "{}"));
        history.push_back(ChatMessage::result(id, "read_page", std::string(12'000, '.')));
        chain.before_model(history);
    }
    return history.tokens(chars_counter()) > 0 ? 0 : 1;
}
