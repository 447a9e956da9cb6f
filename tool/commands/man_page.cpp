#include "command_table.hpp"
#include "whittle/base/version.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sstream>

namespace whittle::cli {
namespace {

/// Text that roff takes as it is: a backslash, a hyphen and a point at the start of a line mean something to it.
std::string roff(std::string_view text) {
    std::string out;
    bool is_start = true;
    for (const char c : text) {
        if (is_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
        is_start = c == '\n';
    }
    return out;
}

std::string synopsis_of(const CommandEntry& command) {
    std::string text = fmt::format("\\fBwhittle {}\\fR", roff(command.path));
    bool has_options = false;
    for (const OptionEntry& option : command.options) {
        if (!option.is_argument) {
            has_options = true;
            continue;
        }
        const std::string name = fmt::format("\\fI{}\\fR", roff(option.value.empty() ? option.name : option.value));
        text += option.is_required ? " " + name : fmt::format(" [{}]", name);
    }
    return text + (has_options ? " [options]" : "");
}

std::string options_of(const CommandEntry& command) {
    std::string text;
    for (const OptionEntry& option : command.options) {
        std::string head = option.is_argument ? fmt::format("\\fI{}\\fR", roff(option.value))
                                              : fmt::format("\\fB{}\\fR", roff(option.name));
        if (!option.is_argument && !option.value.empty()) head += fmt::format(" \\fI{}\\fR", roff(option.value));
        text += fmt::format(".TP\n{}\n{}\n", head, roff(option.meaning));
    }
    return text;
}

/// Lines with two spaces in front are examples: as they are.
std::string footer_of(const CommandEntry& command) {
    std::string text;
    bool is_literal = false;
    std::istringstream lines(command.footer);
    for (std::string line; std::getline(lines, line);) {
        const bool is_example = line.starts_with("  ");
        if (is_example != is_literal) text += is_example ? ".nf\n" : ".fi\n";
        is_literal = is_example;
        text += line.empty() ? ".PP\n" : roff(line) + "\n";
    }
    if (is_literal) text += ".fi\n";
    return text.empty() ? text : ".PP\n" + text;
}

}  // namespace

std::string man_page(const std::vector<CommandEntry>& table) {
    const CommandEntry& program = table.front();
    std::string text = fmt::format(
        ".\\\" made by `whittle man`\n"
        ".TH WHITTLE 1 \"\" \"whittle {}\" \"User Commands\"\n"
        ".SH NAME\nwhittle \\- keep the message history of an LLM agent small, valid, cheap and recoverable\n"
        ".SH SYNOPSIS\n",
        WHITTLE_VERSION_STRING);
    std::string_view line_break;
    for (const CommandEntry& command : table) {
        if (command.path.empty() || command.has_commands) continue;
        text += fmt::format("{}{}\n", line_break, synopsis_of(command));
        line_break = ".br\n";
    }
    text += ".SH DESCRIPTION\n" + roff(program.meaning) + "\n" + footer_of(program);
    text += ".SH OPTIONS\n" + options_of(program);
    text += ".SH COMMANDS\n";
    for (const CommandEntry& command : table) {
        if (command.path.empty() || command.has_commands) continue;
        text += fmt::format(".SS {}\n{}\n", roff(command.path), roff(command.meaning));
        text += options_of(command) + footer_of(command);
    }
    text +=
        ".SH EXIT STATUS\n"
        ".TP\n0\nDone.\n"
        ".TP\n1\nThe input or the run failed; the last line of standard error says why.\n"
        ".TP\n2\nUsage or configuration.\n"
        ".SH ENVIRONMENT\n"
        ".TP\nNO_COLOR\nIf it is not empty, nothing is coloured.\n"
        ".TP\nCOLUMNS\nThe width that lines of free text keep to.\n"
        ".TP\nWHITTLE_VOCABULARIES\nThe directory of installed vocabularies.\n"
        ".PP\nA configuration names the values that hold the keys of its models.\n"
        ".SH DOCUMENTATION\n"
        "`whittle \\-\\-help` ends with the folder of all pages: " WHITTLE_DOCS_FROM_PROGRAM
        ", seen from the folder of the program. extensions/config/README.md and other pages that are named here are "
        "there;\n"
        "tool/docs/cli.md is about this program.\n";
    return text;
}

CLI::App* add_man(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("man", "Print the manual page");
    sub->footer(
        "Examples:\n"
        "  whittle man | man -l -\n"
        "  whittle man > ~/.local/share/man/man1/whittle.1");
    return sub;
}

}  // namespace whittle::cli
