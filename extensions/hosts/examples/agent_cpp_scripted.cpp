#include "agent_cpp_scripted.hpp"

#include "error.h"
#include "scripted_reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace scripted {

Context& context() {
    static Context one;
    return one;
}

std::shared_ptr<agent_cpp::Model> model() { return agent_cpp::Model::create_with_weights(nullptr); }

namespace {

constexpr std::size_t bytes_per_token = 4;

std::size_t tokens_of(const std::vector<common_chat_msg>& messages) {
    std::size_t bytes = 0;
    for (const common_chat_msg& m : messages) {
        bytes += 16 + m.content.size() + m.reasoning_content.size();
        for (const common_chat_tool_call& call : m.tool_calls) bytes += 40 + call.name.size() + call.arguments.size();
    }
    return bytes / bytes_per_token;
}

std::vector<SeenMessage> seen_in(const std::vector<common_chat_msg>& messages) {
    std::vector<SeenMessage> seen;
    std::map<std::string, int> parts;  // by call id
    for (const common_chat_msg& m : messages) {
        SeenMessage one{m.role, m.content};
        for (const common_chat_tool_call& call : m.tool_calls)
            one.part = parts[call.id] = nlohmann::json::parse(call.arguments).value("part", 0);
        if (m.role == "tool") one.part = parts[m.tool_call_id];
        seen.push_back(std::move(one));
    }
    return seen;
}

}  // namespace

}  // namespace scripted

// agent.cpp's model.cpp is not linked: these are its functions that the agent calls.
namespace agent_cpp {

std::shared_ptr<Model> Model::create_with_weights(std::shared_ptr<ModelWeights>, const ModelConfig&) {
    return std::shared_ptr<Model>(new Model());
}
Model::~Model() = default;

common_chat_msg Model::generate(const std::vector<common_chat_msg>& messages,
                                const std::vector<common_chat_tool>& tools, const ResponseCallback&) {
    scripted::Context& context = scripted::context();
    const std::size_t tokens = scripted::tokens_of(messages);
    if (tokens > context.window) {
        ++context.refused;
        throw ModelError("context size exceeded");
    }
    context.largest = std::max(context.largest, tokens);
    ++context.answered;
    const bool reads_back =
        std::any_of(tools.begin(), tools.end(), [](const auto& tool) { return tool.name == "read_offloaded"; });
    const scripted::Step step = scripted::next_step(scripted::seen_in(messages), reads_back);
    common_chat_msg reply;
    reply.role = "assistant";
    reply.content = step.answer;
    if (step.answer.empty())
        reply.tool_calls = {{step.tool, step.arguments, "call_" + std::to_string(context.answered)}};
    return reply;
}

std::string Model::generate_from_tokens(const std::vector<llama_token>&, const ResponseCallback&) {
    throw std::logic_error("no prompt cache here");
}
std::vector<llama_token> Model::tokenize(const std::string&) const { throw std::logic_error("no vocabulary here"); }
bool Model::save_cache(const std::string&) { return false; }
std::vector<llama_token> Model::load_cache(const std::string&) { return {}; }

}  // namespace agent_cpp

// Of llama.cpp, for the agent's prompt cache, which these programs do not use.
common_chat_params common_chat_templates_apply(const common_chat_templates*, const common_chat_templates_inputs&) {
    throw std::logic_error("no templates here");
}
