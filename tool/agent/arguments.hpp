#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agent {

/// The arguments of a tool call. Every error says which argument, what was expected and what was found.
class Arguments {
public:
    /// Throws whittle::Error(parse_failed) for text that is no JSON object.
    explicit Arguments(std::string_view json);

    [[nodiscard]] std::string text(const char* name);
    [[nodiscard]] std::string text_or(const char* name, std::string_view fallback);
    [[nodiscard]] std::size_t count_or(const char* name, std::size_t fallback);
    /// Throws whittle::Error(invalid_argument) if there are arguments that nobody asked for.
    void done() const;

private:
    [[nodiscard]] const nlohmann::json* find(const char* name);

    nlohmann::json json_;
    std::vector<std::string> known_{};
};

}  // namespace agent
