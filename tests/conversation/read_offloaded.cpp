#include "whittle/conversation/read_offloaded.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include "conversation/offloaded_reader.hpp"
#include "support/catch.hpp"

#include <random>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::string random_text(std::mt19937& random, int characters) {
    const std::vector<std::string> alphabet{"a",       "é",  "€",    "\xF0\x9F\x98\x80", "\n", "词",
                                            "e\u0301", "🇩🇪", "\r\n", "👩‍🚀"};
    std::string text;
    for (int i = 0; i < characters; ++i) text += alphabet[random() % alphabet.size()];
    return text;
}

}  // namespace

TEST_CASE("a text that fits into a page is shown as it is", "[read_offloaded]") {
    Reader read("one\ntwo\n");
    CHECK(read(json{}).text == "one\ntwo\n");
    CHECK(read(json{{"first_line", 1}}).text == "one\ntwo\n");
    CHECK_FALSE(read(json{}).is_error);
    CHECK(Reader("")(json{}).text.empty());
}

TEST_CASE("a page says where it is, how large the whole is and where to go on", "[read_offloaded]") {
    Reader read("0123456789");
    CHECK(read(json{{"max_bytes", 4}}).text == "0123\n[bytes 0 to 4 of 10; go on with offset 4]");
    CHECK(read(json{{"offset", 8}}).text == "89\n[bytes 8 to 10 of 10; the end]");
    const Answer beyond = read(json{{"offset", 10}});
    CHECK(beyond.is_error);
    CHECK(beyond.text == "read_offloaded: \"offset\" is 10, but the text has 10 bytes");
}

TEST_CASE("pages by byte cut no character, always go on, and together are the text", "[read_offloaded]") {
    std::mt19937 random(7);
    for (int round = 0; round < 40; ++round) {
        const std::string content = random_text(random, 60);
        Reader read(content);
        const auto max_bytes = static_cast<std::int64_t>(random() % 9 + 1);
        std::string together;
        std::optional<std::int64_t> offset = 0;
        while (offset) {
            const Answer page = read(json{{"offset", *offset}, {"max_bytes", max_bytes}});
            CHECK(is_valid_utf8(page.text));
            together += page_of(content, page.text);
            const auto next = go_on(page.text, "offset");
            REQUIRE(next.value_or(INT64_MAX) > *offset);
            offset = next;
        }
        CHECK(together == content);
    }
}

TEST_CASE("a page ends between grapheme clusters if one fits, and the next one begins there", "[read_offloaded]") {
    Reader read("abc👩‍🚀e\u0301\r\n");
    CHECK(read(json{{"max_bytes", 9}}).text == "abc\n[bytes 0 to 3 of 19; go on with offset 3]");
    CHECK(read(json{{"offset", 3}, {"max_bytes", 9}}).text == "👩\u200D\n[bytes 3 to 10 of 19; go on with offset 10]");
    CHECK(read(json{{"offset", 14}, {"max_bytes", 4}}).text == "e\u0301\n[bytes 14 to 17 of 19; go on with offset 17]");
    Reader lines("one\r\ntwo\r\nthree");
    CHECK(lines(json{{"offset", 3}, {"max_bytes", 6}}).text == "\r\ntwo\n[bytes 3 to 8 of 15; go on with offset 8]");
}

TEST_CASE("an offset inside a character begins with that character", "[read_offloaded]") {
    Reader read("ab\xE2\x82\xAC!");
    CHECK(read(json{{"offset", 4}}).text == "\xE2\x82\xAC!\n[bytes 2 to 6 of 6; the end]");
}

TEST_CASE("lines are counted from 1 and shown whole", "[read_offloaded]") {
    Reader read("one\ntwo\r\n\nfour");
    CHECK(read(json{{"first_line", 2}, {"lines", 1}}).text ==
          "two\r\n[lines 2 to 2, bytes 4 to 9 of 14; go on with first_line 3]");
    CHECK(read(json{{"first_line", 3}}).text == "\nfour\n[lines 3 to 4, bytes 9 to 14 of 14; the end]");
    CHECK(read(json{{"lines", 1}}).text == "one\n[lines 1 to 1, bytes 0 to 4 of 14; go on with first_line 2]");
    CHECK(read(json{{"first_line", 5}}).text == "read_offloaded: \"first_line\" is 5, but the text has 4 lines");
}

TEST_CASE("a line longer than a page is cut, and goes on by byte", "[read_offloaded]") {
    Reader read("a\n" + std::string(300, 'b') + "\nc", {.page_bytes = 256});
    CHECK(read(json{{"first_line", 1}}).text == "a\n[lines 1 to 1, bytes 0 to 2 of 304; go on with first_line 2]");
    CHECK(read(json{{"first_line", 2}}).text ==
          std::string(256, 'b') + "\n[lines 2 to 2, bytes 2 to 258 of 304; go on with offset 258]");
}

TEST_CASE("pages by line together are the text", "[read_offloaded]") {
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
        const std::string content = random_text(random, 2'000);
        Reader read(content, {.page_bytes = 256});
        std::string together;
        json arguments{{"first_line", 1}};
        while (true) {
            const Answer page = read(arguments);
            together += page_of(content, page.text);
            const auto line = go_on(page.text, "first_line");
            const auto offset = go_on(page.text, "offset");
            if (!line && !offset) break;
            if (line) arguments["first_line"] = *line;
            if (offset) arguments = {{"offset", *offset}};
        }
        CHECK(together == content);
    }
}

TEST_CASE("a page of an object of 1 GiB needs no more memory than the page", "[read_offloaded]") {
    const auto huge = std::make_shared<VirtualStorage>(std::int64_t{1} << 30);
    Reader read("", {}, huge);
    huge->largest = 0;
    const Answer page = read(json{{"offset", 1'000'000'000}});
    CHECK(page.text.ends_with("[bytes 1000000000 to 1000040000 of 1073741824; go on with offset 1000040000]"));
    CHECK(huge->largest < 41'000);
}

TEST_CASE("only what was stored of this conversation is read", "[read_offloaded]") {
    const std::string reference =
        GENERATE(as<std::string>(), "c/trunc/b", "other/trunc/a", "../c/trunc/a", "/etc/passwd", "c/trunc/../trunc/a",
                 "C/TRUNC/A", "%2e%2e/a", "..", "/", std::string("c/trunc/a\0", 10), "a\nb", std::string(10'000, 'x'));
    Reader read("mine");
    read.storage->put_if_absent("other/trunc/a", "of somebody else");
    const Answer refused = read(json{{"reference", reference}});
    CAPTURE(reference);
    CHECK(refused.is_error);
    CHECK(refused.text.find("names nothing that was stored of this conversation (1 texts were)") != std::string::npos);
    CHECK(refused.text.find("somebody") == std::string::npos);
    CHECK(refused.text.find('\n') == std::string::npos);
    CHECK(refused.text.size() < 400);
    CHECK(refused.read_back.empty());
    CHECK(read.heard.empty());
}

TEST_CASE("a reference is found in what a model copies with it", "[read_offloaded]") {
    Reader read("mine");
    for (const char* copied :
         {"c/trunc/a.", "\"c/trunc/a\"", "`c/trunc/a`,", "[c/trunc/a]", "<c/trunc/a>", " c/trunc/a ",
          "c/trunc/a:", "file://c/trunc/a", "ref://c/trunc/a:", "Full text: c/trunc/a - read it", "(see **c/trunc/a**)",
          "\xE3\x80\x8C"
          "c/trunc/a\xE3\x80\x8D\xE3\x80\x82"}) {
        CAPTURE(copied);
        const Answer answer = read(json{{"reference", copied}});
        CHECK(answer.text == "mine");
        CHECK(answer.read_back == std::vector<std::string>{"c/trunc/a"});
    }
    const std::string dots(200'000, '.');
    CHECK(read(json{{"reference", dots}}).is_error);
}

TEST_CASE("a conversation of which nothing was stored has nothing to read", "[read_offloaded]") {
    ToolContext context;
    context.arguments = R"({"reference":"a"})";
    CollectingSink sink;
    CHECK(read_offloaded_tool().invoke(context, sink).is_error);
    CHECK(sink.take().at(0).text.find("(0 texts were)") != std::string::npos);
}

TEST_CASE("objects of a loaded conversation are read from the tool's storage, else from the context's",
          "[read_offloaded]") {
    const auto own = memory_storage();
    own->put_if_absent("c/a", "own");
    ToolContext context;
    context.arguments = R"({"reference":"c/a"})";
    context.storage = memory_storage();
    context.storage->put_if_absent("c/a", "context's");
    const auto objects = std::make_shared<StoredObjects>();
    objects->add("c/a", nullptr);
    context.objects = objects;
    CollectingSink from_own;
    CollectingSink from_context;
    (void)read_offloaded_tool(own).invoke(context, from_own);
    (void)read_offloaded_tool().invoke(context, from_context);
    CHECK(from_own.take().at(0).text == "own");
    CHECK(from_context.take().at(0).text == "context's");
}

TEST_CASE("bad arguments are named with what would be right", "[read_offloaded]") {
    const auto [arguments, expected] = GENERATE(table<const char*, const char*>({
        {"[1]", "the arguments are not a JSON object"},
        {"{", "the arguments are not a JSON object"},
        {"{}", "\"reference\": it is missing; give it exactly as a placeholder or a notice does"},
        {R"({"reference":7})", "\"reference\": expected a string, found 7"},
        {R"({"reference":""})", "\"reference\": it is empty"},
        {R"({"reference":"c/trunc/a","ofset":1})",
         "\"ofset\": there is no such argument; did you mean \"offset\"? There are: reference offset max_bytes "
         "first_line lines grep context"},
        {R"({"reference":"c/trunc/a","offset":-1})", "\"offset\": expected a whole number, 0 or more, found -1"},
        {R"({"reference":"c/trunc/a","offset":1.5})", "\"offset\": expected a whole number, 0 or more, found 1.5"},
        {R"({"reference":"c/trunc/a","offset":"1"})", "\"offset\": expected a whole number, 0 or more, found \"1\""},
        {R"({"reference":"c/trunc/a","offset":[[1]]})",
         "\"offset\": expected a whole number, 0 or more, found an array"},
        {R"({"reference":"c/trunc/a","offset":18446744073709551615})",
         "\"offset\": expected a whole number, 0 or more, found 18446744073709551615"},
        {R"({"reference":"c/trunc/a","max_bytes":0})", "\"max_bytes\": expected a whole number, 1 or more, found 0"},
        {R"({"reference":"c/trunc/a","first_line":0})", "\"first_line\": expected a whole number, 1 or more, found 0"},
        {R"({"reference":"c/trunc/a","lines":0})", "\"lines\": expected a whole number, 1 or more, found 0"},
        {R"({"reference":"c/trunc/a","grep":""})", "\"grep\": it is empty"},
        {R"({"reference":"c/trunc/a","grep":"a\nb"})",
         "\"grep\": it is searched in single lines and cannot hold a line feed"},
        {R"({"reference":"c/trunc/a","grep":"a","context":6})",
         "\"context\": expected a whole number, 0 to 5, found 6"},
        {R"({"reference":"c/trunc/a","context":1})", "\"context\": it goes with grep"},
        {R"({"reference":"c/trunc/a","grep":"a","offset":1})",
         "\"grep\": it goes with first_line and context, not with offset and max_bytes"},
        {R"({"reference":"c/trunc/a","offset":1,"lines":1})",
         "\"offset\": page by byte (offset, max_bytes) or by line (first_line, lines), not both"},
    }));
    Reader read("content");
    const Answer answer = read(std::string(arguments));
    CHECK(answer.is_error);
    CHECK(answer.text == "read_offloaded: " + std::string(expected));
}

TEST_CASE("deeply nested arguments are refused, not followed", "[read_offloaded]") {
    const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
    CHECK(Reader("x")(R"({"reference":"c/trunc/a","lines":)" + deep + "}").is_error);
}

TEST_CASE("an object that is gone or damaged is an error result", "[read_offloaded]") {
    struct Damaged final : Storage {
        void put_if_absent(std::string_view, std::string_view) override {}
        std::optional<std::string> get(std::string_view, std::int64_t, std::int64_t) override {
            throw Error(Errc::damaged, "get \"c/trunc/a\": 3 bytes expected, 2 found");
        }
        std::optional<ObjectInfo> stat(std::string_view key) override { return ObjectInfo{std::string(key), 3}; }
    };
    const json arguments = GENERATE(json::object(), json{{"first_line", 1}}, json{{"grep", "x"}});
    Reader read("xyz");
    read.storage->remove("c/trunc/a");
    const Answer gone = read(arguments);
    CHECK(gone.is_error);
    CHECK(gone.text == "read_offloaded: read \"c/trunc/a\": the object is no longer stored");
    read.objects->add("c/trunc/a", std::make_shared<Damaged>());
    const Answer damaged = read(arguments);
    CHECK(damaged.is_error);
    CHECK(damaged.text == "read_offloaded: get \"c/trunc/a\": 3 bytes expected, 2 found");
    CHECK(damaged.read_back.empty());
}

TEST_CASE("what was read is told: to the conversation and as an event without content", "[read_offloaded]") {
    Reader read("content");
    CHECK(read(json{{"max_bytes", 4}}).read_back == std::vector<std::string>{"c/trunc/a"});
    CHECK(read(json{{"grep", "cont"}}).read_back == std::vector<std::string>{"c/trunc/a"});
    CHECK(read.heard == std::vector<std::string>{"read_offloaded read_back c: read bytes 0 to 4 of c/trunc/a",
                                                 "read_offloaded read_back c: read 1 matching lines of c/trunc/a"});
}

TEST_CASE("bytes that are not UTF-8 are replaced, within the size of a page", "[read_offloaded]") {
    const std::string content(2'000, '\xFF');
    Reader read(content, {.page_bytes = 256});
    std::size_t replaced = 0;
    std::optional<std::int64_t> offset = 0;
    while (offset) {
        const Answer page = read(json{{"offset", *offset}});
        CHECK(is_valid_utf8(page.text));
        CHECK(page.text.size() < 256 + 80);
        for (std::size_t at = 0; (at = page.text.find("\xEF\xBF\xBD", at)) != std::string::npos; ++at) ++replaced;
        offset = go_on(page.text, "offset");
    }
    CHECK(replaced == 2'000);
}

TEST_CASE("notes come in the language of the call, the description in that of the tool", "[read_offloaded]") {
    Reader read("one\ntwo", {.description_language = Language::chinese});
    CHECK(read.tool.description.find("按行") != std::string::npos);
    read.language = Language::chinese;
    CHECK(read(json{{"max_bytes", 4}}).text == "one\n[第 0 至 4 字节，共 7 字节；从 offset 4 继续]");
    CHECK(read(json{{"first_line", 2}}).text == "two\n[第 2 至 2 行，第 4 至 7 字节，共 7 字节；已到结尾]");
    CHECK(read(json{{"grep", "o"}}).text == "1: one\n2: two\n[2 行匹配，共查找 2 行]");
}

TEST_CASE("the schema is JSON and every bad option is named", "[read_offloaded]") {
    CHECK(json::parse(read_offloaded_tool().parameters)["properties"].size() == 7);
    try {
        (void)read_offloaded_tool(nullptr, {.page_bytes = 1, .grep_matches = 0});
        FAIL("accepted");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("page_bytes") != std::string::npos);
        CHECK(std::string(error.what()).find("grep_matches") != std::string::npos);
    }
}
