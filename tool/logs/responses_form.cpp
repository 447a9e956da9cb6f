#include "responses_form.hpp"

#include "codex_thread.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

void copy_member(const ordered_json& from, const char* key, ordered_json& to, const char* as) {
    const ordered_json* value = find_member(from, key);
    if (value != nullptr && !value->is_null()) to[as] = *value;
}

bool is_responses_item(const ordered_json& value) {
    constexpr std::array<std::string_view, 6> others{"reasoning",      "item_reference",       "compaction",
                                                     "mcp_list_tools", "mcp_approval_request", "tool_search_output"};
    constexpr std::array<std::string_view, 12> calls{
        "function",   "custom_tool", "local_shell", "shell", "apply_patch",      "tool_search",
        "web_search", "file_search", "computer",    "mcp",   "code_interpreter", "image_generation"};
    std::string_view type = text_at(value, "type");
    if (type == "message") return find_member(value, "stop_reason") == nullptr;  // which a message of Anthropic has
    if (std::ranges::find(others, type) != others.end()) return true;
    for (const std::string_view end : {"_call_output", "_call"}) {
        if (!type.ends_with(end)) continue;
        type.remove_suffix(end.size());
        return std::ranges::find(calls, type) != calls.end();
    }
    return false;
}

bool is_item_or_list(const ordered_json& value) {
    if (!value.is_array()) return is_responses_item(value);
    return std::ranges::any_of(value, is_responses_item);
}

}  // namespace

ResponsesBodies bodies_of_items(const ordered_json& input, const ordered_json& output) {
    ResponsesBodies bodies{input, output};
    const bool is_reply = is_item_or_list(output);
    if (is_reply) bodies.response = {{"output", output.is_array() ? output : ordered_json::array({output})}};
    const bool is_text_or_list = input.is_array() || (is_reply && input.is_string());
    if (is_text_or_list && (is_reply || is_item_or_list(input))) bodies.request = {{"input", input}};
    return bodies;
}

bool is_responses_request(const ordered_json& body, const ordered_json& response) {
    const ordered_json* input = find_member(body, "input");
    if (input == nullptr || find_member(body, "messages") != nullptr) return false;
    if (input->is_string()) return tree_at(response, "output") != nullptr;
    return input->is_array() && std::ranges::any_of(*input, [](const ordered_json& item) {
               return is_responses_item(item) || !text_at(item, "role").empty();
           });
}

ordered_json to_chat_request(const ordered_json& body, LogNotes& notes) {
    const ordered_json& input = body["input"];
    ordered_json request{{"messages", ordered_json::array()}};
    if (input.is_string()) {
        request["messages"].push_back({{"role", "user"}, {"content", input}});
    } else {
        for (ordered_json& message : CodexThread::messages_of(input, "input", notes))
            request["messages"].push_back(std::move(message));
    }
    copy_member(body, "model", request, "model");
    copy_member(body, "tools", request, "tools");
    copy_member(body, "instructions", request, "system");
    copy_member(body, "previous_response_id", request, "previous_response_id");
    for (const char* held : {"conversation", "prompt"}) {
        const ordered_json* value = find_member(body, held);
        if (value != nullptr && !value->is_null()) ++notes.unknown[std::string(held) + " that the server holds"];
    }
    return request;
}

ordered_json to_chat_response(const ordered_json& body, LogNotes& notes) {
    ordered_json response = ordered_json::object();
    for (const char* key : {"id", "model", "usage", "error", "input_tokens"}) copy_member(body, key, response, key);
    const ordered_json* output = tree_at(body, "output");
    if (output == nullptr || !output->is_array()) return response;
    for (ordered_json& message : CodexThread::messages_of(*output, "output", notes)) {
        if (text_at(message, "role") != "assistant") continue;
        if (response.contains("choices")) ++notes.unknown["output with several replies"];
        response["choices"] = ordered_json::array({{{"message", std::move(message)}}});
    }
    return response;
}

}  // namespace whittle::inline v0::logs
