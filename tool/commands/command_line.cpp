#include "command_line.hpp"

#include <algorithm>

namespace whittle::cli {
namespace {

std::string& kept_command_line() {
    static std::string line;
    return line;
}

bool is_plain_in_shell(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=@%+,").find(c) != std::string_view::npos;
}

}  // namespace

std::string quoted_for_shell(std::string_view word) {
    if (!word.empty() && std::ranges::all_of(word, is_plain_in_shell)) return std::string(word);
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

void store_command_line(std::span<const std::string> arguments) {
    std::string line = "whittle";
    for (const std::string& argument : arguments.subspan(std::min<std::size_t>(1, arguments.size())))
        line += " " + quoted_for_shell(argument);
    kept_command_line() = line;
}

std::string command_line() { return kept_command_line(); }

}  // namespace whittle::cli
