// Old tool results become placeholders, an old image a reference, and old turns a summary.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

PruningConfig pruning() {
    // [pruning]
    PruningConfig config = budget_pruning();  // 40'000 tokens of results stay, nothing is done for less than 20'000
    config.protected_tools = {"recall"};      // what returns long-term memory
    config.protect = [](const PruningDetail& result) { return result.arguments.find("PLAN.md") != std::string::npos; };
    // [/pruning]
    config.protect_newest_tokens = config.minimum_gain_tokens = 0;  // this talk is short
    return config;
}

void read_file(Conversation<>& conversation, const std::string& file) {
    conversation.push_back(ChatMessage::assistant().call(file, "read_file", R"({"path":")" + file + "\"}"));
    conversation.push_back(ChatMessage::result(file, "read_file", "# " + file + "\n" + std::string(4'000, '.')));
}

Conversation<> talk() {
    Conversation<> conversation("docs");
    conversation.push_back(ChatMessage::user("Read the plan and the notes."));
    read_file(conversation, "PLAN.md");
    read_file(conversation, "NOTES.md");
    const Media picture{.mime = "image/png", .bytes = "\x89PNG"};
    conversation.push_back({.parts = {{.text = "It looks like this."}, {.kind = PartKind::media, .media = picture}}});
    conversation.push_back(ChatMessage::assistant("A blue page with a red title."));
    conversation.push_back(ChatMessage::user("Make the title blue."));
    return conversation;
}

void show(const Conversation<>& conversation, const Report& report) {
    std::cout << report.tokens_before << " -> " << report.tokens_after << " tokens\n";
    for (const ChatMessage& message : conversation.messages())
        for (const Part& part : message.parts)
            std::cout << "  " << (part.text.empty() ? "(picture)" : part.text.substr(0, 300)) << '\n';
}

}  // namespace

int main() {
    Conversation pruned = talk();
    show(pruned, Chain{ChainConfig{.storage = memory_storage()}, Pruning<>{pruning()}}.before_model(pruned));
    // [ladder]
    const auto summarizer = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{
        ChatMessage::assistant("Plan and notes were read; the page is to look like a picture: blue, red title.")});
    const Chain ladder{
        ChainConfig{.storage = memory_storage()},
        Compaction<>{summarizer, {.threshold_tokens = 140, .target_tokens = 100, .summary_size_tokens = 50}}};
    // [/ladder]
    Conversation compacted = talk();
    show(compacted, ladder.before_model(compacted));
    compacted.undo();
    std::cout << compacted.size() << " messages after undo\n";
}
