#pragma once

#include "whittle/message/validity.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// A rule of docs/validity.md that a request breaks in its wire form: what only its JSON shows.
struct WireViolation {
    std::string_view rule{};                ///< "A5", "A9", "G13", ...
    Severity severity = Severity::refused;  ///< refused by the server, or silent damage
    std::size_t message = 0;                ///< index; the size of the list for the request as a whole
    std::size_t block = 0;                  ///< index in the message's content, or in its list of calls
    std::string text{};                     ///< one sentence: what is wrong

    friend bool operator==(const WireViolation&, const WireViolation&) = default;
};

}  // namespace whittle::inline v0
