#include "command_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace whittle::cli {
namespace {

using CommandTable = std::vector<CommandEntry>;

/// The names of the commands below a path.
std::vector<std::string> commands_below(const CommandTable& table, std::string_view path) {
    std::vector<std::string> names;
    for (const CommandEntry& command : table) {
        if (!command.path.empty() && command.parent() == path) names.emplace_back(command.name());
    }
    return names;
}

/// Its commands, or the words of its arguments, then its options.
std::vector<std::string> words_after(const CommandTable& table, const CommandEntry& command) {
    std::vector<std::string> words = commands_below(table, command.path);
    for (const OptionEntry& option : command.options) {
        if (!option.is_argument) {
            words.push_back(option.name);
            continue;
        }
        for (std::string& word : words_for(command, option)) words.push_back(std::move(word));
    }
    return words;
}

/// Patterns that a shell matches a command's path with, each word with a space in front.
std::string path_patterns(const CommandTable& table) {
    std::vector<std::string> patterns;
    for (const CommandEntry& command : table) {
        if (!command.path.empty()) patterns.push_back(fmt::format("\" {}\"", command.path));
    }
    return fmt::format("{}", fmt::join(patterns, "|"));
}

/// An option at a place, and the words that may stand behind it.
struct WordChoice {
    std::string pattern{};
    std::vector<std::string> words{};
};

std::vector<WordChoice> word_choices(const CommandTable& table) {
    std::vector<WordChoice> choices;
    for (const CommandEntry& command : table) {
        for (const OptionEntry& option : command.options) {
            std::vector<std::string> words =
                option.is_argument ? std::vector<std::string>{} : words_for(command, option);
            if (!words.empty())
                choices.push_back({fmt::format("\" {}:{}\"", command.path, option.name), std::move(words)});
        }
    }
    return choices;
}

/// Options with any other value, such as a file.
std::string valued_patterns(const CommandTable& table) {
    std::vector<std::string> patterns;
    for (const CommandEntry& command : table) {
        for (const OptionEntry& option : command.options) {
            if (!option.is_argument && !option.value.empty() && words_for(command, option).empty())
                patterns.push_back(fmt::format("\" {}:{}\"", command.path, option.name));
        }
    }
    return fmt::format("{}", fmt::join(patterns, "|"));
}

std::string bash_script(const CommandTable& table) {
    std::string text =
        "# bash completion of whittle, made by `whittle completion bash`\n"
        "_whittle() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= word words=\n"
        "    COMPREPLY=()\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case \"$at $word\" in\n";
    text += fmt::format("            {}) at=\"$at $word\" ;;\n", path_patterns(table));
    text +=
        "        esac\n"
        "    done\n"
        "    case \"${at:- }:$prev\" in\n";
    for (const WordChoice& choice : word_choices(table))
        text += fmt::format("        {}) words=\"{}\" ;;\n", choice.pattern, fmt::join(choice.words, " "));
    text += fmt::format("        {}) return ;;\n", valued_patterns(table));
    text += "    esac\n    if [ -z \"$words\" ]; then\n        case \"$at\" in\n";
    for (const CommandEntry& command : table) {
        const std::string at = command.path.empty() ? std::string() : " " + command.path;
        text += fmt::format("            \"{}\") words=\"{}\" ;;\n", at, fmt::join(words_after(table, command), " "));
    }
    text +=
        "        esac\n"
        "    fi\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "}\n"
        "complete -o bashdefault -o default -F _whittle whittle\n";
    return text;
}

/// A text in single quotes.
std::string single_quoted(std::string_view text, std::string_view for_quote) {
    std::string quoted = "'";
    for (const char c : text) c == '\'' ? quoted += for_quote : quoted += c;
    return quoted + "'";
}

/// What `_describe` takes: a word and its meaning with a colon between.
std::string zsh_entry(std::string_view word, std::string_view meaning) {
    return single_quoted(fmt::format("{}:{}", word, meaning), "'\\''");
}

std::string zsh_script(const CommandTable& table) {
    std::string text =
        "#compdef whittle\n"
        "# zsh completion of whittle, made by `whittle completion zsh`\n"
        "_whittle() {\n"
        "    local at='' word prev=${words[CURRENT-1]}\n"
        "    local -a commands options\n"
        "    for word in ${words[2,CURRENT-1]}; do\n"
        "        case \"$at $word\" in\n";
    text += fmt::format("            ({}) at=\"$at $word\" ;;\n", path_patterns(table));
    text += "        esac\n    done\n    case \"${at:- }:$prev\" in\n";
    for (const WordChoice& choice : word_choices(table))
        text += fmt::format("        ({}) compadd -- {}; return ;;\n", choice.pattern, fmt::join(choice.words, " "));
    text += fmt::format("        ({}) _files; return ;;\n", valued_patterns(table));
    text += "    esac\n    case \"$at\" in\n";
    for (const CommandEntry& command : table) {
        std::string commands;
        std::string options;
        const auto add = [](std::string& list, std::string_view word, std::string_view meaning) {
            list += "            " + zsh_entry(word, meaning) + "\n";
        };
        for (const CommandEntry& below : table) {
            if (!below.path.empty() && below.parent() == command.path) add(commands, below.name(), below.meaning);
        }
        for (const OptionEntry& option : command.options) {
            if (!option.is_argument) add(options, option.name, option.meaning);
            if (!option.is_argument) continue;
            for (const std::string& word : words_for(command, option)) add(commands, word, option.meaning);
        }
        text += fmt::format(
            "        (\"{}\")\n            commands=(\n{}            )\n            options=(\n{}            ) ;;\n",
            command.path.empty() ? "" : " " + command.path, commands, options);
    }
    text +=
        "    esac\n"
        "    _describe -o option options\n"
        "    (( $#commands )) && _describe command commands || _files\n"
        "}\n"
        "if [ \"$funcstack[1]\" = \"_whittle\" ]; then\n"
        "    _whittle \"$@\"\n"
        "else\n"
        "    compdef _whittle whittle\n"
        "fi\n";
    return text;
}

/// When fish is at a command: all words of its path were seen, and none of the commands below it.
std::string fish_condition(const CommandTable& table, const CommandEntry& command) {
    std::vector<std::string> tests;
    std::string_view rest = command.path;
    while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        tests.push_back(fmt::format("__fish_seen_subcommand_from {}", word));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    const std::vector<std::string> below = commands_below(table, command.path);
    if (!below.empty()) tests.push_back(fmt::format("not __fish_seen_subcommand_from {}", fmt::join(below, " ")));
    return fmt::format("{}", fmt::join(tests, "; and "));
}

std::string fish_quoted(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return single_quoted(escaped, "\\'");
}

std::string fish_script(const CommandTable& table) {
    std::string text = "# fish completion of whittle, made by `whittle completion fish`\n";
    for (const CommandEntry& command : table) {
        const std::string start = fmt::format("complete -c whittle -n {}", fish_quoted(fish_condition(table, command)));
        for (const CommandEntry& below : table) {
            if (!below.path.empty() && below.parent() == command.path)
                text += fmt::format("{} -f -a {} -d {}\n", start, below.name(), fish_quoted(below.meaning));
        }
        for (const OptionEntry& option : command.options) {
            const std::vector<std::string> words = words_for(command, option);
            const std::string choice =
                words.empty() ? std::string()
                              : fmt::format(" -f -a {}", fish_quoted(fmt::format("{}", fmt::join(words, " "))));
            const std::string meaning = fish_quoted(option.meaning);
            if (option.is_argument && words.empty()) continue;  // files, as ever
            if (option.is_argument) {
                text += fmt::format("{}{} -d {}\n", start, choice, meaning);
            } else {
                const bool is_long = option.name.starts_with("--");
                text += fmt::format("{} {} {}{}{} -d {}\n", start, is_long ? "-l" : "-s",
                                    option.name.substr(is_long ? 2 : 1), option.value.empty() ? "" : " -r", choice,
                                    meaning);
            }
        }
    }
    return text;
}

}  // namespace

std::string completion_script(const CommandTable& table, std::string_view shell) {
    if (shell == "bash") return bash_script(table);
    if (shell == "zsh") return zsh_script(table);
    if (shell == "fish") return fish_script(table);
    throw UsageError{fmt::format("completion {}: expected bash, zsh or fish", shell)};
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
    CLI::App* sub = app.add_subcommand("completion", "Print a script that completes commands and options in a shell");
    sub->add_option("shell", shell, "bash, zsh or fish")->required()->type_name("SHELL");
    sub->footer(
        "Examples:\n"
        "  source <(whittle completion bash)\n"
        "  whittle completion zsh > ~/.zfunc/_whittle\n"
        "  whittle completion fish > ~/.config/fish/completions/whittle.fish");
    return sub;
}

}  // namespace whittle::cli
