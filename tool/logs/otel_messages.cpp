#include "otel_messages.hpp"

#include "entries.hpp"
#include "openai_form.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

std::string content_text(const ordered_json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_null() ? "" : to_json_text(value);
}

/// OpenInference has each message, call and content in an object of one member.
const ordered_json& unwrapped(const ordered_json& value, const char* key) {
    const ordered_json* inner = tree_at(value, key);
    return inner == nullptr ? value : *inner;
}

/// A content block of a provider in the form of the conventions; its type stays where there is none of theirs.
ordered_json part_of_block(const ordered_json& wrapped) {
    const ordered_json& block = unwrapped(wrapped, "message_content");
    const std::string_view type = text_at(block, "type");
    const auto member = [&](const char* key) {
        const ordered_json* value = find_member(block, key);
        return value == nullptr ? ordered_json(nullptr) : *value;
    };
    if (type == "text" || type == "input_text" || type == "output_text")
        return {{"type", "text"}, {"content", member("text")}};
    if (type == "tool_use")
        return {{"type", "tool_call"}, {"id", member("id")}, {"name", member("name")}, {"arguments", member("input")}};
    if (type == "tool_result")
        return {{"type", "tool_call_response"}, {"id", member("tool_use_id")}, {"response", member("content")}};
    if (type == "thinking" || type == "redacted_thinking") return ordered_json::object({{"type", "reasoning"}});
    return ordered_json::object({{"type", type}});
}

/// {"id", "name", "arguments"}, or with "function" around the last two as chat completions have it.
ordered_json part_of_call(const ordered_json& wrapped) {
    const ordered_json& call = unwrapped(wrapped, "tool_call");
    const ordered_json& function = unwrapped(call, "function");
    ordered_json part{{"type", "tool_call"}, {"id", text_at(call, "id")}, {"name", text_at(function, "name")}};
    if (const ordered_json* arguments = find_member(function, "arguments")) part["arguments"] = *arguments;
    return part;
}

}  // namespace

/// Messages as attributes hold them: as a structure, or as JSON in a text.
ordered_json OtelMessages::tree(const ordered_json& value) const {
    auto parsed = json_in(value, 0, options_, notes_, values_);
    if (!parsed) ++notes_.unknown["attribute that is no JSON"];
    return parsed ? *std::move(parsed) : ordered_json(nullptr);
}

/// Content of a provider: a text, which may be the JSON of blocks, or blocks.
void OtelMessages::append_content(const ordered_json& content, ordered_json& parts) const {
    ordered_json blocks = content;
    if (content.is_string() && content.get_ref<const std::string&>().starts_with("[{")) {
        auto parsed = json_in(content, 0, options_, notes_, values_);
        const auto is_block = [](const ordered_json& block) { return !text_at(block, "type").empty(); };
        if (parsed && parsed->is_array() && std::ranges::all_of(*parsed, is_block)) blocks = *std::move(parsed);
    }
    if (blocks.is_string()) {
        parts.push_back({{"type", "text"}, {"content", std::move(blocks)}});
    } else if (blocks.is_structured()) {
        for (const ordered_json& block : blocks) parts.push_back(part_of_block(block));
    }
}

/// "parts" of the conventions; made of content and calls where a message has these instead. null: neither.
ordered_json OtelMessages::parts_of(const ordered_json& message) const {
    if (const ordered_json* parts = tree_at(message, "parts"); parts != nullptr && parts->is_array()) return *parts;
    const ordered_json* content = find_member(message, "content");
    if (content == nullptr) content = tree_at(message, "contents");
    const ordered_json* calls = tree_at(message, "tool_calls");
    if (content == nullptr && calls == nullptr) return nullptr;
    ordered_json parts = ordered_json::array();
    const std::string_view answers = text_at(message, "tool_call_id");
    if (content != nullptr && !answers.empty()) {
        parts.push_back({{"type", "tool_call_response"}, {"id", answers}, {"response", *content}});
    } else if (content != nullptr) {
        append_content(*content, parts);
    }
    if (calls != nullptr) {
        for (const ordered_json& call : *calls) parts.push_back(part_of_call(call));
    }
    return parts;
}

/// {"role", "parts": [{"type": "text", "content"}, {"type": "tool_call", "id", "name", "arguments"},
/// {"type": "tool_call_response", "id", "response"}]} as chat messages: each response is one of its own.
void OtelMessages::append_chat(const ordered_json& wrapped, std::string_view default_role,
                               ordered_json& messages) const {
    const ordered_json& recorded = unwrapped(wrapped, "message");
    const ordered_json parts = parts_of(recorded);
    if (parts.is_null()) {
        ++notes_.unknown["message without parts"];
        return;
    }
    std::string_view role = text_at(recorded, "role");
    if (role.empty()) role = default_role;
    ReplyParts reply_parts;
    for (const ordered_json& part : parts) {
        const std::string_view type = text_at(part, "type");
        const ordered_json* content = find_member(part, "content");
        if (type == "text" && content != nullptr) {
            reply_parts.add_text(content_text(*content));
        } else if (type == "tool_call") {
            const ordered_json* arguments = find_member(part, "arguments");
            reply_parts.call(openai_call(text_at(part, "id"), text_at(part, "name"),
                                         arguments == nullptr ? "{}" : content_text(*arguments)));
        } else if (type == "tool_call_response") {
            const ordered_json* response = find_member(part, "response");
            if (response == nullptr) response = find_member(part, "result");
            messages.push_back(
                openai_result(text_at(part, "id"), response == nullptr ? std::string() : content_text(*response)));
        } else {
            ++(type == "reasoning" ? notes_.left_out : notes_.unknown)["part/" + std::string(type.substr(0, 64))];
        }
    }
    if (reply_parts.empty()) return;
    ordered_json message = reply_parts.message();
    if (role != "assistant") message = {{"role", role}, {"content", message["content"]}};
    messages.push_back(std::move(message));
}

ordered_json OtelMessages::to_chat(const ordered_json& list, std::string_view default_role) const {
    ordered_json messages = ordered_json::array();
    if (!list.is_array()) return messages;
    for (const ordered_json& recorded : list) append_chat(recorded, default_role, messages);
    return messages;
}

/// null: nothing in these places.
ordered_json OtelMessages::recorded_in(const OtelAttributes& attributes, const Places& places) const {
    if (const ordered_json* list = first_attribute(attributes, {places.convention})) return tree(*list);
    for (const char* prefix : {places.indexed, places.openinference}) {
        if (auto list = indexed_attributes(attributes, prefix); !list.empty()) return list;
    }
    const ordered_json* list = first_attribute(attributes, {places.indexed});
    return list == nullptr ? ordered_json(nullptr) : tree(*list);
}

ordered_json OtelMessages::sent(const OtelAttributes& attributes) const {
    constexpr Places places{"gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages"};
    const ordered_json recorded = recorded_in(attributes, places);
    return recorded.is_null() ? recorded : to_chat(recorded, "");
}

ordered_json OtelMessages::replies(const OtelAttributes& attributes) const {
    constexpr Places places{"gen_ai.output.messages", "gen_ai.completion", "llm.output_messages"};
    return to_chat(recorded_in(attributes, places), "assistant");
}

ordered_json OtelMessages::system(const OtelAttributes& attributes) const {
    const ordered_json* instructions = first_attribute(attributes, {"gen_ai.system_instructions"});
    if (instructions == nullptr) return nullptr;
    const ordered_json messages =
        to_chat(ordered_json::array({{{"role", "system"}, {"parts", tree(*instructions)}}}), "");
    return messages.empty() ? ordered_json(nullptr) : messages.back()["content"];
}

}  // namespace whittle::inline v0::logs
