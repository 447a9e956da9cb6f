// A long conversation is folded into a summary that a model writes; the user's words and a skill come along.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

/// Stands for a real model.
std::shared_ptr<Model<ChatMessage>> summarizer() {
    const char* text = "<analysis>...</analysis><summary>Pages 1 to 6 were read; nothing odd so far.</summary>";
    return std::make_shared<ScriptedModel<ChatMessage>>(
        [text](const ModelRequest<ChatMessage>&) { return Reply<ChatMessage>{ChatMessage::assistant(text)}; });
}

void read_pages(Conversation<>& conversation, int first, int last) {
    for (int page = first; page <= last; ++page) {
        const std::string id = "call_" + std::to_string(page);
        conversation.push_back(ChatMessage::assistant().call(id, "read_page"));
        conversation.push_back(ChatMessage::result(id, "read_page", std::string(6'000, '.')));
    }
}

}  // namespace

int main() {
    // [summarize]
    Summarization summarization{summarizer(),
                                {.trigger = {.context_tokens = 8'000},
                                 .keep_recent_tokens = 2'000,
                                 .transcript_file_path = "session.jsonl",
                                 .retry = RetryConfig{.max_retries = 2}}};
    Chain chain{ChainConfig{}, std::move(summarization)};
    // [/summarize]

    Conversation conversation("pages");
    conversation.push_back(ChatMessage::system("You proofread."));
    conversation.push_back(ChatMessage::user("Read pages 1 to 6. Never change a file."));
    conversation.push_back(ChatMessage::assistant().call("s", "skill", R"({"skill":"style"})"));
    conversation.push_back(ChatMessage::result("s", "skill", "Prefer short words."));
    read_pages(conversation, 1, 6);
    conversation.push_back(ChatMessage::user("Now look at page 7."));
    read_pages(conversation, 7, 7);

    const Report& report = chain.before_model(conversation);
    std::cout << to_string(report.stages[0].outcome) << ": " << report.tokens_before << " -> " << report.tokens_after
              << " tokens\n";
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        const MessageInfo& info = conversation.outline()[i];
        std::cout << i << ' ' << to_string(info.role) << ' ' << to_string(origin_of(info.mark)) << '\n';
    }
    std::cout << "---\n"
              << text_of(conversation.messages()[1]) << "\n---\n"
              << text_of(conversation.messages()[2]) << '\n';
    conversation.undo();
    std::cout << "---\n" << conversation.size() << " messages after undo\n";
}
