// What a result is, by what was run and by what came back.
#include "support/catch.hpp"

#include "whittle/trimming/detail/result_class.hpp"

#include <string>
#include <string_view>

using namespace whittle;
using namespace whittle::detail;

namespace {

ResultForm form_of(std::string_view tool, std::string_view arguments, const std::string& text) {
    return form_of_result(class_of_call(tool, arguments), text, split_lines(text));
}

std::string repeated(std::string_view line, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text.append(line).append("\n");
    return text;
}

}  // namespace

TEST_CASE("a tool's name tells its class however its words are separated", "[trimming]") {
    CHECK(class_of_tool("Read") == ResultClass::read);
    CHECK(class_of_tool("read_file") == ResultClass::read);
    CHECK(class_of_tool("readFile") == ResultClass::read);
    CHECK(class_of_tool("mcp__fs__read_file") == ResultClass::read);
    CHECK(class_of_tool("MultiEdit") == ResultClass::edit);
    CHECK(class_of_tool("str_replace") == ResultClass::edit);
    CHECK(class_of_tool("create_file") == ResultClass::edit);
    CHECK(class_of_tool("search_file_content") == ResultClass::search);
    CHECK(class_of_tool("list_directory") == ResultClass::listing);
    CHECK(class_of_tool("get_weather") == std::nullopt);
    CHECK(class_of_tool("edit_distance_of_words") == std::nullopt);
}

TEST_CASE("a command line is what its first commands print", "[trimming]") {
    CHECK(class_of_command("cat a.txt") == ResultClass::read);
    CHECK(class_of_command("cd /x && sed -n '1,80p' src/a.c") == ResultClass::read);
    CHECK(class_of_command("nl -ba a.c | sed -n 1,20p") == ResultClass::read);
    CHECK(class_of_command("rg -n foo src | head -50") == ResultClass::search);
    CHECK(class_of_command("ls -la; pwd") == ResultClass::listing);
    CHECK(class_of_command("go test ./... 2>&1 | tail -30") == ResultClass::shell);
    CHECK(class_of_command("git -C sub diff HEAD~1") == ResultClass::read);
    CHECK(class_of_command("git diff --stat") == ResultClass::listing);
    CHECK(class_of_command("sed -i 's/a/b/' a.c") == ResultClass::edit);
    CHECK(class_of_command("bash -lc \"cat a.c\"") == ResultClass::read);
    CHECK(class_of_command("FOO=1 timeout 10 sudo cat a.c") == ResultClass::read);
    CHECK(class_of_command("Get-Content a.ps1") == ResultClass::read);
    CHECK(class_of_command("") == ResultClass::shell);
    CHECK(class_of_command("cat 'a") == ResultClass::read);
}

TEST_CASE("what a redirection takes away is no reading, errors alone are not what was read", "[trimming]") {
    CHECK(class_of_command("cat a.c > b.c") == ResultClass::edit);
    CHECK(class_of_command("cat a.c 2>/dev/null") == ResultClass::read);
    CHECK(class_of_command("cat a.c 2>&1") == ResultClass::read);
}

TEST_CASE("a here-document is no command", "[trimming]") {
    CHECK(class_of_command("python3 - <<'EOF'\ncat x\nls\nEOF") == ResultClass::shell);
    CHECK(class_of_command("cat > a.c <<'EOF'\nint main() {}\nEOF\nls") == ResultClass::listing);
}

TEST_CASE("shells in shells are looked into only so far", "[trimming]") {
    std::string command = "cat a";
    for (int i = 0; i < 2'000; ++i) command = "bash -c " + command;
    CHECK(class_of_command(command) == ResultClass::shell);
}

TEST_CASE("the command is found among the arguments, as a text or as words", "[trimming]") {
    CHECK(command_line_of(R"({"command":"ls -l"})") == "ls -l");
    CHECK(command_line_of(R"({"cmd":["bash","-lc","cat a"]})") == "cat a");
    CHECK(command_line_of(R"({"command":["git","status"]})") == "git status");
    CHECK(command_line_of(R"({"path":"a"})") == std::nullopt);
    CHECK(command_line_of("no json, but a command") == std::nullopt);
    CHECK(command_line_of(R"({"command":7})") == std::nullopt);
}

TEST_CASE("a long output of a program is what it looks like", "[trimming]") {
    std::string numbered;
    for (int i = 1; i < 80; ++i) numbered += "  " + std::to_string(i) + "\tvalue of the line\n";
    const ResultForm form = form_of("exec", R"({"command":"./show"})", numbered);
    CHECK(form.kind == ResultClass::read);
    CHECK(form.marks == LineMarks::numbers);
    CHECK(form_of("run", "{}", repeated("src/main.c:12: int x", 100)).kind == ResultClass::search);
    CHECK(form_of("run", "{}", repeated("    indented code;", 100)).kind == ResultClass::read);
    CHECK(form_of("run", "{}", repeated("plain words about the weather", 100)).kind == ResultClass::other);
    CHECK(form_of("bash", "{}", repeated("plain words about the weather", 100)).kind == ResultClass::shell);
}

TEST_CASE("a diff is content whose lines have marks", "[trimming]") {
    const std::string diff =
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old line of text\n+new line of text\n";
    const ResultForm form = form_of("bash", R"({"command":"git diff"})", diff);
    CHECK(form.kind == ResultClass::read);
    CHECK(form.marks == LineMarks::diff);
    CHECK(normal_line("-old line of text", form.marks) == "old line of text");
}

TEST_CASE("one line says the same whatever a tool put in front of it", "[trimming]") {
    CHECK(normal_line("    12→\treturn x;", LineMarks::numbers) == "return x;");
    CHECK(normal_line("12\treturn x;", LineMarks::numbers) == "return x;");
    CHECK(normal_line("12: return x;", LineMarks::numbers) == "return x;");
    CHECK(normal_line("src/a-b.c:12:\treturn x;", LineMarks::hits) == "return x;");
    CHECK(normal_line("src/a.c-13-return x;", LineMarks::hits) == "return x;");
    CHECK(normal_line("C:\\a\\b.cs:7:return x;", LineMarks::hits) == "return x;");
    CHECK(normal_line("  Line 12: return x;", LineMarks::hits) == "return x;");
    CHECK(normal_line("return x; ", LineMarks::none) == "return x;");
    CHECK(normal_line("https://host/a-b", LineMarks::hits) == "https://host/a-b");
}

TEST_CASE("lines that tell of errors are found by whole words", "[trimming]") {
    CHECK(tells_of_error("main.c:3: error: no such thing"));
    CHECK(tells_of_error("--- FAIL: TestX"));
    CHECK(tells_of_error("ok   pkg/a 0.3s"));
    CHECK(tells_of_error("Traceback (most recent call last):"));
    CHECK_FALSE(tells_of_error("okay then"));
    CHECK_FALSE(tells_of_error("the errorless run"));
    CHECK(is_failed_output("Exit code 2\nboom"));
    CHECK_FALSE(is_failed_output("Exit code: 0\nno error"));
}
