#pragma once

#include "entries.hpp"

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

/// Parts of contents as Gemini's interface has them: Gemini CLI and the agents that came of it record these.
namespace whittle::inline v0::logs {

/// What a member holds of parts: a string or a part is one, too.
[[nodiscard]] nlohmann::ordered_json gemini_parts(const nlohmann::ordered_json& holder, const char* key);

/// What is said; "" of a thought, a call, a response or media.
[[nodiscard]] std::string text_of_gemini_part(const nlohmann::ordered_json& part);

/// The texts of all parts. Media are left out, and noted.
[[nodiscard]] std::string joined_gemini_text(const nlohmann::ordered_json& parts, std::string_view between,
                                             LogNotes& notes);

/// Notes media that stand in the part, or in its function's response.
void note_gemini_media(const nlohmann::ordered_json& part, LogNotes& notes);

/// What a function's response says: its "output" or "error", or all of it.
[[nodiscard]] std::string text_of_gemini_response(const nlohmann::ordered_json& function_response);

/// Gives those of `calls` that are `open` an empty result, in order, since a request has one for each; they are noted,
/// and open no more. There has to be an entry.
void answer_open_calls(const std::vector<std::string>& calls, std::unordered_set<std::string>& open, Entries& entries,
                       LogNotes& notes);

/// Of a call, as JSON; "{}" if it has none.
[[nodiscard]] std::string arguments_of_gemini(const nlohmann::ordered_json& function_call);

}  // namespace whittle::inline v0::logs
