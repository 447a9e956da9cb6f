// What a server, a client in front of it, or a model says in place of a summary, by its form.
#pragma once

#include "whittle/summary/detail/attempt.hpp"

#include <optional>
#include <string_view>

namespace whittle::inline v0::detail {

/// Whether a text is a page of HTML or XML, as servers in front of a model send it.
[[nodiscard]] bool is_page(std::string_view text);
/// Whether a text is one JSON object, all of whose members are those of an error. A summary in JSON, as a user's own
/// instruction may want it, has others.
[[nodiscard]] bool is_error_json(std::string_view text);
/// Whether a text opens with an error: "Error code: 429 - ...", "HTTP 502", a traceback, a torn JSON error.
[[nodiscard]] bool opens_with_error(std::string_view text);

/// Whether a text says nothing: no letter and no digit, or only a word such as null.
[[nodiscard]] bool is_empty_reply(std::string_view text);
/// "Here is the summary of the conversation:", and nothing behind it.
[[nodiscard]] bool is_bare_heading(std::string_view text) noexcept;

/// What a text says that says nothing of the conversation: refusal, greeting or error_text; absent where no word or
/// sign tells. A summary can have such words too.
[[nodiscard]] std::optional<Refusal> manner_of(std::string_view text);

}  // namespace whittle::inline v0::detail
