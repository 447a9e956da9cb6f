// Where the value stands that a name in a text is for: behind "=", ":" and ">", and as options of commands have it.
#pragma once

#include "line_context.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace whittle::inline v0::redaction {

/// The place of a value in a text.
struct ValuePlace {
    std::size_t begin = 0;
    std::string_view quote{};      ///< the mark in front of it, with the backslashes of JSON in JSON; empty: none
    bool is_line = false;          ///< the rest of the line, as in a file of an environment
    bool is_between_tags = false;  ///< of XML
    bool is_of_program = false;    ///< as programs assign and compare it: a message may stand there too
    bool is_default = false;       ///< behind "||" and the like, where "unknown" may stand too
};

/// Behind the name that stands from `name` to `end` of `text`; nullopt: it names nothing there.
[[nodiscard]] std::optional<ValuePlace> place_of_value(std::string_view text, std::size_t name, std::size_t end);
/// Where the value ends, in front of its closing mark.
[[nodiscard]] std::size_t end_of_value(std::string_view text, const ValuePlace& place) noexcept;

/// Programs fill it in, or it was masked: "$PASSWORD", "<password>", "{{ password }}", "%s", "***"; not "$ecret1!".
[[nodiscard]] bool is_to_be_filled(std::string_view value) noexcept;

/// A part of a text.
struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The password of an address, which stands behind the user in front of "@"; `at` is behind "://".
[[nodiscard]] std::optional<Stretch> password_of_address(std::string_view text, std::size_t at) noexcept;
/// Of a line of .pgpass, host:port:database:user:password, which may stand in the line.
[[nodiscard]] std::optional<Stretch> password_of_pgpass(std::string_view line) noexcept;
/// Behind the user of "curl -u user:password"; `end` is behind the option's name, which begins at `name`.
[[nodiscard]] std::optional<Stretch> password_of_curl(std::string_view line, std::size_t name,
                                                      std::size_t end) noexcept;
/// Of "sshpass -p password" and "redis-cli -a password"; `end` is behind the option's name, which begins at `name`.
[[nodiscard]] std::optional<Stretch> password_of_option(std::string_view line, std::size_t name,
                                                        std::size_t end) noexcept;
/// Of a line of .netrc; `end` is behind the word "password". `context`: what lines in front say of it.
[[nodiscard]] std::optional<Stretch> password_of_netrc(std::string_view line, std::size_t name, std::size_t end,
                                                       const LineContext& context) noexcept;

}  // namespace whittle::inline v0::redaction
