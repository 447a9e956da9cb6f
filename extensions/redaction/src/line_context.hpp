// What lines in front say of a line.
#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0::redaction {

/// What is known in front of a line of a text.
struct LineContext {
    std::string command{};  ///< the end of a command that goes on in the line, with its line feeds; 1 KiB at most
    bool is_entry = false;  ///< an entry of .netrc may go on in it
    bool is_login = false;  ///< and one of its lines tells a user, or a machine by a name with points

    /// `line` was the next one.
    void pass(std::string_view line);
};

/// How many bytes at the end of `text` say that a command goes on in the next line: "\" of a shell, " ^" and " `" of
/// those of Windows.
[[nodiscard]] std::size_t size_of_continuation(std::string_view text) noexcept;

}  // namespace whittle::inline v0::redaction
