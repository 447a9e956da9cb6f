// Of a file that an agent read long ago, the function stays that it came back to.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

/// Functions of ten lines, with a blank line behind each.
std::string functions(int first, int last) {
    std::string text;
    for (int f = first; f <= last; ++f) {
        const std::string name = "value_" + std::to_string(f);
        text += "int " + name + "(int x) {\n";
        for (int line = 1; line <= 8; ++line)
            text += "    x = apply_step_" + std::to_string(line) + "_of_" + name + "(x);\n";
        text += "}\n\n";
    }
    return text;
}

void call(Conversation<>& conversation, const std::string& tool, const std::string& arguments,
          const std::string& result) {
    const std::string id = "c" + std::to_string(conversation.model_calls() + 1);
    conversation.push_back(ChatMessage::assistant().call(id, tool, arguments));
    conversation.push_back(ChatMessage::result(id, tool, result));
}

}  // namespace

int main() {
    // [trimming]
    ChainConfig config{.storage = memory_storage()};
    config.profile.cache = *find_cache_profile("anthropic_5m");
    const Chain chain{config, Trimming{{.start_tokens = 1'000}}};
    Conversation conversation("fix");
    conversation.push_back(ChatMessage::user("Mend value_7."));
    // `call` appends a call with its result; `functions(1, 40)` writes 40 functions of ten lines
    call(conversation, "read_file", R"({"path":"values.cpp"})", functions(1, 40));
    conversation.push_back(ChatMessage::assistant("This function is wrong:\n" + functions(7, 7)));
    for (int i = 0; i < 80; ++i) {
        call(conversation, "run", R"({"command":"make"})", "not yet");
        const Report& report = chain.before_model(conversation);
        if (report.changed()) std::cout << report.tokens_before << " -> " << report.tokens_after << " tokens\n";
    }
    std::cout << text_of(conversation.messages()[2], 0) << '\n';
    // [/trimming]
}
