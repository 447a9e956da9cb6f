// Generated histories as anthropic::Message, for the laws and for all that is tried on every message type.
#pragma once

#include "support/message_builder.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Results of one turn in one user message; now and then with the user's text or an image. System text is not in it.
template <>
struct Builder<anthropic::Message> {
    static constexpr std::string_view name = "anthropic::Message";
    static constexpr bool joins_results = true;
    /// The rules that it is held to, the stricter ones last.
    static std::array<const ValidityProfile*, 2> profiles() { return {&anthropic_messages(), &anthropic_thinking()}; }
    using Json = nlohmann::ordered_json;

    static std::vector<anthropic::Message> build(const ChatMessage& m) {
        if (m.role == Role::system) return {};
        Json content = Json::array();
        for (const Part& part : m.parts) content.push_back(block(part));
        anthropic::Message message(
            Json{{"role", m.role == Role::assistant ? "assistant" : "user"}, {"x_unknown", 1.0}, {"content", content}});
        if (m.usage) message.with_usage(*m.usage);
        return {std::move(message)};
    }

private:
    static Json block(const Part& part) {
        switch (part.kind) {
            case PartKind::thinking: return {{"type", "thinking"}, {"thinking", part.text}, {"signature", "S"}};
            case PartKind::tool_call:
                return {{"type", "tool_use"}, {"id", part.call_id}, {"name", part.tool}, {"input", input(part.text)}};
            case PartKind::tool_result: return result(part);
            case PartKind::media: return image();
            case PartKind::other: return {{"type", "container_upload"}, {"file_id", part.text}};
            case PartKind::text: break;
        }
        return {{"type", "text"}, {"text", part.text}};
    }
    static Json input(const std::string& arguments) {
        Json json = Json::parse(arguments, nullptr, false);
        return json.is_discarded() ? Json(arguments) : json;
    }
    static Json image() {
        return {{"type", "image"}, {"source", {{"type", "url"}, {"url", "https://example.org/a.png"}}}};
    }
    /// By the size of the text, so that histories of the same sizes have the same shape.
    static Json result(const Part& part) {
        Json json{{"type", "tool_result"}, {"tool_use_id", part.call_id}, {"content", part.text}};
        if (part.is_error) json["is_error"] = true;
        if (part.text.size() % 5 != 0 || part.is_error) return json;
        json["content"] = Json::array({{{"type", "text"}, {"text", part.text}}});
        if (part.text.size() % 10 == 0) json["content"].push_back(image());
        if (part.text.size() % 20 == 0) json["content"].erase(0);  // the image alone, as a screenshot
        return json;
    }
};

/// Usage goes to the front message of what a neutral one becomes.
static_assert(HasUsage<anthropic::Message>);

}  // namespace whittle::testing
