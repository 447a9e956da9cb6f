#include "openai_form.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// A part of a chat message; null for what holds nothing for it.
ordered_json to_openai_part(const ordered_json& item, std::string_view what, LogNotes& notes) {
    const std::string_view type = text_at(item, "type");
    if (type == "input_text" || type == "output_text" || type == "text" || type == "summary_text")
        return {{"type", "text"}, {"text", text_at(item, "text")}};
    if (type == "refusal") return {{"type", "text"}, {"text", text_at(item, "refusal")}};
    if (type == "input_image") return {{"type", "image_url"}, {"image_url", {{"url", text_at(item, "image_url")}}}};
    ++notes.unknown[std::string(what) + "/" + std::string(type.substr(0, 64))];
    return nullptr;
}

/// Texts alone become one string, as most clients write them.
ordered_json joined_if_text(ordered_json parts) {
    std::string text;
    for (const ordered_json& part : parts) {
        if (text_at(part, "type") != "text") return parts;
        text.append(text.empty() ? "" : "\n").append(text_at(part, "text"));
    }
    return text;
}

}  // namespace

ordered_json openai_call(std::string_view id, std::string_view name, std::string arguments) {
    return {{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", std::move(arguments)}}}};
}

ordered_json openai_result(std::string_view id, ordered_json content) {
    return {{"role", "tool"}, {"tool_call_id", id}, {"content", std::move(content)}};
}

ordered_json to_openai_content(ordered_json content, std::string_view what, LogNotes& notes) {
    if (!content.is_array()) return content.is_string() ? std::move(content) : ordered_json("");
    ordered_json parts = ordered_json::array();
    for (const ordered_json& item : content) {
        if (ordered_json part = to_openai_part(item, what, notes); !part.is_null()) parts.push_back(std::move(part));
    }
    return joined_if_text(std::move(parts));
}

void ReplyParts::add_text(std::string_view text) {
    if (text.empty()) return;
    text_.append(text_.empty() ? "" : "\n").append(text);
}

ordered_json ReplyParts::message() const {
    ordered_json message{{"role", "assistant"},
                         {"content", text_.empty() ? ordered_json(nullptr) : ordered_json(text_)}};
    if (!calls_.empty()) message["tool_calls"] = calls_;
    return message;
}

}  // namespace whittle::inline v0::logs
