// An agent that is killed in the middle of a tool call, and resumed by another process.
#include <whittle/durable/durable_loop.hpp>
#include <whittle/whittle.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace whittle;

// Sends a mail, once for each key: as a service does that takes such keys.
Tool send_mail(const std::string& folder, bool dies) {
    Tool tool = text_tool("send_mail", "Sends a mail.", R"({"type":"object","properties":{}})", nullptr);
    tool.invoke = [=](const ToolContext& context, PartSink& out) {
        const std::string sent = folder + "/sent-" + idempotency_key(context);
        const bool is_new = !std::filesystem::exists(sent);
        std::ofstream(sent).flush();
        if (dies) std::raise(SIGKILL);  // the mail is out, and nobody wrote down the result
        out.write(is_new ? "sent" : "was sent before");
        return ToolOutcome{};
    };
    return tool;
}

void run_agent(const std::string& folder, bool dies) {
    // [durable]
    const auto storage = file_storage(folder + "/store", {.durability = Durability::full});
    auto durable = DurableConversation<>::open(storage, "mails", {.writer = "mail-agent"});
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>& request) {
        if (request.messages.size() > 2) return Reply<ChatMessage>{ChatMessage::assistant("The mail is out.")};
        return Reply<ChatMessage>{ChatMessage::assistant().call("call_1", "send_mail", "{}")};
    });
    AgentLoop<ChatMessage> loop(save_before_model_calls<ChatMessage>(model, durable), {send_mail(folder, dies)},
                                Chain<>(ChainConfig{}), {}, save_before_tool_starts(durable));
    const RunResult result = durable->empty() ? loop.run(*durable, "Send the mail.") : loop.run(*durable);
    durable.save();
    // [/durable]
    std::cout << to_string(result.outcome) << ": " << result.text << '\n';
}

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-example-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    const pid_t child = ::fork();
    if (child == 0) run_agent(folder, true);
    int status = 0;
    ::waitpid(child, &status, 0);
    std::cout << (WIFSIGNALED(status) ? "the agent was killed\n" : "the agent ended by itself\n");
    const auto storage = file_storage(folder + "/store");
    std::cout << "left: " << read_durable(storage, "mails").size() << " messages, a call without a result\n";
    run_agent(folder, false);
    const auto saved = read_durable(storage, "mails");
    for (const ChatMessage& m : saved.messages()) std::cout << to_string(m.role) << ": " << text_of(m, 0) << '\n';
    std::filesystem::remove_all(folder);
}
