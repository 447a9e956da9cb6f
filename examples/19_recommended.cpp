// The recommended chain: an agent reads and edits files in a window of 16,000 tokens.
#include <whittle/whittle.hpp>

#include <algorithm>
#include <iostream>

using namespace whittle;

namespace {

std::string file(int number) {
    std::string text;
    for (int line = 1; line <= 120; ++line)
        text += "line " + std::to_string(line) + " of file " + std::to_string(number) + " does step " +
                std::to_string(line * number) + "\n";
    return text;
}

/// One model call with its result.
void add_call(Conversation<>& conversation, const std::string& tool, const std::string& arguments,
              const std::string& result) {
    const std::string id = "c" + std::to_string(conversation.model_calls() + 1);
    conversation.push_back(ChatMessage::assistant().call(id, tool, arguments));
    conversation.push_back(ChatMessage::result(id, tool, result));
}

}  // namespace

int main() {
    // [chain]
    PresetConfig config = recommended({.context_window = 16'000});
    config.trimming.keep_rounds = 2;           // every setting can be changed
    const Chain<> chain = make_chain(config);  // a model behind `config` writes the last summaries
    // [/chain]
    Conversation conversation("files");
    conversation.push_back(ChatMessage::user("Bring the steps of all files in order."));
    std::int64_t largest = 0;
    for (int number = 1; number <= 40; ++number) {
        const std::string path = "{\"path\":\"file" + std::to_string(number) + "\"";
        chain.before_model(conversation);
        largest = std::max(largest, conversation.tokens(chars_counter()));
        add_call(conversation, "read_file", path + "}", file(number));
        chain.before_model(conversation);
        add_call(conversation, "edit", path + R"(,"old_string":"step 7","new_string":"step 8"})", "ok");
    }
    std::cout << "largest request  " << largest << " tokens\n";
    std::cout << "file 1 is now    " << text_of(conversation.messages()[2], 0) << '\n';
    std::cout << "in the store     " << chain.config().storage->get("files/2")->size() << " bytes\n";
    while (conversation.undo()) {
    }
    std::cout << "all undone       " << conversation.tokens(chars_counter()) << " tokens\n";
}
