// The host has the last word: it sees each plan, hears what the model no longer sees, and gives files anew after a
// fold.
#include <whittle/whittle.hpp>

#include <iostream>
#include <set>
#include <string>
#include <vector>

using namespace whittle;

namespace {

void read(Conversation<>& conversation, const std::string& path) {
    const std::string id = "c" + std::to_string(conversation.size());
    conversation.push_back(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + path + "\"}"));
    conversation.push_back(ChatMessage::result(id, "read_file", std::string(4'000, 'x')));
}

}  // namespace

int main() {
    // [host]
    std::set<std::string> read_files;  // a guard against reading twice, by arguments
    ChainConfig config{.storage = memory_storage()};
    config.before_commit = [](const CommitPlan& plan) {
        const auto saved = plan.message_tokens_before - plan.message_tokens_after;
        std::cout << plan.middleware << " would save " << saved << " tokens of " << plan.message_tokens_before << "\n";
        return saved >= 2'000;
    };
    ChainCallbacks<> callbacks;
    callbacks.on_evicted = [&](const EvictedResult& gone) { read_files.erase(std::string(gone.arguments)); };
    SummarizationCallbacks<> files;
    files.attach_files = [](const auto&, std::span<const FileUse> used) {
        return std::vector<AttachedFile>{{used.front().path, "as it is on the disk"}};
    };
    SummarizationConfig summary{.trigger = {.context_tokens = 6'000, .context_messages = 12, .needs_all = true},
                                .keep_recent_tokens = 500};
    summary.rule_based_summary_tokens = 300;
    const Chain<> chain{config, callbacks, Summarization<>{nullptr, summary, files}};
    // [/host]
    Conversation<> conversation("host");
    conversation.push_back(ChatMessage::user("Find out why the parser stops at tabs."));
    for (int i = 1; i <= 8; ++i) {
        const std::string path = "src/part" + std::to_string(i) + ".cpp";
        read(conversation, path);
        read_files.insert("{\"path\":\"" + path + "\"}");
        chain.before_model(conversation);
    }
    std::cout << conversation.size() << " messages; the guard still knows " << read_files.size() << " files\n";
    for (const ChatMessage& message : conversation.messages()) {
        if (text_of(message).find("## File") == std::string::npos) continue;
        std::cout << text_of(message).substr(text_of(message).find("## File")) << "\n";
    }
}
