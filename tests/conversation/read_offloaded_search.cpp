#include "whittle/base/error.hpp"

#include "conversation/offloaded_reader.hpp"
#include "support/catch.hpp"

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("a search is literal and gives line numbers", "[read_offloaded]") {
    Reader read("one\na.c\nabc\n.c a");
    CHECK(read(json{{"grep", ".c"}}).text == "2: a.c\n4: .c a\n[2 matching lines in 4 lines]");
    CHECK(read(json{{"grep", ".c"}, {"first_line", 3}}).text == "4: .c a\n[1 matching lines in 2 lines]");
    CHECK(read(json{{"grep", "A.C"}}).text == "[0 matching lines in 4 lines]");
}

TEST_CASE("a search shows the lines around a match once, and marks gaps", "[read_offloaded]") {
    Reader read("1\n2\nx3\nx4\n5\n6\n7\n8\nx9\n");
    CHECK(read(json{{"grep", "x"}, {"context", 1}}).text ==
          "2- 2\n3: x3\n4: x4\n5- 5\n--\n8- 8\n9: x9\n[3 matching lines in 9 lines]");
}

TEST_CASE("a search that finds too much says with which line to go on", "[read_offloaded]") {
    std::string content;
    for (int i = 1; i <= 50; ++i) content += "match " + std::to_string(i) + "\n";
    Reader few(content, {.grep_matches = 2});
    CHECK(few(json{{"grep", "match"}}).text ==
          "1: match 1\n2: match 2\n[2 matching lines, there are more; go on with first_line 3]");
    Reader small(content, {.grep_result_bytes = 256});
    const Answer first = small(json{{"grep", "match"}});
    CHECK(first.text.size() < 256 + 100);
    int found = 0;
    std::optional<std::int64_t> line = 1;
    while (line) {
        const Answer page = small(json{{"grep", "match"}, {"first_line", *line}});
        found += static_cast<int>(std::ranges::count(page.text, '\n'));
        line = go_on(page.text, "first_line");
    }
    CHECK(found == 50);
}

TEST_CASE("a match in a long line is shown with what is around it, also between two reads", "[read_offloaded]") {
    const std::int64_t at = GENERATE(std::int64_t{0}, 5'000, (1 << 20) - 3, (1 << 20), (2 << 20) - 1);
    std::string content(std::size_t{5} << 19, '.');
    content.replace(static_cast<std::size_t>(at), 6, "needle");
    const Answer found = Reader(content)(json{{"grep", "needle"}});
    CAPTURE(at);
    CHECK(found.text.starts_with("1: (offset " + std::to_string(at) + ") "));
    CHECK(found.text.find("needle") != std::string::npos);
    CHECK(found.text.size() < 500);
}

TEST_CASE("lines and matches far behind are found without loading what is before", "[read_offloaded]") {
    const auto large = std::make_shared<VirtualStorage>(std::int64_t{24} << 20);
    Reader read("", {}, large);
    large->largest = 0;
    CHECK(read(json{{"first_line", 1'500'000}, {"lines", 1}}).text ==
          "0123456789abcde\n[lines 1500000 to 1500000, bytes 23999984 to 24000000 of 25165824; go on with first_line "
          "1500001]");
    CHECK(read(json{{"grep", "not there"}}).text == "[0 matching lines in 1572864 lines]");
    CHECK(large->largest <= 1 << 20);
}

TEST_CASE("a stop ends a search", "[read_offloaded]") {
    Reader read("content");
    read.stop.request_stop();
    try {
        (void)read(json{{"grep", "x"}});
        FAIL("went on");
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::cancelled);
    }
}
