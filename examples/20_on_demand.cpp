// The host's button: a conversation made smaller at once, without a model. First a plan, then the deed, then all back.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

Conversation<> session() {
    Conversation conversation("button");
    conversation.push_back(ChatMessage::user("Find out why the parser stops at tabs."));
    for (int i = 1; i <= 12; ++i) {
        const std::string id = "c" + std::to_string(i);
        const std::string path = "{\"path\":\"src/part" + std::to_string(i) + ".cpp\"}";
        conversation.push_back(
            ChatMessage::assistant("Next is part " + std::to_string(i) + ".").call(id, "read_file", path));
        conversation.push_back(ChatMessage::result(id, "read_file", std::string(2'000, 'x')));
    }
    conversation.push_back(ChatMessage::assistant("The problem is in part 7."));
    return conversation;
}

}  // namespace

int main() {
    Conversation<> conversation = session();
    // [button]
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Summarization<>{nullptr, {.keep_recent_tokens = 500, .rule_based_summary_tokens = 400}}};
    const Report& plan = chain.compact_now(conversation, {.target_tokens = 2'000, .dry_run = true});
    std::cout << "now      " << plan.tokens_before << " tokens in " << conversation.size() << " messages\n";
    const Report& done = chain.compact_now(conversation, {.target_tokens = 2'000});
    std::cout << "then     " << done.tokens_after << " tokens in " << conversation.size() << " messages\n";
    // [/button]
    std::cout << text_of(conversation.messages()[1]) << "\n";
    conversation.undo();
    std::cout << "undone   " << conversation.size() << " messages\n";
}
