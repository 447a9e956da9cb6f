#include "support/catch.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

/// "type|data|id" of each event.
std::vector<std::string> read_pieces(const std::vector<std::string_view>& pieces, SseLimits limits = {}) {
    std::vector<std::string> events;
    SseParser parser(limits);
    for (const std::string_view piece : pieces) {
        parser.feed(piece, [&](const SseEvent& event) {
            events.push_back(std::string(event.event) + '|' + std::string(event.data) + '|' +
                             std::string(event.last_event_id));
        });
    }
    return events;
}

std::vector<std::string> read(std::string_view stream) { return read_pieces({stream}); }

using Events = std::vector<std::string>;

constexpr std::string_view every_shape =
    "\xEF\xBB\xBF: a comment\r\n"
    "data: {\"a\":1}\r\n\r\n"
    "event: ping\rdata:no space\r\r"
    "id: 7\ndata: first\ndata:\ndata:  third \n\n"
    "data: \xE2\x82\xAC\xF0\x9F\x98\x80\n\n"
    ": keep-alive\n\n"
    "retry: 1000\nunknown: x\ndata\n\n"
    "event: lonely\n\n"
    "data: [DONE]\n\n";

const Events every_event{"|{\"a\":1}|", "ping|no space|", "|first\n\n third |7", "|\xE2\x82\xAC\xF0\x9F\x98\x80|7",
                         "||7",         "|[DONE]|7"};

}  // namespace

TEST_CASE("a stream becomes events with type, data and id", "[sse]") { CHECK(read(every_shape) == every_event); }

TEST_CASE("two pieces cut at any byte give the same events", "[sse]") {
    for (std::size_t cut = 0; cut <= every_shape.size(); ++cut) {
        CAPTURE(cut);
        CHECK(read_pieces({every_shape.substr(0, cut), every_shape.substr(cut)}) == every_event);
    }
}

TEST_CASE("single bytes, and empty pieces between them, give the same events", "[sse]") {
    std::vector<std::string_view> pieces;
    for (std::size_t i = 0; i < every_shape.size(); ++i) {
        pieces.push_back(every_shape.substr(i, 1));
        pieces.push_back({});
    }
    CHECK(read_pieces(pieces) == every_event);
}

TEST_CASE("three pieces cut at any two bytes of a short stream give the same events", "[sse]") {
    constexpr std::string_view stream =
        "\xEF\xBB\xBF"
        "data: a\r\n\r\nevent: e\rdata: b\n\n";
    for (std::size_t i = 0; i <= stream.size(); ++i) {
        for (std::size_t j = i; j <= stream.size(); ++j)
            REQUIRE(read_pieces({stream.substr(0, i), stream.substr(i, j - i), stream.substr(j)}) ==
                    Events{"|a|", "e|b|"});
    }
}

TEST_CASE("LF, CR and CRLF end a line alike", "[sse]") {
    CHECK(read("data: a\n\ndata: b\n\n") == Events{"|a|", "|b|"});
    CHECK(read("data: a\r\rdata: b\r\r") == Events{"|a|", "|b|"});
    CHECK(read("data: a\r\n\r\ndata: b\r\n\r\n") == Events{"|a|", "|b|"});
    CHECK(read("data: a\n\rdata: b\r\n\n") == Events{"|a|", "|b|"});
}

TEST_CASE("an event without its empty line is dropped, and finish says so", "[sse]") {
    const auto finish_after = [](std::string_view stream) {
        SseParser parser;
        int events = 0;
        parser.feed(stream, [&](const SseEvent&) { ++events; });
        const bool is_clean = parser.ends_cleanly();
        return std::pair(events, is_clean);
    };
    CHECK(finish_after("data: a\n\ndata: half\n") == std::pair(1, false));
    CHECK(finish_after("data: a\n\ndata: ha") == std::pair(1, false));
    CHECK(finish_after("data: a\n\n") == std::pair(1, true));
    CHECK(finish_after("data: a\r\r") == std::pair(1, true));
    CHECK(finish_after("") == std::pair(0, true));
    CHECK(finish_after(": ping\n\n") == std::pair(0, true));
}

TEST_CASE("an event without data is none, one with an empty data line is one", "[sse]") {
    CHECK(read("event: ping\n\n").empty());
    CHECK(read("\n\n\n").empty());
    CHECK(read("event: ping\ndata:\n\n") == Events{"ping||"});
}

TEST_CASE("the type of an event does not stay for the next one, its id does", "[sse]") {
    CHECK(read("event: e\nid: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n") == Events{"e|a|1", "|b|1", "|c|"});
}

TEST_CASE("an id with a NUL in it is passed over", "[sse]") {
    using namespace std::string_view_literals;
    CHECK(read("id: 1\nid: 2\0003\ndata: a\n\n"sv) == Events{"|a|1"});
}

TEST_CASE("a byte order mark counts only at the start, and its beginning alone is text", "[sse]") {
    CHECK(read("\xEF\xBB\xBF"
               "data: a\n\n") == Events{"|a|"});
    CHECK(read("data: a\n\n\xEF\xBB\xBF"
               "data: b\n\n") == Events{"|a|"});
    CHECK(read("\xEF\xBB"
               "data: a\n\ndata: b\n\n") == Events{"|b|"});
    CHECK(read_pieces({"\xEF", "data: a\n", "\ndata: b\n\n"}) == Events{"|b|"});
}

TEST_CASE("a line or an event above its limit ends the stream, in one piece or in many", "[sse]") {
    const std::string long_line = "data: " + std::string(100, 'x');
    const SseLimits by_line{.max_line_bytes = 100, .max_event_bytes = 1'000};
    CHECK_THROWS_AS(read_pieces({long_line + "\n\n"}, by_line), ModelError);
    CHECK_THROWS_AS(read_pieces({long_line}, by_line), ModelError);  // nobody waits for its end
    CHECK_THROWS_AS(read_pieces({long_line.substr(0, 60), long_line.substr(60)}, by_line), ModelError);
    CHECK(read_pieces({long_line.substr(0, 100), "\n\n"}, by_line).size() == 1);

    const SseLimits by_event{.max_line_bytes = 1'000, .max_event_bytes = 20};
    CHECK_THROWS_AS(read_pieces({"data: 0123456789\ndata: 0123456789\n\n"}, by_event), ModelError);
    CHECK(read_pieces({"data: 0123456789\n\ndata: 0123456789\n\n"}, by_event).size() == 2);
    try {
        read_pieces({long_line}, by_line);
        FAIL("no error");
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::bad_request);
        CHECK(std::string(error.what()) == "read event stream: a line is longer than 100 bytes");
    }
}

TEST_CASE("what the sink throws gets out", "[sse]") {
    SseParser parser;
    CHECK_THROWS_AS(parser.feed("data: a\n\n", [](const SseEvent&) { throw 7; }), int);
}
