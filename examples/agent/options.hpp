#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace agent {

struct Options {
    std::filesystem::path workspace{};
    std::filesystem::path config{};
    std::filesystem::path store{};    ///< empty: as the configuration says
    std::filesystem::path session{};  ///< empty: not recorded
    std::string id = "session";
    std::string enumeration = "Errc";
    int max_steps = 200;
    bool check = false;
    bool help = false;
};

[[nodiscard]] const char* help_text() noexcept;

/// Throws whittle::Error(invalid_argument) that says which option is wrong.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace agent
