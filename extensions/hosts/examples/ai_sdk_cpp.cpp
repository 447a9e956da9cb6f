// ai-sdk-cpp's own coordinator and tool executor, with a scripted model behind them: a task whose history does not fit,
// without whittle and with it.
#include <nlohmann/json.hpp>

#include <ai/tools.h>

#include "scripted_reader.hpp"

#include <whittle/hosts/ai_sdk_cpp.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t bytes_per_token = 4;

/// A provider with a window, as the SDK's clients are: one model call, then the tools of its reply.
struct Provider {
    std::size_t window;
    std::size_t largest = 0;  // tokens of what was answered
    int answered = 0;
    int refused = 0;
    std::size_t violations = 0;  // in all requests

    ai::GenerateResult operator()(const ai::GenerateOptions& options) {
        violations +=
            whittle::validate(std::span<const ai::Message>(options.messages), whittle::anthropic_messages()).size();
        std::size_t bytes = 0;
        const std::vector<scripted::SeenMessage> seen = seen_in(options.messages, bytes);
        if (bytes / bytes_per_token > window) {
            ++refused;
            return ai::GenerateResult("API error (400): the prompt is longer than the maximum context length");
        }
        largest = std::max(largest, bytes / bytes_per_token);
        ++answered;
        const scripted::Step step = scripted::next_step(seen, options.tools.count("read_offloaded") > 0);
        if (!step.answer.empty()) return ai::GenerateResult(step.answer, ai::kFinishReasonStop, ai::Usage{});
        ai::GenerateResult result("", ai::kFinishReasonToolCalls, ai::Usage{});
        result.tool_calls = {
            ai::ToolCall("call_" + std::to_string(answered), step.tool, ai::JsonValue::parse(step.arguments))};
        result.tool_results = ai::ToolExecutor::execute_tools_with_options(result.tool_calls, options);
        return result;
    }

    static std::vector<scripted::SeenMessage> seen_in(const ai::Messages& messages, std::size_t& bytes) {
        std::vector<scripted::SeenMessage> seen;
        std::map<std::string, int> parts;  // by call id
        for (const ai::Message& m : messages) {
            for (const ai::ContentPart& part : m.content) {
                scripted::SeenMessage one{m.roleToString()};
                if (const auto* text = std::get_if<ai::TextContentPart>(&part)) one.text = text->text;
                if (const auto* call = std::get_if<ai::ToolCallContentPart>(&part)) {
                    one.part = parts[call->id] = call->arguments.value("part", 0);
                    bytes += call->arguments.dump().size();
                }
                if (const auto* result = std::get_if<ai::ToolResultContentPart>(&part))
                    one = {"tool", result->result.dump(), parts[result->tool_call_id]};
                bytes += 20 + one.text.size();
                seen.push_back(std::move(one));
            }
        }
        return seen;
    }
};

ai::GenerateOptions options_of(ai::Messages messages) {
    ai::GenerateOptions options("a model", std::move(messages));
    options.max_steps = 40;
    const ai::ToolExecuteFunction read = [](const ai::JsonValue& arguments, const ai::ToolExecutionContext&) {
        return ai::JsonValue(scripted::log_part(arguments.at("part")));
    };
    options.tools.emplace("read_log", ai::Tool("reads a part of the log", {{"type", "object"}}, read));
    return options;
}

void run(const std::string& name, std::size_t window, const whittle::Chain<ai::Message>* chain) {
    Provider provider{window};
    std::unique_ptr<whittle::host::AiSdkHooks> hooks;
    if (chain != nullptr) hooks = std::make_unique<whittle::host::AiSdkHooks>(*chain, "sdk");
    ai::Messages messages;
    const auto ask = [&](const std::string& text) {
        messages.push_back(ai::Message::user(text));
        ai::GenerateOptions options = options_of(messages);
        whittle::host::AiSdkHooks::Generate generate = std::ref(provider);
        if (hooks) hooks->add_chain_tools(options.tools);
        if (hooks) generate = hooks->wrap(generate);
        const ai::GenerateResult result = ai::MultiStepCoordinator::execute_multi_step(options, generate);
        messages.insert(messages.end(), result.response_messages.begin(), result.response_messages.end());
        return result.error ? *result.error : result.text;
    };
    std::cout << name << ", window of " << window << " tokens\n";
    std::cout << "  the task        " << ask("The word of the day is heron. Read parts 1 to 12.") << '\n';
    std::cout << "  the serial      " << ask("What is the serial of part 3?") << '\n';
    std::cout << "  the word        " << ask("What is the word of the day?") << '\n';
    std::cout << "  requests        " << provider.answered << " answered, at most " << provider.largest << " tokens; "
              << provider.refused << " refused; " << provider.violations << " violations\n";
    if (!hooks) return;
    whittle::Conversation<ai::Message>& conversation = hooks->conversation();
    while (conversation.undo()) continue;
    int whole = 0;
    for (const ai::Message& m : conversation.messages()) {
        for (const ai::ToolResultContentPart& result : m.get_tool_results()) {
            for (int part = 1; part <= 12; ++part) whole += result.result == scripted::log_part(part) ? 1 : 0;
        }
    }
    std::cout << "  undone          " << whole << " of 12 parts, byte for byte\n";
}

}  // namespace

int main() {
    run("ai-sdk-cpp alone", 4'096, nullptr);
    whittle::ChainConfig config{.storage = whittle::memory_storage()};
    config.profile.context_window = 4'096;
    config.profile.validity = whittle::anthropic_messages();
    const whittle::Chain clearing{
        config, whittle::Reduction<ai::Message>{{.max_length_for_trunc = 1'500, .max_tokens_for_clear = 2'000}}};
    run("with whittle", 4'096, &clearing);
    whittle::ChainConfig silent{.storage = whittle::memory_storage()};
    silent.profile.validity = whittle::anthropic_messages();
    const whittle::Chain late{
        silent, whittle::Reduction<ai::Message>{{.skip_truncation = true, .max_tokens_for_clear = 1'000'000}}};
    run("with whittle, which is told nothing of the window", 4'096, &late);
}
