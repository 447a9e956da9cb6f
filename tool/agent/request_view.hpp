#pragma once

#include <whittle/openai/openai.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agent {

/// A tool call in a request, with what the request has as its result: that may be a placeholder.
struct SeenCall {
    std::string id{};
    std::string tool{};
    nlohmann::json arguments{};
    std::string result{};
};

/// A request as its model reads it.
struct RequestView {
    std::string task{};                  ///< text of the newest user message
    std::vector<std::string> replies{};  ///< texts of the assistant messages
    std::vector<SeenCall> calls{};

    /// The first call of `tool` whose argument `name` has that value; null if there is none.
    [[nodiscard]] const SeenCall* find(std::string_view tool, const char* name, std::string_view value) const;
    /// The first reply that starts with `start`; empty if there is none.
    [[nodiscard]] std::string reply_with(std::string_view start) const;
};

[[nodiscard]] RequestView read_request(std::span<const whittle::openai::Message> messages);

/// Where a cleared result can be read, if `result` is a placeholder that says so.
[[nodiscard]] std::optional<std::string> cleared_location(std::string_view result);
/// Where all of a shortened result can be read, if `result` has the notice that says so.
[[nodiscard]] std::optional<std::string> truncated_location(std::string_view result);

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace agent
