#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/base/text.hpp"
#include "whittle/convert/convert.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/detail/result_numbers.hpp"
#include "whittle/model/detail/broken_off.hpp"
#include "whittle/model/model.hpp"
#include "whittle/openai/openai.hpp"

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

/// The same request for messages of another type. What the conversion cannot carry over goes with it: thinking belongs
/// to its own provider, and positions in the list mean something else.
template <AgentMessage To, AgentMessage From>
[[nodiscard]] ModelRequest<To> with_messages(const ModelRequest<From>& request, std::span<const To> messages) {
    return {.messages = messages,
            .system = request.system,
            .tools = request.tools,
            .stop = request.stop,
            .on_delta = request.on_delta,
            .purpose = request.purpose,
            .options = request.options};
}

/// Appends `m` in OpenAI's format; parts that it has no place for are left out.
template <AgentMessage M>
void append_as_openai(const M& m, std::vector<openai::Message>& out) {
    const Role role = message_traits<M>::role(m);
    std::string text;
    nlohmann::ordered_json calls = nlohmann::ordered_json::array();
    std::vector<ToolResult> results;
    ResultNumbers numbers;
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        if (part.kind == PartKind::text) {
            text += part.text;
        } else if (part.kind == PartKind::tool_call) {
            calls.push_back(
                {{"id", to_valid_utf8(part.call_id)},
                 {"type", "function"},
                 {"function", {{"name", to_valid_utf8(part.tool)}, {"arguments", to_valid_utf8(part.text)}}}});
        } else {
            const bool is_opaque = part.kind == PartKind::other && !part.call_id.empty();
            const auto number =
                numbers.next(is_opaque ? PartKind::tool_result : part.kind, part.call_id, part.starts_new_result);
            if (!number) return;
            if (*number == results.size())
                results.push_back({.call_id = std::string(part.call_id), .tool = std::string(part.tool)});
            results[*number].parts.push_back(to_part(part));
        }
    });
    for (openai::Message& result : message_traits<openai::Message>::make_tool_results(results))
        out.push_back(std::move(result));
    if (text.empty() && calls.empty()) return;
    nlohmann::ordered_json json{{"role", to_string(role == Role::tool ? Role::user : role)}};
    json["content"] = text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(to_valid_utf8(text));
    if (!calls.empty()) json["tool_calls"] = std::move(calls);
    out.emplace_back(std::move(json));
}

/// A reply as a message of the type M. Types other than ChatMessage can only be made from text.
template <AgentMessage M>
[[nodiscard]] M reply_from_openai(const openai::Message& reply) {
    if constexpr (std::is_same_v<M, ChatMessage>) {
        ChatMessage message = ChatMessage::assistant("");
        message.parts.clear();
        for (Part& part : parts_of(reply)) {
            if (part.kind != PartKind::other && part.kind != PartKind::media) message.parts.push_back(std::move(part));
        }
        return message;
    } else {
        message_traits<openai::Message>::for_each_part(reply, [](const PartView& part) {
            if (part.kind == PartKind::tool_call)
                throw ModelError(ModelErrorClass::bad_request,
                                 "take the reply: it calls a tool, which a message made from text cannot");
        });
        return message_traits<M>::make(Role::assistant, text_of(reply));
    }
}

/// The system messages of a history, and the text that stands beside it.
[[nodiscard]] inline std::string join_system(std::string_view separate, const nlohmann::ordered_json& system) {
    std::string text(separate);
    const auto add = [&](std::string_view more) { text += (text.empty() ? "" : "\n\n") + std::string(more); };
    if (system.is_string()) add(system.get_ref<const std::string&>());
    if (system.is_array()) {
        for (const auto& block : system) add(find_string(block, "text").value_or(""));
    }
    return text;
}

/// The assistant's message among `messages`; an empty one if nothing of it was left.
[[nodiscard]] inline anthropic::Message last_reply(std::vector<anthropic::Message> messages) {
    if (!messages.empty() && message_traits<anthropic::Message>::role(messages.back()) == Role::assistant)
        return std::move(messages.back());
    return anthropic::Message({{"role", "assistant"}, {"content", nlohmann::ordered_json::array()}});
}

/// A name that no call of the conversation has: another for each state of the conversation and each call of a reply,
/// and always the same for these.
[[nodiscard]] inline std::string make_call_id(std::span<const anthropic::Message> history, std::size_t call) {
    const std::string place = std::to_string(history.size()) + "/" + std::to_string(call) + "/";
    return "call_" + sha256_hex(history.empty() ? place : place + history.back().json().dump()).substr(0, 16);
}

/// Anthropic's calls have an object as input, and an id of their own in the whole conversation. Half a call of a reply
/// that was broken off is left out; of any other, the model is to blame.
[[nodiscard]] inline openai::Message with_whole_calls(const openai::Message& reply, FinishReason finish,
                                                      std::span<const anthropic::Message> history) {
    nlohmann::ordered_json json = reply.json();
    const auto calls = json.find("tool_calls");
    if (calls == json.end() || !calls->is_array()) return reply;
    const auto is_half = [](const nlohmann::ordered_json& call) {
        const auto* function = find_member(call, "function");
        const std::string_view arguments = function != nullptr ? find_string(*function, "arguments").value_or("") : "";
        return !is_blank(arguments) && !is_json_object(arguments);
    };
    const auto halves = std::erase_if(calls->get_ref<nlohmann::ordered_json::array_t&>(), is_half);
    if (halves > 0 && !is_broken_off(finish))
        throw ModelError(ModelErrorClass::server, "take the reply: the arguments of a call are no JSON object");
    for (std::size_t i = 0; i < calls->size(); ++i) {
        nlohmann::ordered_json& call = (*calls)[i];
        if (find_string(call, "id").value_or("").empty()) call["id"] = make_call_id(history, i);
    }
    if (calls->empty()) json.erase("tool_calls");
    return openai::Message(std::move(json));
}

class AnthropicForOpenAI final : public Model<openai::Message> {
public:
    explicit AnthropicForOpenAI(std::shared_ptr<Model<anthropic::Message>> model) : model_(std::move(model)) {}
    Reply<openai::Message> generate(const ModelRequest<openai::Message>& request) override {
        const AnthropicConversion converted = to_anthropic(request.messages);
        const std::string system = join_system(request.system, converted.system);
        ModelRequest<anthropic::Message> inner =
            with_messages<anthropic::Message>(request, std::span<const anthropic::Message>(converted.messages));
        inner.system = system;
        const Reply<anthropic::Message> reply = model_->generate(inner);
        OpenAIConversion back = to_openai(nullptr, {&reply.message, 1});
        if (back.messages.empty())
            back.messages.emplace_back(nlohmann::ordered_json{{"role", "assistant"}, {"content", nullptr}});
        // What a paused reply waits for has no place in this format, so that it cannot be sent back.
        const FinishReason finish = reply.finish == FinishReason::paused ? FinishReason::other : reply.finish;
        return {std::move(back.messages.front()), reply.usage, finish, reply.timing};
    }

private:
    std::shared_ptr<Model<anthropic::Message>> model_;
};

class OpenAIForAnthropic final : public Model<anthropic::Message> {
public:
    explicit OpenAIForAnthropic(std::shared_ptr<Model<openai::Message>> model) : model_(std::move(model)) {}
    Reply<anthropic::Message> generate(const ModelRequest<anthropic::Message>& request) override {
        const OpenAIConversion converted = to_openai(nullptr, request.messages);
        const Reply<openai::Message> reply = model_->generate(
            with_messages<openai::Message>(request, std::span<const openai::Message>(converted.messages)));
        const openai::Message message = with_whole_calls(reply.message, reply.finish, request.messages);
        return {last_reply(to_anthropic({&message, 1}).messages), reply.usage, reply.finish, reply.timing};
    }

private:
    std::shared_ptr<Model<openai::Message>> model_;
};

template <AgentMessage M>
class OpenAIForAny final : public Model<M> {
public:
    explicit OpenAIForAny(std::shared_ptr<Model<openai::Message>> model) : model_(std::move(model)) {}
    Reply<M> generate(const ModelRequest<M>& request) override {
        std::vector<openai::Message> messages;
        for (const M& m : request.messages) append_as_openai(m, messages);
        const Reply<openai::Message> reply =
            model_->generate(with_messages<openai::Message>(request, std::span<const openai::Message>(messages)));
        return {reply_from_openai<M>(reply.message), reply.usage, reply.finish, reply.timing};
    }

private:
    std::shared_ptr<Model<openai::Message>> model_;
};

}  // namespace detail

/// A chat-completions model for conversations of another message type. Each call converts the whole list. Anthropic
/// messages go through `to_openai` and `to_anthropic` (extensions/convert/README.md lists what is lost);
/// `ChatMessage` keeps text, calls and results; replies become other types as text alone, so that such a conversation
/// has no tools.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> adapt_model(std::shared_ptr<Model<openai::Message>> model) {
    if constexpr (std::is_same_v<M, openai::Message>) {
        return model;
    } else if constexpr (std::is_same_v<M, anthropic::Message>) {
        return std::make_shared<detail::OpenAIForAnthropic>(std::move(model));
    } else {
        return std::make_shared<detail::OpenAIForAny<M>>(std::move(model));
    }
}

/// A model behind the Messages API, for messages of type `M`.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> adapt_model(std::shared_ptr<Model<anthropic::Message>> model) {
    if constexpr (std::is_same_v<M, anthropic::Message>) {
        return model;
    } else {
        return adapt_model<M>(
            std::shared_ptr<Model<openai::Message>>(std::make_shared<detail::AnthropicForOpenAI>(std::move(model))));
    }
}

}  // namespace whittle::inline v0
