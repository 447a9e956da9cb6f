// Generated histories as openai::Message, for the laws and for all that is tried on every message type.
#pragma once

#include "support/message_builder.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/openai/openai.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

template <>
struct Builder<openai::Message> {
    static constexpr std::string_view name = "openai::Message";
    using Json = nlohmann::ordered_json;

    static std::vector<openai::Message> build(const ChatMessage& m) {
        std::vector<openai::Message> messages;
        Json front{{"role", to_string(m.role)}};
        Json texts = Json::array();
        for (const Part& part : m.parts) {
            if (part.kind == PartKind::tool_result) {
                messages.emplace_back(
                    Json{{"role", "tool"}, {"tool_call_id", part.call_id}, {"x_unknown", 1.0}, {"content", part.text}});
            } else if (part.kind == PartKind::tool_call) {
                front["tool_calls"].push_back({{"id", part.call_id},
                                               {"type", "function"},
                                               {"function", {{"name", part.tool}, {"arguments", part.text}}}});
            } else if (part.kind == PartKind::thinking) {
                front["reasoning_content"] = part.text;
            } else if (part.kind == PartKind::text) {
                texts.push_back({{"type", "text"}, {"text", part.text}});
            }
        }
        if (texts.size() == 1) front["content"] = texts[0]["text"];
        if (texts.size() > 1) front["content"] = std::move(texts);
        if (messages.empty() || front.size() > 1)
            messages.emplace(m.role == Role::assistant ? messages.begin() : messages.end(), std::move(front));
        if (m.usage) messages.front().with_usage(*m.usage);
        return messages;
    }
};

/// Usage goes to the front message of what a neutral one becomes.
static_assert(HasUsage<openai::Message>);

}  // namespace whittle::testing
