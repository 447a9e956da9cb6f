#include "cli.hpp"
#include "support/catch.hpp"

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace whittle::testing;

namespace {

const std::vector<std::string> commands{"replay",       "compare",       "apply",      "check",         "config show",
                                        "config check", "config schema", "count",      "vocab install", "explain",
                                        "diff",         "store ls",      "store show", "store verify",  "store gc",
                                        "doctor",       "completion",    "man"};

/// The long options that the help of a command names at the start of a line.
std::set<std::string> options_in_help(const TempDir& dir, const std::string& command) {
    std::set<std::string> options;
    std::istringstream help(run_cli(dir, command + " --help").out);
    for (std::string line; std::getline(help, line);) {
        const std::size_t start = line.find_first_not_of(' ');
        if (start == std::string::npos || line[start] != '-') continue;
        const std::size_t at = line.find("--", start);  // behind a short name, if it has one
        std::string name = line.substr(at, line.find_first_of(" ,[", at) - at);
        options.insert(std::move(name));
    }
    return options;
}

bool has_program(const std::string& name) { return std::system(("command -v " + name + " > /dev/null").c_str()) == 0; }

/// What a shell prints that runs `script`, with the program of this build in front of all others.
std::string printed_by(const TempDir& dir, const std::string& shell, const std::string& script) {
    write_text(dir / "script", script);
    const std::string command = "cd '" + dir.path().string() + "' && PATH=\"$(dirname '" WHITTLE_CLI "'):$PATH\" " +
                                shell + " script > printed 2>&1";
    const int status = std::system(command.c_str());
    const std::string printed = read_text(dir / "printed");
    return status == 0 ? printed : "failed: " + printed;
}

/// What bash offers for the last word.
std::string bash_offers(const TempDir& dir, const std::string& words) {
    return printed_by(dir, "bash",
                      "source <(whittle completion bash)\nCOMP_WORDS=(" + words +
                          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_whittle\necho \"${COMPREPLY[*]}\"\n");
}

}  // namespace

TEST_CASE("bash completes commands, options and words, and leaves files to itself", "[apps]") {
    const TempDir dir;
    if (!has_program("bash")) SKIP_WITH_MESSAGE("there is no bash here");
    CHECK(bash_offers(dir, "whittle re") == "replay\n");
    CHECK(bash_offers(dir, "whittle config ''") == "show check schema --help\n");
    CHECK(bash_offers(dir, "whittle replay --pre") == "--preset\n");
    CHECK(bash_offers(dir, "whittle replay --preset ''") == "recommended lossless local cheap\n");
    CHECK(bash_offers(dir, "whittle check --profile anthropic_") == "anthropic_thinking\n");
    CHECK(bash_offers(dir, "whittle replay --config ''") == "\n");
    CHECK(bash_offers(dir, "whittle explain session.js") == "\n");
    CHECK(bash_offers(dir, "whittle completion f") == "fish\n");
    for (const std::string& command : commands) {
        CAPTURE(command);
        std::istringstream offered(bash_offers(dir, "whittle " + command + " --"));
        std::set<std::string> options;
        for (std::string word; offered >> word;) options.insert(word);
        CHECK(options == options_in_help(dir, command));
    }
}

TEST_CASE("zsh and fish take their scripts, which have every command and option", "[apps]") {
    const TempDir dir;
    for (const std::string shell : {"zsh", "fish"}) {
        CAPTURE(shell);
        const std::string script = run_cli(dir, "completion " + shell).out;
        for (const std::string& command : commands) {
            CAPTURE(command);
            CHECK(has(script, command.substr(command.find(' ') + 1)));
            for (const std::string& option : options_in_help(dir, command))
                CHECK(has(script, shell == "fish" ? "-l " + option.substr(2) + " " : "'" + option + ":"));
        }
        if (has_program(shell)) CHECK(printed_by(dir, shell + " -n", script).empty());
    }
    if (!has_program("fish")) SKIP_WITH_MESSAGE("there is no fish here");
    const std::string source = "whittle completion fish | source\ncomplete -C ";
    CHECK(has(printed_by(dir, "fish", source + "'whittle store v'\n"), "verify\t"));
    CHECK(has(printed_by(dir, "fish", source + "'whittle replay --preset re'\n"), "recommended\t"));
    CHECK(has(printed_by(dir, "fish", source + "'whittle config show --or'\n"), "--origins\t"));
}

TEST_CASE("completion wants a shell that it knows", "[apps]") {
    const TempDir dir;
    const CliResult other = run_cli(dir, "completion tcsh");
    CHECK(other.exit_code == 2);
    CHECK(other.err == "whittle: completion tcsh: expected bash, zsh or fish\n");
    CHECK(run_cli(dir, "completion").exit_code == 2);
}

TEST_CASE("the manual page has every command and option of the help, and roff takes it", "[apps]") {
    const TempDir dir;
    const CliResult page = run_cli(dir, "man");
    REQUIRE(page.exit_code == 0);
    CHECK(page.out == run_cli(dir, "man").out);
    CHECK(has(page.out, ".TH WHITTLE 1 "));
    for (const std::string& command : commands) {
        CAPTURE(command);
        const std::size_t start = page.out.find(".SS " + command + "\n");
        REQUIRE(start != std::string::npos);
        const std::string section = page.out.substr(start, page.out.find("\n.S", start + 4) - start);
        for (std::string option : options_in_help(dir, command)) {
            for (std::size_t at = 0; (at = option.find('-', at)) != std::string::npos; at += 2) option.insert(at, "\\");
            CHECK(has(section, ".TP\n\\fB" + option + "\\fR"));
        }
    }
    for (const std::string& line : {std::string("\n'"), std::string("\n.whittle")}) CHECK_FALSE(has(page.out, line));
    if (!has_program("mandoc")) SKIP_WITH_MESSAGE("there is no mandoc here");
    write_text(dir / "whittle.1", page.out);
    CHECK(printed_by(dir, "sh", "mandoc -T lint -W warning whittle.1 | grep -v 'missing date'; true\n").empty());
}
