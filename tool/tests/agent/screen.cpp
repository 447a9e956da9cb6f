#include "agent/screen.hpp"

#include "scratch.hpp"
#include "support/catch.hpp"

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace {

/// What `write` writes.
std::string written(const std::function<void(std::FILE*)>& write) {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    write(file);
    std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

whittle::ToolContext call(const std::string& tool) { return {.tool = tool, .arguments = R"({"path":"a.txt"})"}; }

/// One step with two tools, one result of which was shortened.
void run_a_little(std::FILE* out, bool is_live) {
    const Scratch scratch;
    scratch.write("work/a.txt", "a");
    const agent::Sandbox sandbox(scratch / "work", {});
    agent::Screen screen(out, sandbox, 64'000, {.has_colour = false, .is_live = is_live});
    screen.headings();
    screen.step(1'500, 2'000, whittle::openai::Message(nlohmann::ordered_json{{"role", "assistant"}}));
    screen.tool_start(call("read_file"));
    screen.tool_start(call("grep"));
    screen.tool_end(call("read_file"), {"a", "read_file", {{.text = "short"}}, false}, 500);
    screen.tool_end(call("grep"), {"b", "grep", {{.text = "hit"}}, false}, 3);
    screen.end_of_run();
    screen.line("end");
}

}  // namespace

TEST_CASE("whatever a model passes to a tool, the screen shows a line for it", "[agent]") {
    const Scratch scratch;
    const agent::Sandbox sandbox(scratch / "work", {});
    const std::string text = written([&](std::FILE* out) {
        agent::Screen screen(out, sandbox, 0, {});
        const auto fail = [&](const std::string& tool, const std::string& arguments, const std::string& result) {
            screen.tool_end({.tool = tool, .arguments = arguments}, {"a", tool, {{.text = result}}, true}, 0);
        };
        fail("run_command", "no JSON", "refused: not JSON");
        fail("run_command", R"({"command":5})", "");
        fail("run_command", R"({"command":"x"})", "a\n[b]\n[exit code 3]");
        screen.tool_end({.tool = "read_offloaded", .arguments = R"({"path":5})"}, {"b", "", {{.text = "x"}}, false}, 0);
        CHECK(screen.figures().commands == 3);
        CHECK(screen.figures().read_backs == 1);
    });
    CHECK(text == "      error: refused: not JSON\n      error: \n      error: [exit code 3]\n");
}

TEST_CASE("a model's text cannot steer the terminal", "[agent]") {
    CHECK(agent::without_controls("a\033[31mb\r\x7f\nc \xc3\xa9") == "a [31mb  \nc \xc3\xa9");
}

TEST_CASE("without a terminal there are plain lines only", "[agent]") {
    const std::string text = written([](std::FILE* out) { run_a_little(out, false); });
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.find('\033') == std::string::npos);
    CHECK(text.find("read_file: 500 bytes shortened to 5, all of it is in the store\n") != std::string::npos);
    CHECK(text.ends_with("end\n"));
}

TEST_CASE("on a terminal a status line says where the run is, and goes before anything else is written", "[agent]") {
    const std::string text = written([](std::FILE* out) { run_a_little(out, true); });
    for (const char* expected :
         {"\r\033[Kmodel | 1,500 / 64,000 tokens | cleared 0 | shortened 0 | saved 500\r\033[K",
          "\r\033[Kgrep +1 | 1,500 / 64,000", "\r\033[Kgrep | 1,500 / 64,000 tokens | cleared 0 | shortened 1 |"}) {
        CAPTURE(expected);
        CHECK(text.find(expected) != std::string::npos);
    }
    CHECK(text.ends_with("\r\033[Kend\n"));
    std::string plain;  // what stays on the screen
    std::string line;
    for (std::size_t at = 0; at < text.size(); ++at) {
        line += text[at];
        if (line.ends_with("\r\033[K")) line.clear();
        if (line.ends_with('\n')) plain += std::exchange(line, {});
    }
    CHECK(plain == written([](std::FILE* out) { run_a_little(out, false); }));
}

TEST_CASE("a status line is never wider than the terminal, and the same text is not written twice", "[agent]") {
    CHECK(written([](std::FILE* out) {
              agent::StatusLine line(out, true, 11);
              line.show("0123456789abcdef");
              line.show("0123456789abcdef");
              line.erase();
              line.erase();
          }) == "\r\033[K0123456789\r\033[K");
}
