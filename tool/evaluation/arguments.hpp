#pragma once

#include "evaluation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::evaluation {

/// A string or number within the arguments of a call.
struct Argument {
    std::string key{};  ///< of the member that it, or the list around it, is the value of
    std::string text{};
    bool is_number = false;
    bool is_member = false;  ///< a direct member of the arguments' object
};

/// In the order of the text. Arguments that are no JSON are one string without a key.
[[nodiscard]] std::vector<Argument> read_arguments(std::string_view json);

/// What a call's arguments show that the agent knew.
struct CallNeeds {
    std::vector<std::string> identifiers{};  ///< not of texts that the call writes; 8 at most
    std::vector<std::string> lines{};        ///< exact lines that the call replaces or removes; 3 at most
    std::vector<std::string> values{};       ///< short values, for agents that copy them; 8 at most
};
[[nodiscard]] CallNeeds needs_of(const std::vector<Argument>& arguments, bool with_values);

/// Paths that a call writes or edits.
[[nodiscard]] std::vector<std::string> written_paths(std::string_view tool, const std::vector<Argument>& arguments);

}  // namespace whittle::inline v0::evaluation
