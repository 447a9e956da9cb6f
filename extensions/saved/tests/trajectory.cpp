#include "whittle/saved/trajectory.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::vector<Trajectory<>> read(const std::string& text, TrajectoryOptions options = {.name = "dir/sessions.jsonl"}) {
    std::istringstream in(text);
    std::vector<Trajectory<>> all;
    read_trajectories(in, options, [&](Trajectory<>&& one) { all.push_back(std::move(one)); });
    return all;
}

std::string error_of(const std::string& text, TrajectoryOptions options = {.name = "s.jsonl"}) {
    try {
        (void)read(text, std::move(options));
    } catch (const Error& e) {
        CHECK(e.errc() == Errc::parse_failed);
        return e.what();
    }
    return "no error";
}

const std::string hello = R"({"messages":[{"role":"user","content":"hi"}]})";

}  // namespace

TEST_CASE("a line of a session file becomes a trajectory", "[trajectory]") {
    const auto all = read(R"({"id":"s1","source":"x","system":"be brief",
 "tools":[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type": "object"}}},{"type":"function","function":{"name":"now"}}],
 "messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}],
 "meta":{"agent":"a","t":[0,null],"usage":[[1,10,20,30,4]]}})");
    REQUIRE(all.size() == 1);
    CHECK(all[0].id == "s1");
    CHECK(all[0].system == "be brief");
    CHECK(all[0].tools == std::vector<ToolSpec>{{"ls", "lists", R"({"type":"object"})"}, {"now", ""}});
    REQUIRE(all[0].messages.size() == 2);
    CHECK(all[0].messages[1].json().dump() == R"({"role":"assistant","content":"yes"})");
    CHECK(all[0].seconds_since_first == std::vector<std::optional<double>>{0.0, std::nullopt});
    CHECK(all[0].usage_by_call ==
          std::vector<RecordedUsage>{{1, {.uncached_input = 10, .cache_read = 30, .cache_write = 20, .output = 4}}});
    CHECK(all[0].rest["source"] == "x");
    CHECK(all[0].rest["meta"]["agent"] == "a");
    CHECK_FALSE(all[0].rest.contains("messages"));
}

TEST_CASE("lines, documents and bare arrays are told apart", "[trajectory]") {
    const std::string array = R"([{"role":"user","content":"a [ b"}])";
    CHECK(read(hello).size() == 1);
    CHECK(read(hello + "\n" + hello + "\n").size() == 2);
    CHECK(read("\n\r\n  " + hello + "\r\n\n" + array).size() == 2);
    CHECK(read("\xEF\xBB\xBF" + hello).size() == 1);
    CHECK(read("\xEF\xBB\xBF\n" + hello).size() == 1);
    CHECK(read(nlohmann::json::parse(hello).dump(2)).size() == 1);
    CHECK(read(nlohmann::json::parse(array).dump(2))[0].messages.size() == 1);
    CHECK(read(array)[0].messages.size() == 1);
    CHECK(read("[]")[0].messages.empty());
    CHECK(read("").empty());
    CHECK(read(" \n\n").empty());
}

TEST_CASE("a missing id is the stem of the file and the line", "[trajectory]") {
    const auto all =
        read("\n" + hello + "\n" + R"({"id":null,"messages":[]})" + "\n[]\n" + R"({"id":"","messages":[]})");
    REQUIRE(all.size() == 4);
    CHECK(all[0].id == "sessions-2");
    CHECK(all[1].id == "sessions-3");
    CHECK(all[2].id == "sessions-4");
    CHECK(all[3].id.empty());
}

TEST_CASE("reading ends when the visitor has enough", "[trajectory]") {
    std::istringstream in(hello + "\n" + hello + "\nbroken");
    int seen = 0;
    CHECK(read_trajectories(in, {}, [&](Trajectory<>&&) { return ++seen < 2; }) == 2);
    CHECK(seen == 2);
}

TEST_CASE("errors say file, line, place, what was expected and what was found", "[trajectory]") {
    CHECK(error_of(hello + "\n\n" + R"({"messages":[{"role":"user","content":"x"},{"role":null}]})") ==
          "s.jsonl:3: messages[1].role: expected a string, found null");
    CHECK(error_of(R"({"messages":[{"content":"x"}]})") ==
          "s.jsonl:1: messages[0].role: expected a string, found nothing");
    CHECK(error_of(R"({"messages":["x"]})") == "s.jsonl:1: messages[0]: expected an object, found \"x\"");
    CHECK(error_of(R"({"messages":[{"role":"critic"}]})") ==
          "s.jsonl:1: messages[0]: make an OpenAI message: role: expected system, developer, user, assistant, tool or "
          "function, found \"critic\"");
    CHECK(error_of(R"({"messages":{}})") == "s.jsonl:1: messages: expected an array, found an object");
    CHECK(error_of(R"({"type":"user"})") == "s.jsonl:1: messages: expected an array, found nothing");
    CHECK(error_of("42") == "s.jsonl:1: expected a trajectory object or an array of messages, found the number 42");
    CHECK(error_of(R"({"id":1,"messages":[]})") == "s.jsonl:1: id: expected a string, found the number 1");
    CHECK(error_of(R"({"system":true,"messages":[]})") == "s.jsonl:1: system: expected a string, found true");
    CHECK(error_of(R"({"system":[{"type":"text"}],"messages":[]})") ==
          "s.jsonl:1: system[0]: expected a text block, found an object");
    CHECK(error_of(R"({"tools":{},"messages":[]})") == "s.jsonl:1: tools: expected an array, found an object");
    CHECK(error_of(R"({"tools":[1],"messages":[]})") == "s.jsonl:1: tools[0]: expected an object, found the number 1");
    CHECK(error_of(R"({"tools":[{"type":"function","function":{}}],"messages":[]})") ==
          "s.jsonl:1: tools[0].function.name: expected a string, found nothing");
    CHECK(error_of(R"({"messages":[],"meta":{"t":[1]}})") ==
          "s.jsonl:1: meta.t: expected 0 entries, one per message, found 1");
    CHECK(error_of(R"({"messages":[{"role":"user"}],"meta":{"t":["x"]}})") ==
          "s.jsonl:1: meta.t[0]: expected seconds or null, found \"x\"");
    CHECK(error_of(R"({"messages":[],"meta":{"usage":[[0,1,1,1,1]]}})") ==
          "s.jsonl:1: meta.usage[0][0]: expected the index of a message, found the number 0");
    CHECK(error_of(R"({"messages":[{"role":"user"}],"meta":{"usage":[[0,1,-1,1,1]]}})") ==
          "s.jsonl:1: meta.usage[0][2]: expected a count, found the number -1");
    CHECK(error_of(R"({"messages":[],"meta":{"usage":[[0,1]]}})") ==
          "s.jsonl:1: meta.usage[0]: expected [message, input, cache write, cache read, output], found an array");
}

TEST_CASE("text that is no JSON is refused with line and byte", "[trajectory]") {
    CHECK_THAT(error_of(hello + "\n{\"messages\":[}"), Catch::Matchers::StartsWith("s.jsonl:2: byte 13: "));
    CHECK_THAT(error_of("hello"), Catch::Matchers::StartsWith("s.jsonl:1: byte 0: "));
    CHECK_THAT(error_of("{\n  \"messages\": [\n"), Catch::Matchers::StartsWith("s.jsonl:1: byte 18: "));
    CHECK_THAT(error_of(std::string("\0\0", 2)), Catch::Matchers::StartsWith("s.jsonl:1: byte 0: "));
    CHECK_THAT(error_of(std::string(1'000'000, '[')), Catch::Matchers::EndsWith("nested deeper than 200 levels"));
}

TEST_CASE("a line or document beyond the limit is refused before it is read whole", "[trajectory]") {
    const TrajectoryOptions options{.name = "s.jsonl", .limits = {.max_bytes = hello.size()}};
    CHECK(error_of(hello + "\n" + hello, options) == "no error");
    const std::string limit = std::to_string(hello.size());
    CHECK(error_of(hello + "\n " + hello, options) ==
          "s.jsonl:2: expected at most " + limit + " bytes of JSON, found more");
    CHECK(error_of("{\n" + hello.substr(1), options) ==
          "s.jsonl:1: expected at most " + limit + " bytes of JSON, found more");
}

TEST_CASE("what parsing changed is told with file and line", "[trajectory]") {
    std::vector<std::string> notes;
    (void)read(hello + "\n" + R"({"messages":[{"role":"user","x":{"a":1,"a":2}}]})",
               {.name = "s.jsonl", .on_note = [&](const std::string& note) { notes.push_back(note); }});
    CHECK(notes == std::vector<std::string>{"s.jsonl:2: messages[0].x.a: duplicate key: the last value is kept"});
}

TEST_CASE("half of a surrogate pair is read as U+FFFD, and told", "[trajectory]") {
    std::vector<std::string> notes;
    const auto all = read(
        hello + "\n" +
            R"({"system":"b \uDC00","messages":[{"role":"user","content":"x \ud83d"},{"role":"assistant","content":"\ud83d\ude00"}]})"
            "\n" +
            R"([{"role":"user","content":"a)"
            "\xFF"
            R"("}])",
        {.name = "s.jsonl", .on_note = [&](const std::string& note) { notes.push_back(note); }});
    REQUIRE(all.size() == 3);
    CHECK(all[0].messages_with_invalid_utf8.empty());
    CHECK(text_of(all[1].messages.at(0)) == "x \xEF\xBF\xBD");
    CHECK(text_of(all[1].messages.at(1)) == "\xF0\x9F\x98\x80");
    CHECK(all[1].messages_with_invalid_utf8 == std::vector<std::size_t>{0, 2});
    CHECK(all[2].messages_with_invalid_utf8 == std::vector<std::size_t>{0});
    const std::string said = "half of a surrogate pair, or bytes that are no UTF-8: read as U+FFFD";
    CHECK(notes == std::vector<std::string>{"s.jsonl:2: " + said, "s.jsonl:3: " + said});
    CHECK_THAT(error_of(R"({"messages":[{"role":"user","content":"\ud83d"})"), Catch::Matchers::Contains("surrogate"));
}

TEST_CASE("tools of other interfaces are understood", "[trajectory]") {
    const auto all = read(R"({"messages":[],"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"tools":[
        {"name":"ls","description":"d","input_schema":{"type":"object"}},{"type":"web_search"}]})");
    CHECK(all[0].system == "a\n\nb");
    CHECK(all[0].tools == std::vector<ToolSpec>{{"ls", "d", R"({"type":"object"})"}, {"web_search", ""}});
}

TEST_CASE("a session is written so that it reads back, unknown members included", "[trajectory]") {
    const std::string line =
        R"({"id":"s1","system":[{"type":"text","text":"a"}],"tools":[{"type":"function","function":{"name":"ls","strict":true}}],)"
        R"("messages":[{"role":"user","content":"é","z":1}],"source":"x","meta":{"k":1,"t":[3],"usage":[[0,1,2,3,4]]}})";
    CHECK(to_json_line(read(line)[0]) == line);
}

TEST_CASE("a session that was recorded by a program is written in full", "[trajectory]") {
    Trajectory<> t{.id = "run", .system = "be brief", .tools = {{"ls", "lists"}}};
    t.messages.push_back(message_traits<openai::Message>::make(Role::user, "hi"));
    t.seconds_since_first = {1.5};
    t.usage_by_call = {{0, {.uncached_input = 1, .cache_read = 2, .cache_write = 3, .output = 4}}};
    CHECK(
        to_json_line(t) ==
        R"({"id":"run","system":"be brief","tools":[{"type":"function","function":{"name":"ls","description":"lists",)"
        R"("parameters":{"type":"object","properties":{}}}}],"messages":[{"role":"user","content":"hi"}],)"
        R"("meta":{"t":[1.5],"usage":[[0,1,3,2,4]]}})");
}

TEST_CASE("how long the cache lives is read and written where it was told", "[trajectory]") {
    const std::string line =
        R"({"id":"s","messages":[{"role":"user","content":"a"}],"meta":{"usage":[[0,1,9,3,4,2,5]]}})";
    const auto t = read(line)[0];
    CHECK(t.usage_by_call.at(0).usage == Usage{1, 3, 9, 4, 2, 5});
    Trajectory<> copy{.id = "s"};
    copy.messages = t.messages;
    copy.usage_by_call = t.usage_by_call;
    CHECK(to_json_line(copy) == line);
}

TEST_CASE("what a program changed replaces what was recorded", "[trajectory]") {
    auto t = read(
        R"({"id":"s","system":[{"text":"a"}],"tools":[{"name":"x","strict":true}],"messages":[{"role":"user"}],"meta":{"t":[3],"usage":[[0,1,2,3,4]],"k":1}})")
        [0];
    t.system = "b";
    t.tools.clear();
    t.messages.clear();
    t.seconds_since_first.clear();
    t.usage_by_call.clear();
    CHECK(to_json_line(t) == R"({"id":"s","system":"b","messages":[],"meta":{"t":null,"usage":[],"k":1}})");
}

TEST_CASE("a recording is written also when a text is not UTF-8", "[trajectory]") {
    Trajectory<> t{.id = "run\xFF"};
    t.messages.emplace_back(nlohmann::ordered_json{{"role", "user"}, {"content", "\xFF"}});
    const auto back = read(to_json_line(t));
    CHECK(text_of(back.at(0).messages.at(0)) == "\xEF\xBF\xBD");
}

TEST_CASE("a file that cannot be opened is not found, with the reason", "[trajectory]") {
    const auto missing = [] { (void)load_trajectories("no/such/file.jsonl"); };
    CHECK_THROWS_WITH(missing(), "open \"no/such/file.jsonl\": No such file or directory");
    CHECK_THROWS_WITH((void)load_trajectories("."), "open \".\": it is a directory");
}

TEST_CASE("recorded sessions survive reading and writing", "[trajectory][data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    std::size_t messages = 0;
    for (const std::filesystem::path& file : recorded_files()) {
        std::ifstream lines(file);
        read_trajectories(file, {}, [&](Trajectory<>&& t) {
            std::string line;
            std::getline(lines, line);
            const auto raw = nlohmann::ordered_json::parse(line);
            REQUIRE(t.messages.size() == raw["messages"].size());
            for (std::size_t i = 0; i < t.messages.size(); ++i) {
                const openai::Message& m = t.messages[i];
                const std::string bytes = message_traits<openai::Message>::to_bytes(m);
                (void)parts_of(m);
                REQUIRE(bytes == raw["messages"][i].dump());
                REQUIRE(message_traits<openai::Message>::from_bytes(bytes).json() == m.json());
            }
            REQUIRE(nlohmann::json::parse(to_json_line(t)) == nlohmann::json::parse(line));
            messages += t.messages.size();
        });
    }
    CHECK(messages > 0);
}
