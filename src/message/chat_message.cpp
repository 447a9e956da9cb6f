#include "whittle/message/chat_message.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

using Traits = message_traits<ChatMessage>;

ChatMessage message_with(Role role, Part part) {
    ChatMessage message{.role = role};
    message.parts.push_back(std::move(part));
    return message;
}

void require_part(const ChatMessage& m, std::size_t part, std::string_view operation) {
    if (part < m.parts.size()) return;
    throw Error(Errc::invalid_argument,
                fmt::format("{} part {}: the message has {} parts", operation, part, m.parts.size()));
}

/// A text in place of `media`; inside a result it stays a part of that result.
Part text_in_place_of(const Part& media, std::string_view text) {
    const PartKind kind = media.call_id.empty() ? PartKind::text : PartKind::tool_result;
    return {kind, std::string(text), media.call_id, media.tool, {}, media.is_error};
}

Part part_of_result(const ToolResult& result, const Part& source) {
    Part part = source;
    if (part.kind != PartKind::media && part.kind != PartKind::other) part.kind = PartKind::tool_result;
    part.call_id = result.call_id;
    part.tool = result.tool;
    part.is_error = result.is_error;
    return part;
}

ChatMessage message_with(const ToolResult& result) {
    if (result.parts.empty()) return ChatMessage::result(result.call_id, result.tool, {}, result.is_error);
    ChatMessage message{.role = Role::tool};
    message.parts.reserve(result.parts.size());
    for (const Part& part : result.parts) message.parts.push_back(part_of_result(result, part));
    return message;
}

}  // namespace

ChatMessage ChatMessage::system(std::string text) {
    return message_with(Role::system, Part{PartKind::text, std::move(text)});
}

ChatMessage ChatMessage::user(std::string text) {
    return message_with(Role::user, Part{PartKind::text, std::move(text)});
}

ChatMessage ChatMessage::assistant(std::string text) {
    if (text.empty()) return {.role = Role::assistant};
    return message_with(Role::assistant, Part{PartKind::text, std::move(text)});
}

ChatMessage& ChatMessage::call(std::string call_id, std::string tool, std::string arguments) & {
    parts.push_back({PartKind::tool_call, std::move(arguments), std::move(call_id), std::move(tool)});
    return *this;
}

ChatMessage&& ChatMessage::call(std::string call_id, std::string tool, std::string arguments) && {
    return std::move(call(std::move(call_id), std::move(tool), std::move(arguments)));
}

ChatMessage ChatMessage::result(std::string call_id, std::string tool, std::string text, bool is_error) {
    return message_with(
        Role::tool, Part{PartKind::tool_result, std::move(text), std::move(call_id), std::move(tool), {}, is_error});
}

void Traits::set_text(ChatMessage& m, std::size_t part, std::string_view text) {
    require_part(m, part, "set the text of");
    Part& target = m.parts[part];
    if (target.kind == PartKind::other) {
        throw Error(Errc::invalid_argument, fmt::format("set the text of part {}: it is opaque", part));
    }
    if (target.kind == PartKind::tool_call && !is_json_object(text)) {
        throw Error(Errc::invalid_argument,
                    fmt::format("set the arguments of part {}: the text is no JSON object", part));
    }
    if (target.kind == PartKind::media) {
        target = text_in_place_of(target, text);
    } else {
        target.text = std::string(text);  // a copy first: `text` may look into the message
    }
}

bool Traits::set_text_in_place(ChatMessage& m, const PartIndex&, std::size_t part, std::string_view text) {
    set_text(m, part, text);
    return true;
}

void Traits::erase_part(ChatMessage& m, std::size_t part) {
    require_part(m, part, "erase");
    m.parts.erase(m.parts.begin() + static_cast<std::ptrdiff_t>(part));
}

void Traits::erase_parts(ChatMessage& m, const PartIndex&, std::span<const std::size_t> parts) {
    std::vector<bool> is_gone(m.parts.size(), false);
    for (const std::size_t part : parts) {
        require_part(m, part, "erase");
        is_gone[part] = true;
    }
    std::erase_if(m.parts, [&](const Part& part) { return is_gone[static_cast<std::size_t>(&part - m.parts.data())]; });
}

void Traits::rename_call(ChatMessage& m, std::size_t part, std::string_view call_id, std::string_view tool) {
    require_part(m, part, "rename the call of");
    Part& target = m.parts[part];
    target.call_id = std::string(call_id);
    if (!tool.empty() && (target.kind == PartKind::tool_call || !target.tool.empty())) target.tool = std::string(tool);
}

ChatMessage Traits::make(Role role, std::string_view text) {
    return message_with(role, Part{PartKind::text, std::string(text)});
}

std::vector<ChatMessage> Traits::make_tool_results(std::span<const ToolResult> results) {
    std::vector<ChatMessage> messages;
    messages.reserve(results.size());
    for (const ToolResult& result : results) messages.push_back(message_with(result));
    return messages;
}

}  // namespace whittle::inline v0
