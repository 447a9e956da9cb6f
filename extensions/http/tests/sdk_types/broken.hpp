// Requests with one wrong member each, to show that the checker of types would notice.
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace whittle::sdk_types {

struct Broken {
    std::string what{};  ///< such as "messages[tool].content: 7"
    nlohmann::ordered_json body{};
};

/// `body` once for each sort of member that is not in `seen` yet, with that member's value of another type, and once
/// for each sort of object with a member that nobody knows. Adds the sorts to `seen`. What is free (the arguments and
/// schemas of tools) stays as it is.
[[nodiscard]] std::vector<Broken> break_body(const nlohmann::ordered_json& body, std::set<std::string>& seen);

}  // namespace whittle::sdk_types
