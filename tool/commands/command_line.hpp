#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whittle::cli {

/// Keeps how the program was called, for reports.
void store_command_line(std::span<const std::string> arguments);
/// "whittle scan 'my logs' --html report.html"; empty if it was not kept.
[[nodiscard]] std::string command_line();

/// As one word of a shell.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

}  // namespace whittle::cli
