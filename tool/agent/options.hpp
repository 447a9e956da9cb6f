#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace agent {

struct Options {
    std::filesystem::path workspace{};
    std::filesystem::path config{};
    std::filesystem::path store{};    ///< empty: as the configuration says, else beside it
    std::filesystem::path session{};  ///< empty: not recorded
    std::string id = "session";
    std::string enumeration = "Errc";
    int max_steps = 200;
    std::string model{};        ///< empty: the scripted one
    std::string base_url{};     ///< empty: the provider's own
    std::string api{};          ///< "anthropic", or a dialect of chat completions; empty: "openai"
    std::string api_key_env{};  ///< empty: the provider's usual one without `base_url`, no key with it
    std::string task{};         ///< empty: the scripted model's
    double max_cost = 0.0;      ///< 0: no limit
    bool resume = false;
    bool check = false;
    bool help = false;
};

[[nodiscard]] const char* help_text() noexcept;

/// Throws whittle::Error(invalid_argument) that says which option is wrong.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace agent
