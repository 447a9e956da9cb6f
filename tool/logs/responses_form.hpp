#pragma once

#include "entries.hpp"

/// Bodies of OpenAI's Responses interface in the form of its chat completions.
namespace whittle::inline v0::logs {

/// A request and its response.
struct ResponsesBodies {
    ordered_json request{};
    ordered_json response{};
};

/// Items alone as bodies, {"input": ...} and {"output": [...]}: some tracing services keep a list of them, or the only
/// one. What is no item stays as it is.
[[nodiscard]] ResponsesBodies bodies_of_items(const ordered_json& input, const ordered_json& output);

/// A request with items as "input", or with a text if the response has items as "output": other interfaces, such as
/// embeddings, take texts as input too. `response`: null if it was not recorded.
[[nodiscard]] bool is_responses_request(const ordered_json& body, const ordered_json& response);

/// "instructions" become the system text. "previous_response_id" stays; what else the server holds of the conversation
/// is counted as unknown.
[[nodiscard]] ordered_json to_chat_request(const ordered_json& body, LogNotes& notes);

/// All items that a response gave are one message.
[[nodiscard]] ordered_json to_chat_response(const ordered_json& body, LogNotes& notes);

}  // namespace whittle::inline v0::logs
