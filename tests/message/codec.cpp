#include "support/catch.hpp"
#include "whittle/base/error.hpp"
#include "whittle/message/chat_message.hpp"

#include <random>
#include <string>
#include <vector>

using namespace whittle;
using Traits = message_traits<ChatMessage>;

namespace {

std::string random_text(std::mt19937& random) {
    const std::vector<std::string> pieces{"a",
                                          "\"",
                                          "\\",
                                          "\n",
                                          "\t",
                                          "你",
                                          "😀",
                                          "\x7F",
                                          "\xFF",
                                          "\x80\xC2",
                                          "\xED\xA0\x80",
                                          "{\"base64\":\"AA==\"}",
                                          std::string(1, '\0'),
                                          "\xE2\x80\xA8"};
    std::string text;
    for (auto n = random() % 6; n > 0; --n) text += pieces[random() % pieces.size()];
    return text;
}

std::int64_t random_count(std::mt19937& random) {
    const std::vector<std::int64_t> counts{0, 1, -1, 4096, INT64_MAX, INT64_MIN};
    return counts[random() % counts.size()];
}

Part random_part(std::mt19937& random) {
    Part part;
    part.kind = static_cast<PartKind>(random() % 6);
    part.text = random_text(random);
    part.call_id = random_text(random);
    part.tool = random_text(random);
    if (random() % 3 == 0) {
        part.media = {random_text(random), random_text(random), random_text(random), static_cast<int>(random()),
                      static_cast<int>(random() % 2)};
    }
    part.is_error = random() % 2 == 0;
    return part;
}

ChatMessage random_message(std::mt19937& random) {
    ChatMessage message;
    message.role = static_cast<Role>(random() % 4);
    for (auto n = random() % 4; n > 0; --n) message.parts.push_back(random_part(random));
    message.host_id = random_text(random);
    if (random() % 2 == 0) {
        message.usage = Usage{random_count(random), random_count(random), random_count(random),
                              random_count(random), random_count(random), random_count(random)};
    }
    return message;
}

std::string refusal_of(std::string_view bytes) {
    try {
        (void)Traits::from_bytes(bytes);
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::parse_failed);
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a message is one line of compact JSON without its defaults", "[codec]") {
    ChatMessage message = ChatMessage::assistant("two\nlines").call("c1", "ls", R"({"a":1})");
    message.usage = Usage{.uncached_input = 10, .output = 2};
    CHECK(Traits::to_bytes(message) ==
          R"({"role":"assistant","parts":[{"kind":"text","text":"two\nlines"},)"
          R"({"kind":"tool_call","text":"{\"a\":1}","call_id":"c1","tool":"ls"}],"usage":{"input":10,"output":2}})");
    CHECK(Traits::to_bytes(ChatMessage{}) == R"({"role":"user","parts":[]})");
    ChatMessage written = ChatMessage::assistant("");
    written.parts.clear();
    written.usage = Usage{.cache_write = 9}.with_lifetimes(4, 5);
    CHECK(Traits::to_bytes(written) ==
          R"({"role":"assistant","parts":[],"usage":{"cache_write":9,"cache_write_5m":4,"cache_write_1h":5}})");
}

TEST_CASE("a text that is not UTF-8 is written in base64", "[codec]") {
    const std::string bytes = Traits::to_bytes(ChatMessage::user("a\xFF"));
    CHECK(bytes == R"({"role":"user","parts":[{"kind":"text","text":{"base64":"Yf8="}}]})");
    CHECK(Traits::from_bytes(bytes) == ChatMessage::user("a\xFF"));
}

TEST_CASE("reading gives back exactly what was written", "[codec]") {
    std::mt19937 random(11);
    for (int i = 0; i < 3'000; ++i) {
        const ChatMessage message = random_message(random);
        const std::string bytes = Traits::to_bytes(message);
        CHECK(bytes.find('\n') == std::string::npos);
        const ChatMessage back = Traits::from_bytes(bytes);
        REQUIRE(back == message);
        REQUIRE(Traits::to_bytes(back) == bytes);
    }
}

TEST_CASE("usage of nothing is not the same as no usage", "[codec]") {
    ChatMessage message = ChatMessage::assistant("a");
    message.usage = Usage{};
    CHECK(Traits::from_bytes(Traits::to_bytes(message)) == message);
    CHECK(Traits::to_bytes(message) != Traits::to_bytes(ChatMessage::assistant("a")));
}

TEST_CASE("input that is not JSON is refused with the offset", "[codec]") {
    CHECK(refusal_of("") == "read a chat message: offset 0: not JSON");
    CHECK(refusal_of("{\"role\" 1}") == "read a chat message: offset 8: not JSON");
    CHECK(refusal_of(std::string_view("{}\0", 3)) == "read a chat message: offset 2: a zero byte");
    CHECK(refusal_of("{\"role\":\"user\",\"parts\":[]} x").find("offset") != std::string::npos);
    CHECK(refusal_of("{\"id\":\"\xFF\"}").find("not JSON") != std::string::npos);
    CHECK(refusal_of("{\"a\":1e999}").find("out of range") != std::string::npos);
    CHECK(refusal_of(std::string(300'000, '[')).find("not JSON") != std::string::npos);
}

TEST_CASE("every prefix of a message is refused", "[codec]") {
    std::mt19937 random(5);
    const std::string bytes = Traits::to_bytes(random_message(random));
    for (std::size_t n = 0; n < bytes.size(); ++n)
        CHECK(refusal_of(std::string_view(bytes).substr(0, n)) != "accepted");
}

TEST_CASE("JSON that is no message is refused with the place", "[codec]") {
    CHECK(refusal_of("[]") == "read a chat message: message: not an object");
    CHECK(refusal_of("{}") == "read a chat message: message: has no role or no parts");
    CHECK(refusal_of(R"({"role":"user"})").find("no role or no parts") != std::string::npos);
    CHECK(refusal_of(R"({"role":"king","parts":[]})") == "read a chat message: message.role: not a known word");
    CHECK(refusal_of(R"({"role":1,"parts":[]})") == "read a chat message: message.role: not a string");
    CHECK(refusal_of(R"({"role":"user","parts":{}})") == "read a chat message: message.parts: not an array");
    CHECK(refusal_of(R"({"role":"user","parts":[],"x":1})") == "read a chat message: message.x: unknown field");
    CHECK(refusal_of(R"({"role":"user","parts":[{"text":"a"}]})") ==
          "read a chat message: message.parts[0]: has no kind");
    CHECK(refusal_of(R"({"role":"user","parts":[{"kind":"text"},{"kind":"text","is_error":1}]})") ==
          "read a chat message: message.parts[1].is_error: not true or false");
    CHECK(refusal_of(R"({"role":"user","parts":[],"usage":{"input":1.5}})") ==
          "read a chat message: message.usage.input: not an integer in range");
    CHECK(refusal_of(R"({"role":"user","parts":[],"usage":{"input":9223372036854775808}})").find("in range") !=
          std::string::npos);
    CHECK(refusal_of(R"({"role":"user","parts":[{"kind":"media","media":{"width":2147483648}}]})").find("in range") !=
          std::string::npos);
    CHECK(refusal_of(R"({"role":"user","parts":[{"kind":"media","media":{"width":-2147483649}}]})").find("in range") !=
          std::string::npos);
}

TEST_CASE("base64 that to_bytes cannot give is refused", "[codec]") {
    for (const char* text : {"A", "AA=", "A===", "AA==A", "AB==", "AAB=", "A A=", "AA=A", "-_AA"}) {
        CAPTURE(text);
        const std::string bytes = R"({"role":"user","parts":[],"id":{"base64":")" + std::string(text) + "\"}}";
        CHECK(refusal_of(bytes) == "read a chat message: message.id: not base64");
    }
    CHECK(refusal_of(R"({"role":"user","parts":[],"id":{"base64":1}})").find("not a string or") != std::string::npos);
    CHECK(refusal_of(R"({"role":"user","parts":[],"id":{"base64":"","b":1}})").find("not a string or") !=
          std::string::npos);
}
