#include "usage_error.hpp"

#include "masked.hpp"
#include "shown.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace whittle::cli {
namespace {

/// The command that was named last, and the first word that it did not take.
struct Refused {
    const CLI::App* command = nullptr;
    std::string word{};  ///< empty: it took them all
};

Refused find_refused(const CLI::App& app) {
    Refused refused{.command = &app, .word = {}};
    for (;;) {
        const std::vector<std::string> rest = refused.command->remaining();
        const std::vector<CLI::App*> named = refused.command->get_subcommands();
        if (!rest.empty() || named.empty()) {
            if (!rest.empty()) refused.word = rest.front();
            return refused;
        }
        refused.command = named.front();
    }
}

/// "whittle store ls".
std::string path_of(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

std::vector<std::string> options_of_app(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::string hint_of(std::string_view word, const std::vector<std::string>& known) {
    const std::string_view closest = closest_match(word, known);
    return closest.empty() ? std::string() : fmt::format("; did you mean {}?", closest);
}

std::string list_of_commands(const CLI::App& command) {
    return fmt::format("commands: {}\n", fmt::join(commands_of(command), ", "));
}

/// The names of what is missing, where that is why nothing was done: "FILE".
std::string missing_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_required() && option->count() == 0)
            names.push_back(option->get_positional() ? option->get_type_name() : option->get_name());
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string text_of_refused(const Refused& refused) {
    const CLI::App& command = *refused.command;
    const std::string word = shown(printed(refused.word.substr(0, refused.word.find('='))));
    if (word.starts_with("-") && word.size() > 1)
        return fmt::format("there is no option {}{}\n", word, hint_of(word, options_of_app(command)));
    const std::vector<std::string> commands = commands_of(command);
    if (commands.empty()) return fmt::format("\"{}\" is one argument too many\n", word);
    return fmt::format("there is no command \"{}\"{}\n", word, hint_of(word, commands)) + list_of_commands(command);
}

std::string text_of_missing(const CLI::App& command, const CLI::ParseError& error) {
    if (!commands_of(command).empty()) return "expected a command\n" + list_of_commands(command);
    const std::string missing = missing_of(command);
    return missing.empty() ? shown_lines(printed(error.what())) + "\n" : fmt::format("expected {}\n", missing);
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
    const Refused refused = find_refused(app);
    const bool is_of_requirement = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const bool is_refusal = is_of_requirement || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const std::string path = path_of(*refused.command);
    std::string text = is_refusal && !refused.word.empty() ? text_of_refused(refused)
                       : is_of_requirement                 ? text_of_missing(*refused.command, error)
                                                           : shown_lines(printed(error.what())) + "\n";
    return fmt::format("{}: {}`{} --help` has {}\n", path, text, path,
                       commands_of(*refused.command).empty() ? "its options and examples" : "what each does");
}

}  // namespace whittle::cli
