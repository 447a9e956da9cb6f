// Trimming by passages in a chain: how long a result stays whole, what of it stays then, and what the marks say.
#include "support/catch.hpp"
#include "trimming_session.hpp"

#include "whittle/conversation/read_offloaded.hpp"

#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Functions of ten lines, each with a name of its own.
std::string source(int functions) {
    std::string text = "package made\n\n";
    for (int f = 1; f <= functions; ++f) {
        const std::string n = std::to_string(f);
        text += "func Compute" + n + "(input int) int {\n";
        for (int i = 1; i <= 8; ++i)
            text += "\tvalue" + n + " := inputOfTheCall * " + n + " + " + std::to_string(i) + "\n";
        text += "}\n\n";
    }
    return text;
}

std::string function_of(const std::string& text, int number) {
    const std::size_t begin = text.find("func Compute" + std::to_string(number) + "(");
    return text.substr(begin, text.find("}\n", begin) + 2 - begin);
}

/// No price stands in the way of an edit.
TrimmingSettings when_it_may() {
    return {.config = {.start_tokens = 0},
            .rules = {.first_calls = 0, .look_every_calls = 1, .whole_calls = 3, .most_whole_calls = 6}};
}

std::string json_of(const std::string& text) {
    std::string json;
    for (const char c : text)
        json += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
    return json;
}

}  // namespace

TEST_CASE("a result is whole when it comes, whatever stands elsewhere", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    const std::string text = source(20);
    session.call("read_file", R"({"path":"made.go"})", text);
    CHECK(session.call("read_file", R"({"path":"made.go"})", text) == text);
    CHECK(session.call("grep", R"({"pattern":"Compute"})", function_of(text, 3)) == function_of(text, 3));
}

TEST_CASE("a read stays whole as long as edits usually reach back, then a placeholder stands for it", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    const std::string text = source(20);
    session.call("read_file", R"({"path":"made.go"})", text);
    session.idle_calls(5);
    CHECK(session.text_at(2) == text);
    session.idle_calls(3);
    const std::string key = short_root(session.conversation.id()) + "/2";
    CHECK(session.text_at(2) == "[all 223 lines of this result left out; read_offloaded(\"" + key + "\")]");
    CHECK(session.storage->get(key, 0, 1 << 20) == text);
    while (session.conversation.undo()) {
    }
    CHECK(session.text_at(2) == text);
}

TEST_CASE("an agent whose edits reach back far keeps its reads whole for longer", "[trimming]") {
    const auto calls_whole = [](int reach) {
        TrimmingSettings settings = when_it_may();
        settings.rules.most_whole_calls = 40;
        TrimmingSession session(settings, no_cache);
        const std::string first = source(12);
        session.call("read_file", R"({"path":"made.go"})", first);
        session.idle_calls(reach - 1);
        const std::string old_text = json_of(function_of(first, 5));
        session.call("edit_file", R"({"path":"made.go","old_string":")" + old_text + R"(","new_string":"none"})",
                     "done");
        session.call("read_file", R"({"path":"other.go"})", file_of("other", 80));
        const std::size_t message = session.conversation.size() - 1;
        int calls = 0;
        while (calls < 60 && session.text_at(message) == file_of("other", 80)) {
            session.idle_calls(1);
            ++calls;
        }
        return calls;
    };
    CHECK(calls_whole(2) < 8);
    CHECK(calls_whole(10) >= 19);
    CHECK(calls_whole(10) <= 22);
}

TEST_CASE("what the agent came back to stays in one piece, and a mark says what went and how to get it", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    const std::string text = source(20);
    session.call("read_file", R"({"path":"made.go"})", text);
    const std::string function = function_of(text, 7);
    session.call("note", R"({"text":")" + json_of(function) + R"("})", "noted");
    session.idle_calls(8);
    const std::string shown = session.text_at(2);
    CHECK(shown.find(function) != std::string::npos);
    CHECK(shown.size() < text.size() / 2);
    const std::size_t begin = shown.find("[lines ");
    REQUIRE(begin == 0);
    const std::string mark = shown.substr(0, shown.find('\n'));
    const std::string key = short_root(session.conversation.id()) + "/2";
    CHECK(mark.find("of this result left out; read_offloaded(\"" + key + "\", first_line=1, lines=") !=
          std::string::npos);
}

TEST_CASE("what a mark says to call gives exactly what went", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    const std::string text = source(20);
    session.call("read_file", R"({"path":"made.go"})", text);
    session.call("note", R"({"text":")" + json_of(function_of(text, 7)) + R"("})", "noted");
    session.idle_calls(8);
    const std::string shown = session.text_at(2);
    const Tool tool = read_offloaded_tool(session.storage);
    std::string whole;
    for (std::size_t at = 0; at < shown.size();) {
        const std::size_t end = std::min(shown.find('\n', at), shown.size());
        const std::string line = shown.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with("[lines ")) {
            whole += line + "\n";
            continue;
        }
        const auto number_behind = [&](std::string_view name) {
            return line.substr(line.find(name) + name.size(),
                               line.find_first_of(",)", line.find(name)) - line.find(name) - name.size());
        };
        const std::string arguments = R"({"reference":")" + short_root(session.conversation.id()) +
                                      R"(/2","first_line":)" + number_behind("first_line=") + R"(,"lines":)" +
                                      number_behind(" lines=") + "}";
        ToolContext context{.arguments = arguments,
                            .conversation_id = session.conversation.id(),
                            .storage = session.storage,
                            .objects = session.conversation.objects()};
        CollectingSink sink;
        tool.invoke(context, sink);
        const std::string read = sink.take().front().text;
        whole += read.substr(0, read.rfind("\n[lines ")) + "\n";
    }
    while (whole.ends_with('\n')) whole.pop_back();
    CHECK(whole + "\n\n" == text);
}

TEST_CASE("once a newer copy is whole, the older one may go", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    const std::string text = source(20);
    session.call("read_file", R"({"path":"made.go"})", text);
    session.call("read_file", R"({"path":"made.go"})", text);
    session.idle_calls(2);
    CHECK(session.text_at(2).starts_with("[all 223 lines of this result left out"));
    CHECK(session.text_at(4) == text);
}

TEST_CASE("an output keeps its end and its errors for a while", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    std::string log;
    for (int i = 0; i < 200; ++i) log += "compiling the unit number " + std::to_string(i) + "\n";
    log += "\nsrc/lexer.cpp:12: error: expected ';'\nsrc/lexer.cpp:14: error: unknown name\n2 errors, stopped\n";
    session.call("bash", R"({"command":"make"})", log);
    session.idle_calls(6);
    const std::string shown = session.text_at(2);
    CHECK(shown.starts_with("[lines 1-"));
    CHECK(shown.ends_with("2 errors, stopped\n"));
    CHECK(shown.find("src/lexer.cpp:12: error") != std::string::npos);
    session.idle_calls(40);
    CAPTURE(session.text_at(2));
    CHECK(session.text_at(2).starts_with("[all 205 lines of this result left out"));
}

TEST_CASE("a text that an edit replaced goes whole, what it put in stays until nothing comes back to it",
          "[trimming]") {
    TrimmingSettings settings = when_it_may();
    settings.rules.written_age_calls = 12;
    TrimmingSession session(settings, no_cache);
    const std::string old_text = function_of(source(9), 4);
    std::string new_text = function_of(source(9), 8);
    session.call(
        "edit_file",
        R"({"path":"a.go","old_string":")" + json_of(old_text) + R"(","new_string":")" + json_of(new_text) + R"("})",
        "done");
    session.idle_calls(6);
    const std::string key = short_root(session.conversation.id()) + "/2a";
    const std::string soon = text_of(session.conversation.messages()[1], 0);
    CAPTURE(soon);
    CHECK(soon.starts_with(R"({"path":"a.go","old_string":"[11 lines of old_string left out; read_offloaded(\")" + key +
                           R"(\") gives this whole call]")"));
    CHECK(soon.find(json_of(new_text)) != std::string::npos);
    session.idle_calls(14);
    const std::string later = text_of(session.conversation.messages()[1], 0);
    CHECK(later.find("value8") == std::string::npos);
    CHECK(session.storage->get(key, 0, 1 << 20).value_or("").find(json_of(new_text)) != std::string::npos);
}

TEST_CASE("a line that an edit takes out and puts in again is still there", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache);
    const std::string old_text = function_of(source(9), 4);
    const std::string new_text = old_text + "// and a word on it\n";
    session.call(
        "edit_file",
        R"({"path":"a.go","old_string":")" + json_of(old_text) + R"(","new_string":")" + json_of(new_text) + R"("})",
        "done");
    session.idle_calls(8);
    CHECK(text_of(session.conversation.messages()[1], 0).find(json_of(new_text)) != std::string::npos);
}

TEST_CASE("marks are in the language of the chain", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache, "marks", Language::chinese);
    session.call("read_file", R"({"path":"made.go"})", source(20));
    session.idle_calls(9);
    CHECK(session.text_at(2) == "[省略本结果全部 223 行；read_offloaded(\"marks/2\")]");
}

TEST_CASE("without a store marks say what is gone and name nothing", "[trimming]") {
    TrimmingSession session(when_it_may(), no_cache, "marks", Language::english, false);
    session.call("read_file", R"({"path":"made.go"})", source(20));
    session.idle_calls(9);
    CHECK(session.text_at(2) == "[all 223 lines of this result left out]");
    CHECK(session.conversation.undo());
    CHECK(session.text_at(2) == source(20));
}
