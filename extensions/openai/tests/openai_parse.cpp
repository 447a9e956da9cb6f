#include "support/catch.hpp"
#include "whittle/openai/openai.hpp"

#include <limits>
#include <string>

using namespace whittle;
using openai::Message;
using Json = nlohmann::ordered_json;

namespace {

std::string error_of(std::string_view json, const JsonLimits& limits = {}) {
    try {
        (void)Message::parse(json, nullptr, limits);
    } catch (const Error& e) {
        CHECK(e.errc() == Errc::parse_failed);
        return e.what();
    }
    return "no error";
}

std::string nested(std::size_t levels) {
    return R"({"role":"user","content":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
}

}  // namespace

TEST_CASE("broken JSON is refused with the byte where it breaks", "[openai]") {
    CHECK_THAT(error_of(R"({"role":})"), Catch::Matchers::StartsWith("parse an OpenAI message: byte 8: "));
    CHECK_THAT(error_of(""), Catch::Matchers::StartsWith("parse an OpenAI message: byte 0: "));
    CHECK_THAT(error_of(R"({"role":"user")"), Catch::Matchers::StartsWith("parse an OpenAI message: byte 14: "));
    CHECK_THAT(error_of(R"({"role":"user"} x)"), Catch::Matchers::StartsWith("parse an OpenAI message: byte 16: "));
    CHECK_THAT(error_of(R"({"role":"user","content":1e999})"), Catch::Matchers::Contains("number overflow"));
}

TEST_CASE("what follows a NUL is not ignored", "[openai]") {
    const std::string json = R"({"role":"user","content":"a"})";
    CHECK_THAT(error_of(json + std::string(1, '\0') + "garbage"), Catch::Matchers::Contains("byte 29: a NUL"));
}

TEST_CASE("lone surrogates and bytes that are not UTF-8 are refused", "[openai]") {
    CHECK_THAT(error_of(R"({"role":"user","content":"\ud800"})"), Catch::Matchers::Contains("surrogate"));
    CHECK_THAT(error_of(R"({"role":"user","content":"\udc00 x"})"), Catch::Matchers::Contains("surrogate"));
    CHECK_THAT(error_of("{\"role\":\"user\",\"content\":\"\xFF\"}"), Catch::Matchers::Contains("UTF-8"));
    CHECK(Message::parse(R"({"role":"user","content":"\ud83d\ude00"})").json()["content"] == "\xF0\x9F\x98\x80");
}

TEST_CASE("the text of an error is short and valid UTF-8 whatever was found", "[openai]") {
    const std::string error = error_of("{\"role\":\"" + std::string(100'000, 'x') + "\xFF\"}");
    CHECK(error.size() < 400);
    CHECK(is_valid_utf8(error));
    CHECK(error_of("{\"role\":\"" + std::string(100'000, 'x') + "\"}").size() < 400);
}

TEST_CASE("what is no message is refused with what was found", "[openai]") {
    CHECK(error_of("[]") == "parse an OpenAI message: expected an object, found an array");
    CHECK(error_of("{}") == "parse an OpenAI message: role: expected a string, found nothing");
    CHECK(error_of(R"({"role":null})") == "parse an OpenAI message: role: expected a string, found null");
    CHECK(error_of(R"({"role":"critic"})") ==
          "parse an OpenAI message: role: expected system, developer, user, assistant, tool or function, found "
          "\"critic\"");
}

TEST_CASE("nesting is limited without recursion", "[openai]") {
    CHECK(error_of(nested(199)) == "no error");
    CHECK_THAT(error_of(nested(200)), Catch::Matchers::EndsWith("byte 224: nested deeper than 200 levels"));
    CHECK_THAT(error_of(std::string(1'000'000, '[')),
               Catch::Matchers::EndsWith("byte 200: nested deeper than 200 levels"));
    CHECK_THAT(error_of(nested(1'000'000)), Catch::Matchers::EndsWith("nested deeper than 200 levels"));
    CHECK(error_of(nested(9), {.max_depth = 10}) == "no error");
    CHECK_THAT(error_of(nested(10), {.max_depth = 10}), Catch::Matchers::EndsWith("nested deeper than 10 levels"));
}

TEST_CASE("the size of the text is limited", "[openai]") {
    CHECK(error_of(R"({"role":"user"})", {.max_bytes = 15}) == "no error");
    CHECK(error_of(R"({"role":"user"})", {.max_bytes = 14}) ==
          "parse an OpenAI message: 15 bytes of JSON are more than the limit of 14");
}

TEST_CASE("duplicate keys and integers beyond 64 bits are reported with their place", "[openai]") {
    ParseNotes notes;
    const Message m = Message::parse(
        R"({"role":"user","content":"first","content":"last","big":[1,18446744073709551616],"ok":18446744073709551615,"r":1e30})",
        &notes);
    CHECK(notes.notes ==
          std::vector<std::string>{
              "content: duplicate key: the last value is kept",
              "big[1]: integer 18446744073709551616: is beyond 64 bits and was rounded to a real number"});
    CHECK(m.json()["content"] == "last");
    CHECK(m.json().size() == 5);
}

TEST_CASE("many keys are read in time that is linear in their number", "[openai]") {
    std::string json = R"({"role":"user","content":"x")";
    for (int i = 0; i < 200'000; ++i) json += ",\"k" + std::to_string(i) + "\":1";
    json += ",\"k5\":2}";
    ParseNotes notes;
    const Message m = Message::parse(json, &notes);
    CHECK(m.json().size() == 200'002);
    CHECK(notes.notes == std::vector<std::string>{"k5: duplicate key: the last value is kept"});
    CHECK(m.json()["k5"] == 2);
}

TEST_CASE("a message made by the host is checked as well", "[openai]") {
    CHECK_THROWS_AS(Message(Json::array()), Error);
    CHECK_THROWS_WITH(Message(Json{{"role", 1}}),
                      "make an OpenAI message: role: expected a string, found the number 1");
    CHECK_THROWS_WITH(Message(Json{{"role", "user"}, {"x", std::numeric_limits<double>::quiet_NaN()}}),
                      "make an OpenAI message: the message holds a number that is not finite");
    CHECK_THROWS_WITH(Message(Json{{"role", "user"}, {"x", Json::binary({1})}}),
                      "make an OpenAI message: the message holds a value that JSON does not have");
    Json deep = nullptr;
    for (int i = 0; i < 300; ++i) deep = Json::array({std::move(deep)});
    CHECK_THROWS_WITH(Message(Json{{"role", "user"}, {"x", std::move(deep)}}),
                      "make an OpenAI message: the message is nested deeper than 200 levels");
}

TEST_CASE("bytes are the dump, and come back", "[openai]") {
    const Message m = Message::parse(R"( {"z": 1.0, "role" : "user", "content": "\u00e9\u0000", "n": -0.5} )");
    const std::string bytes = message_traits<Message>::to_bytes(m);
    CHECK(bytes == m.json().dump());
    CHECK(message_traits<Message>::from_bytes(bytes) == m);
    CHECK_THROWS_AS(message_traits<Message>::from_bytes("{}"), Error);
    CHECK_THROWS_AS(message_traits<Message>::from_bytes(""), Error);
}

TEST_CASE("a message with text that is not UTF-8 survives saving byte for byte", "[openai]") {
    const Message m(
        Json{{"role", "user"}, {"content", "a\xFFz\xC3\xA9"}, {"k\x80", Json::array({"\xED\xA0\x80", 1, nullptr})}});
    const std::string bytes = message_traits<Message>::to_bytes(m);
    CHECK(is_valid_utf8(bytes));
    CHECK(is_json_object(bytes));
    const Message back = message_traits<Message>::from_bytes(bytes);
    CHECK(back.json() == m.json());
    CHECK(back == m);
    CHECK(text_of(back, 0) == "a\xFFz\xC3\xA9");
}

TEST_CASE("damaged bytes of such a message are refused", "[openai]") {
    for (const char* bad :
         {R"({"bytes_as_code_points":{"role":"user","content":"\u0100"}})", R"({"bytes_as_code_points":5})",
          R"({"bytes_as_code_points":{}})", R"({"bytes_as_code_points":{"role":"user"},"x":1})"}) {
        try {
            (void)message_traits<Message>::from_bytes(bad);
            FAIL("accepted " << bad);
        } catch (const Error& e) {
            CHECK(e.errc() == Errc::parse_failed);
        }
    }
}

TEST_CASE("numbers that compare equal but are written differently are different messages", "[openai]") {
    CHECK_FALSE(Message::parse(R"({"role":"user","x":1})") == Message::parse(R"({"role":"user","x":1.0})"));
    CHECK(Message::parse(R"({"role":"user","x":1})") == Message::parse(R"({"role":"user","x": 1})"));
}
