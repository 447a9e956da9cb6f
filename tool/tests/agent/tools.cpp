#include "agent/tools.hpp"
#include "whittle/base/detail/joining_thread.hpp"

#include "scratch.hpp"
#include "support/catch.hpp"

#include <whittle/base/error.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <thread>

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Result {
    std::string text{};
    bool is_error = false;
};

/// Calls a tool as the loop does: what it throws is the text of an error result.
Result call(const Scratch& scratch, const std::string& name, const std::string& arguments,
            const agent::ToolLimits& limits = {}, whittle::StopToken stop = {}, const fs::path& store = {}) {
    const auto tools = agent::make_tools(agent::Sandbox(scratch / "work", store), limits);
    const auto tool = std::ranges::find(tools, name, &whittle::Tool::name);
    REQUIRE(tool != tools.end());
    whittle::ToolContext context;
    context.arguments = arguments;
    context.stop = std::move(stop);
    whittle::CollectingSink sink;
    Result result;
    try {
        result.is_error = tool->invoke(context, sink).is_error;
    } catch (const whittle::Error& error) {
        return {error.what(), true};
    }
    for (const whittle::Part& part : sink.take()) result.text += part.text;
    return result;
}

Result run(const Scratch& scratch, const std::string& command, const agent::ToolLimits& limits = {}) {
    return call(scratch, "run_command", json{{"command", command}}.dump(), limits);
}

}  // namespace

TEST_CASE("a file is read whole, or in pages that say how to go on", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "0123456789");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt"})").text == "0123456789");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt"})", {.page_bytes = 4}).text ==
          "0123\n[bytes 0 to 4 of 10; go on with offset 4]");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt","offset":8})", {.page_bytes = 4}).text == "89");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt","offset":2,"limit":3})").text ==
          "234\n[bytes 2 to 5 of 10; go on with offset 5]");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt","offset":10})").text.empty());
}

TEST_CASE("a page does not end inside a character", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "ab\xE2\x82\xAC!");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt"})", {.page_bytes = 4}).text ==
          "ab\n[bytes 0 to 2 of 6; go on with offset 2]");
    CHECK(call(scratch, "read_file", R"({"path":"a.txt"})", {.page_bytes = 5}).text ==
          "ab\xE2\x82\xAC\n[bytes 0 to 5 of 6; go on with offset 5]");
}

TEST_CASE("no tool leaves the workspace", "[agent]") {
    const Scratch scratch;
    scratch.write("secret.txt", "secret");
    fs::create_symlink("../secret.txt", scratch / "work/link");
    for (const std::string path : {"../secret.txt", "link", "/etc/passwd"}) {
        CAPTURE(path);
        const Result read = call(scratch, "read_file", json{{"path", path}}.dump());
        CHECK(read.is_error);
        CHECK(read.text.find("outside the workspace") != std::string::npos);
        CHECK(call(scratch, "edit_file", json{{"path", path}, {"old", "s"}, {"new", "t"}}.dump()).is_error);
        CHECK(call(scratch, "grep", json{{"pattern", "secret"}, {"path", path}}.dump()).is_error);
        CHECK(call(scratch, "list_files", json{{"path", path}}.dump()).is_error);
    }
    CHECK(call(scratch, "grep", R"({"pattern":"secret"})").text == "no matches\n");
    CHECK(scratch.read("secret.txt") == "secret");
}

TEST_CASE("no tool reads, lists, searches or edits a store that is inside the workspace", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "a secret");
    scratch.write("work/store/object", "another secret");
    const auto in_store = [&](const std::string& name, const std::string& arguments) {
        return call(scratch, name, arguments, {}, {}, scratch / "work/store");
    };
    CHECK(in_store("read_file", R"({"path":"store/object"})").is_error);
    CHECK(in_store("list_files", R"({"path":"store"})").is_error);
    CHECK(in_store("list_files", "{}").text == "        8  a.txt\n");
    CHECK(in_store("grep", R"({"pattern":"secret"})").text == "a.txt:1: a secret\n");
    CHECK(in_store("edit_file", R"({"path":"store/object","old":"another","new":"no"})").is_error);
    CHECK(scratch.read("work/store/object") == "another secret");
}

TEST_CASE("an edit writes to no file that was planted where it makes its own", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "old");
    scratch.write("target", "mine");
    fs::create_symlink(scratch / "target", scratch / ("work/.a.txt.agent-" + std::to_string(::getpid())));
    fs::permissions(scratch / "work/a.txt", fs::perms::owner_read | fs::perms::owner_write);
    CHECK_FALSE(call(scratch, "edit_file", R"({"path":"a.txt","old":"old","new":"new"})").is_error);
    CHECK(scratch.read("target") == "mine");
    CHECK(scratch.read("work/a.txt") == "new");
    CHECK_FALSE(fs::is_symlink(scratch / "work/a.txt"));
    CHECK(fs::status(scratch / "work/a.txt").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("files are listed with their sizes, without links and .git", "[agent]") {
    const Scratch scratch;
    scratch.write("work/b/c.txt", "12345");
    scratch.write("work/a.txt", "1");
    scratch.write("work/.git/config", "x");
    fs::create_directory_symlink("..", scratch / "work/up");
    CHECK(call(scratch, "list_files", "{}").text == "        1  a.txt\n        5  b/c.txt\n");
    CHECK(call(scratch, "list_files", R"({"path":"b"})").text == "        5  b/c.txt\n");
    CHECK(call(scratch, "list_files", "{}", {.max_entries = 1}).text ==
          "        1  a.txt\n[only the first 1 files; list a folder below]\n");
}

TEST_CASE("grep takes its pattern literally and shows path and line", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "one\na.c\nabc\n.c a");
    scratch.write("work/binary", std::string("\0.c", 3));
    CHECK(call(scratch, "grep", R"({"pattern":".c"})").text == "a.txt:2: a.c\na.txt:4: .c a\n");
    CHECK(call(scratch, "grep", R"({"pattern":".c"})", {.max_matches = 1}).text ==
          "a.txt:2: a.c\n[only the first 1 matching lines]\n");
    CHECK(call(scratch, "grep", R"({"pattern":""})").is_error);
}

TEST_CASE("an edit replaces a text that is there exactly once", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "one\ntwo\naaa\n");
    fs::permissions(scratch / "work/a.txt", fs::perms::owner_all);
    const Result edited = call(scratch, "edit_file", R"({"path":"a.txt","old":"two","new":"2"})");
    CHECK(edited.text == "edited a.txt at line 2: 3 bytes became 1\n");
    CHECK(scratch.read("work/a.txt") == "one\n2\naaa\n");
    CHECK(fs::status(scratch / "work/a.txt").permissions() == fs::perms::owner_all);

    const Result missing = call(scratch, "edit_file", R"({"path":"a.txt","old":"two","new":"2"})");
    CHECK(missing.text.find("it is there 0 times") != std::string::npos);
    const Result overlapping = call(scratch, "edit_file", R"({"path":"a.txt","old":"aa","new":"b"})");
    CHECK(overlapping.text.find("it is there 2 times") != std::string::npos);
    CHECK(call(scratch, "edit_file", R"({"path":"a.txt","old":"","new":"b"})").is_error);
    CHECK(scratch.read("work/a.txt") == "one\n2\naaa\n");
    CHECK(std::distance(fs::directory_iterator(scratch / "work"), fs::directory_iterator()) == 1);
}

TEST_CASE("bad arguments are named", "[agent]") {
    const Scratch scratch;
    const auto error_of = [&](const std::string& arguments) { return call(scratch, "read_file", arguments).text; };
    CHECK(error_of("[]") == "read the arguments: they are not a JSON object");
    CHECK(error_of("{") == "read the arguments: they are not a JSON object");
    CHECK(error_of("{}") == "read the arguments: \"path\": it is missing");
    CHECK(error_of(R"({"path":1})") == "read the arguments: \"path\": expected a string, found number");
    CHECK(error_of(R"({"path":"a","offset":-1})") ==
          "read the arguments: \"offset\": expected a whole number, 0 or more, found -1");
    CHECK(error_of(R"({"path":"a","line":1})") ==
          "read the arguments: \"line\": there is no such argument; there are: path offset limit");
}

TEST_CASE("a command runs in the workspace and says how it ended", "[agent]") {
    const Scratch scratch;
    CHECK(run(scratch, "pwd; echo problem >&2").text == (scratch / "work").string() + "\nproblem\n[exit code 0]");
    const Result failed = run(scratch, "exit 3");
    CHECK(failed.is_error);
    CHECK(failed.text == "[exit code 3]");
    CHECK(run(scratch, "kill -9 $$").text == "[exit code 137]");
    CHECK(run(scratch, "cat").text == "[exit code 0]");
}

TEST_CASE("a command does not see the environment of the agent", "[agent]") {
    const Scratch scratch;
    ::setenv("WHITTLE_TEST_KEY", "secret", 1);
    CHECK(run(scratch, "env").text.find("secret") == std::string::npos);
    CHECK(run(scratch, "echo ${PATH:+there}").text == "there\n[exit code 0]");
    ::unsetenv("WHITTLE_TEST_KEY");
}

TEST_CASE("output beyond the limit is dropped and counted", "[agent]") {
    const Scratch scratch;
    CHECK(run(scratch, "head -c 1000 /dev/zero | tr '\\0' x", {.max_output_bytes = 10}).text ==
          "xxxxxxxxxx\n[990 more bytes dropped]\n[exit code 0]");
}

TEST_CASE("a command that does not end is killed with all that it started", "[agent]") {
    const Scratch scratch;
    const std::string command = "sh -c 'sleep 300' & echo $! > child; yes";
    const Result result = run(scratch, command, {.max_output_bytes = 4, .command_timeout = std::chrono::seconds(1)});
    CHECK(result.is_error);
    CHECK(result.text.ends_with("[killed after 1 s]"));
    // A zombie counts as gone: who reaps it is not our business.
    const std::string gone =
        "i=0; while grep -qs '^State:[[:space:]]*[^Z[:space:]]' /proc/$(cat child)/status && [ $i -lt 100 ]; do "
        "sleep 0.1; i=$((i+1)); done; test $i -lt 100 && echo gone";
    CHECK(run(scratch, gone).text == "gone\n[exit code 0]");
}

TEST_CASE("what a finished command leaves behind does not keep the agent waiting", "[agent]") {
    const Scratch scratch;
    CHECK(run(scratch, "sleep 300 & echo done").text == "done\n[exit code 0]");
}

TEST_CASE("a stop request ends a running command", "[agent]") {
    const Scratch scratch;
    whittle::StopSource stop;
    const whittle::detail::JoiningThread stopper([&] {
        while (!fs::exists(scratch / "work/started")) std::this_thread::yield();
        stop.request_stop();
    });
    const Result result =
        call(scratch, "run_command", R"({"command":"touch started; sleep 300"})", {}, stop.get_token());
    CHECK(result.is_error);
    CHECK(result.text == "[stopped: the run was asked to end]");
}
