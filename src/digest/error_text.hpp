// What a server, or a client in front of it, says in place of a reply.
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

}  // namespace whittle::inline v0::detail
