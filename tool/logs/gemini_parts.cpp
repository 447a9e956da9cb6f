#include "gemini_parts.hpp"

#include "openai_form.hpp"
#include "whittle/provider/detail/json_tree.hpp"

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

void note_gemini_media_of(const ordered_json& part, LogNotes& notes) {
    for (const char* media : {"inlineData", "fileData"}) {
        if (part.is_object() && part.contains(media)) ++notes.left_out[media];
    }
}

}  // namespace

ordered_json gemini_parts(const ordered_json& holder, const char* key) {
    const ordered_json* parts = find_member(holder, key);
    if (parts == nullptr || parts->is_null()) return ordered_json::array();
    return parts->is_array() ? *parts : ordered_json::array({*parts});
}

std::string text_of_gemini_part(const ordered_json& part) {
    if (part.is_string()) return part.get<std::string>();
    return is_set(part, "thought") ? "" : std::string(text_at(part, "text"));
}

std::string joined_gemini_text(const ordered_json& parts, std::string_view between, LogNotes& notes) {
    std::string text;
    for (const ordered_json& part : parts) {
        const std::string piece = text_of_gemini_part(part);
        if (!piece.empty()) text.append(text.empty() ? "" : between).append(piece);
        note_gemini_media(part, notes);
    }
    return text;
}

void note_gemini_media(const ordered_json& part, LogNotes& notes) {
    note_gemini_media_of(part, notes);
    const ordered_json* response = tree_at(part, "functionResponse");
    const ordered_json* inside = response == nullptr ? nullptr : tree_at(*response, "parts");
    if (inside == nullptr) return;
    for (const ordered_json& one : *inside) note_gemini_media_of(one, notes);
}

std::string text_of_gemini_response(const ordered_json& function_response) {
    const ordered_json* response = find_member(function_response, "response");
    if (response == nullptr) return "";
    for (const char* key : {"output", "error"}) {
        if (const ordered_json* text = find_member(*response, key); text != nullptr && text->is_string())
            return text->get<std::string>();
    }
    return to_json_text(*response);
}

std::string arguments_of_gemini(const ordered_json& function_call) {
    const ordered_json* args = tree_at(function_call, "args");
    return args == nullptr ? "{}" : to_json_text(*args);
}

void answer_open_calls(const std::vector<std::string>& calls, std::unordered_set<std::string>& open, Entries& entries,
                       LogNotes& notes) {
    for (const std::string& id : calls) {
        if (open.erase(id) == 0) continue;
        ++notes.left_out["tool call without a result"];
        const Entry& newest = entries[entries.size() - 1];
        entries.add({.message = openai_result(id, ""), .time = newest.time, .line = newest.line, .call = std::nullopt});
    }
}

}  // namespace whittle::inline v0::logs
