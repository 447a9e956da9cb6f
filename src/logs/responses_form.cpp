#include "responses_form.hpp"

#include "codex_thread.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

void copy_member(const ordered_json& from, const char* key, ordered_json& to, const char* as) {
    const ordered_json* value = find_member(from, key);
    if (value != nullptr && !value->is_null()) to[as] = *value;
}

}  // namespace

bool is_responses_request(const ordered_json& body, const ordered_json& response) {
    const ordered_json* input = find_member(body, "input");
    if (input == nullptr || find_member(body, "messages") != nullptr) return false;
    if (input->is_string()) return tree_at(response, "output") != nullptr;
    return input->is_array() && !input->empty() && input->front().is_object();
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
    for (const char* key : {"id", "model", "usage"}) copy_member(body, key, response, key);
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
