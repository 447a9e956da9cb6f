#include "apps/cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

/// Controls of both kinds, line feeds aside, and marks that turn the direction of a line.
bool may_steer_a_terminal(const std::string& text) {
    const bool has_control = std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20U && c != '\n') || byte == 0x7FU;
    });
    return has_control || has(text, "\xC2\x9B") || has(text, "\xE2\x80\xAE") || has(text, "\xE2\x80\xA8");
}

/// Clears the screen, forges a line, turns the rest of the line around, all as JSON text.
const std::string hostile = R"(a\u001b[2J\u009b31m\nwhittle: all is well\u202e\u2028\u007f)";

std::string hostile_session() {
    return R"({"id":")" + hostile + R"(","messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":")" +
           hostile + R"(","content":"x"},{"role":"assistant","tool_calls":[{"id":")" + hostile +
           R"(","type":"function","function":{"name":")" + hostile + R"(","arguments":"{}"}}]}]})" + "\n";
}

std::vector<std::string> printed_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("nothing that an input holds steers the terminal, whichever command prints it", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    const std::string name = "s\x1b[31m\xC2\x9B.jsonl";
    write_text(dir / name, hostile_session());
    write_text(dir / "both.jsonl", R"({"id":")" + hostile +
                                       R"(","messages":[{"role":"assistant","tool_calls":[]},{"role":"user",)"
                                       R"("content":[{"type":"tool_result","tool_use_id":"x"}]}]})");
    write_text(dir / "role.jsonl", R"({"messages":[{"role":")" + hostile + R"("}]})");
    write_text(dir / "key.json", R"({")" + hostile + R"(":1})");
    const std::string file = "'" + name + "'";
    for (const std::string& arguments :
         std::vector<std::string>{"check " + file,
                                  "check --json " + file,
                                  "count " + file,
                                  "count --json " + file,
                                  "replay --config chain.json " + file,
                                  "replay --json --config chain.json " + file,
                                  "replay --config chain.json both.jsonl " + file,
                                  "apply --config chain.json --dry-run --in " + file,
                                  "apply --config chain.json --json --dry-run --in " + file,
                                  "check role.jsonl",
                                  "check both.jsonl",
                                  "replay --config key.json " + file,
                                  "check '--no\x1b[2J'",
                                  "check '\x1b[2J'",
                                  "explain --config chain.json " + file,
                                  "explain --json --config chain.json " + file,
                                  "explain --config chain.json --session '\x1b[2J' " + file,
                                  "diff --config chain.json --preset cheap --call 0 --calls " + file,
                                  "diff --json --config chain.json --preset cheap --call 0 " + file,
                                  "diff --config key.json --config '\x1b[2J' " + file,
                                  "config check key.json",
                                  "config check key.json --json",
                                  "config check '\x1b[2J'",
                                  "config show key.json --origins",
                                  "doctor key.json",
                                  "doctor key.json --json",
                                  "store ls '\x1b[2J'",
                                  "store show . '\x1b[2J'",
                                  "store gc . --live '\x1b[2J'",
                                  "completion '\x1b[2J'",
                                  "check --profile '\x1b[2J' " + file,
                                  "count --counter '\x1b[2J' " + file,
                                  "vocab install '\x1b[2J'"}) {
        CAPTURE(arguments);
        const CliResult result = run_cli(dir, arguments);
        CHECK_FALSE(may_steer_a_terminal(result.out));
        CHECK_FALSE(may_steer_a_terminal(result.err));
        CHECK_FALSE(has("\n" + result.out + result.err, "\nwhittle: all is well"));
    }
    const CliResult check = run_cli(dir, "check " + file);
    CHECK(has(check.out, R"(a\u001b[2J\u009b31m\u000awhittle: all is well\u202e\u2028\u007f)"));
    const ordered_json shown = ordered_json::parse(run_cli(dir, "check --json " + file).out);
    CHECK(shown["violation_list"][0]["trajectory"] == ordered_json::parse("\"" + hostile + "\""));
}

TEST_CASE("wide and combining characters in names keep a table aligned", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    std::string sessions;
    const std::vector<std::string> ids{"plain", "\xE6\xBC\xA2\xE5\xAD\x97", "e\xCC\x81t\xC3\xA9", "\xF0\x9F\x98\x80",
                                       R"(\u001b)"};
    for (const std::string& id : ids) sessions += session_line(id, 1, 10);
    write_text(dir / "s.jsonl", sessions);
    const auto lines = printed_lines(run_cli(dir, "replay s.jsonl --config chain.json").out);
    REQUIRE(lines.size() > 6);
    // The number of calls ends in the same column: what stands before it has the width that the character has.
    const std::vector<std::size_t> columns{5, 4, 3, 2, 6};
    const std::size_t first = lines[1].find('2') - columns[0];
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CAPTURE(lines[i + 1]);
        const std::size_t end_of_name = lines[i + 1].find(' ');
        CHECK(lines[i + 1].find('2', end_of_name) - end_of_name + columns[i] == first + columns[0]);
    }
}

TEST_CASE("a long name is cut by columns, not inside a character", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    std::string wide;
    for (int i = 0; i < 60; ++i) wide += "\xE6\xBC\xA2";
    write_text(dir / "s.jsonl", session_line(wide, 1, 10));
    const auto lines = printed_lines(run_cli(dir, "replay s.jsonl --config chain.json").out);
    REQUIRE(lines.size() > 1);
    CHECK(lines[1].starts_with(wide.substr(0, 20 * 3) + "... "));
}
