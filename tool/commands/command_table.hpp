#pragma once

#include "commands.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace whittle::cli {

/// An option or an argument, as the help has it.
struct OptionEntry {
    std::string name{};   ///< "--config"; of an argument its name
    std::string value{};  ///< such as "CHAIN.json"; empty for a flag
    std::string meaning{};
    bool is_argument = false;
    bool is_required = false;
};

/// A command, as the help has it.
struct CommandEntry {
    std::string path{};  ///< "config show"; empty for the program itself
    std::string meaning{};
    std::vector<OptionEntry> options{};
    std::string footer{};
    bool has_commands = false;

    /// The last word of the path.
    [[nodiscard]] std::string_view name() const noexcept;
    /// The path without it.
    [[nodiscard]] std::string_view parent() const noexcept;
};

/// The program, then its commands, each in front of its own. What the help is made from: nothing is said twice.
[[nodiscard]] std::vector<CommandEntry> command_table(const CLI::App& app);

/// What the value of an option may be, where that is a list of words; empty: anything, such as a file.
[[nodiscard]] std::vector<std::string> words_for(const CommandEntry& command, const OptionEntry& option);

/// A script for "bash", "zsh" or "fish". Throws `UsageError` for another name.
[[nodiscard]] std::string completion_script(const std::vector<CommandEntry>& table, std::string_view shell);
/// A page for man(1), as roff; the same for the same program, without a date.
[[nodiscard]] std::string man_page(const std::vector<CommandEntry>& table);

/// `completion SHELL` and `man`.
CLI::App* add_completion(CLI::App& app, std::string& shell);
CLI::App* add_man(CLI::App& app);

}  // namespace whittle::cli
