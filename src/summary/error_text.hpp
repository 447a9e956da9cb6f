// What a server, a client in front of it, or a model says in place of a summary.
#pragma once

#include <string_view>

namespace whittle::inline v0::detail {

/// Whether a text is a page of HTML or XML, as servers in front of a model send it.
[[nodiscard]] bool is_page(std::string_view text);
/// Whether a text is one JSON object, all of whose members are those of an error. A summary in JSON, as a user's own
/// instruction may want it, has others.
[[nodiscard]] bool is_error_json(std::string_view text);

/// How a short text reads that may nevertheless be a summary of work on errors.
enum class ErrorLook {
    none,
    phrase,   ///< says somewhere near its start what servers say: "bad gateway", "please try again"
    opening,  ///< opens with an error: "Error code: 429 - ...", "502 Bad Gateway", a traceback
};
[[nodiscard]] ErrorLook look_of_error(std::string_view text);

/// Whether a text says nothing: no letter and no digit, or only a word such as null.
[[nodiscard]] bool is_empty_reply(std::string_view text);

// How a short text reads that may nevertheless be a summary.
/// It would not.
[[nodiscard]] bool looks_like_refusal(std::string_view text);
/// A greeting, a question to the user, an offer, a bare assent.
[[nodiscard]] bool looks_like_greeting(std::string_view text);
/// "Here is the summary of the conversation:", and nothing behind it.
[[nodiscard]] bool is_bare_heading(std::string_view text) noexcept;

/// How many words near the start of a text tell what was done and who did it: verbs of the past, "user", "agent".
[[nodiscard]] int words_of_a_tale(std::string_view text);

}  // namespace whittle::inline v0::detail
