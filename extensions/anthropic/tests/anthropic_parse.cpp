#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/saved/trajectory.hpp"

#include <limits>
#include <sstream>
#include <string>

using namespace whittle;
using anthropic::Message;
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

TEST_CASE("broken Anthropic JSON is refused with the byte where it breaks", "[anthropic]") {
    CHECK_THAT(error_of(R"({"role":})"), Catch::Matchers::StartsWith("parse an Anthropic message: byte 8: "));
    CHECK_THAT(error_of("{\"role\":\"user\",\"content\":\"\xFF\"}"), Catch::Matchers::Contains("UTF-8"));
    CHECK_THAT(error_of(R"({"role":"user","content":"\ud800"})"), Catch::Matchers::Contains("surrogate"));
}

TEST_CASE("what is no Anthropic message is refused with what was found", "[anthropic]") {
    CHECK(error_of("[]") == "parse an Anthropic message: expected an object, found an array");
    CHECK(error_of("{}") == "parse an Anthropic message: role: expected a string, found nothing");
    CHECK(error_of(R"({"role":"tool"})") ==
          "parse an Anthropic message: role: expected user, assistant or system, found \"tool\"");
    CHECK_THROWS_WITH(Message(Json{{"role", 1}}),
                      "make an Anthropic message: role: expected a string, found the number 1");
    CHECK_THROWS_WITH(Message(Json{{"role", "user"}, {"x", std::numeric_limits<double>::infinity()}}),
                      "make an Anthropic message: the message holds a number that is not finite");
}

TEST_CASE("nesting of Anthropic messages is limited without recursion", "[anthropic]") {
    CHECK(error_of(nested(199)) == "no error");
    CHECK_THAT(error_of(nested(200)), Catch::Matchers::EndsWith("nested deeper than 200 levels"));
    CHECK_THAT(error_of(nested(1'000'000)), Catch::Matchers::EndsWith("nested deeper than 200 levels"));
    CHECK_THAT(error_of(nested(10), {.max_depth = 10}), Catch::Matchers::EndsWith("nested deeper than 10 levels"));
    CHECK(error_of(R"({"role":"user"})", {.max_bytes = 14}) ==
          "parse an Anthropic message: 15 bytes of JSON are more than the limit of 14");
}

TEST_CASE("duplicate keys and integers beyond 64 bits in an input are reported with their place", "[anthropic]") {
    ParseNotes notes;
    const Message m = Message::parse(
        R"({"role":"assistant","content":[{"type":"tool_use","input":{"a":1,"a":18446744073709551616}}]})", &notes);
    CHECK(notes.notes ==
          std::vector<std::string>{
              "content[0].input.a: integer 18446744073709551616: is beyond 64 bits and was rounded to a real number",
              "content[0].input.a: duplicate key: the last value is kept"});
    CHECK(m.json()["content"][0]["input"].size() == 1);
}

TEST_CASE("the bytes of an Anthropic message are the dump, and come back", "[anthropic]") {
    const Message m = Message::parse(
        R"( {"z": 1.0, "role" : "user", "content": [{"type":"later","b":1,"a":{"d":-0.5,"c":"\u00e9\u0000"}}]} )");
    const std::string bytes = message_traits<Message>::to_bytes(m);
    CHECK(bytes == m.json().dump());
    CHECK(message_traits<Message>::from_bytes(bytes) == m);
    CHECK_THROWS_WITH(message_traits<Message>::from_bytes("{}"),
                      "read a saved Anthropic message: role: expected a string, found nothing");
    CHECK_THROWS_AS(message_traits<Message>::from_bytes(""), Error);
    CHECK_FALSE(Message::parse(R"({"role":"user","x":1})") == Message::parse(R"({"role":"user","x":1.0})"));
}

TEST_CASE("an Anthropic message with text that is not UTF-8 survives saving byte for byte", "[anthropic]") {
    const Message m(Json{{"role", "user"}, {"content", "a\xFFz\xC3\xA9"}, {"k\x80", Json::array({"\xED\xA0\x80", 1})}});
    const std::string bytes = message_traits<Message>::to_bytes(m);
    CHECK(is_valid_utf8(bytes));
    const Message back = message_traits<Message>::from_bytes(bytes);
    CHECK(back == m);
    CHECK(text_of(back, 0) == "a\xFFz\xC3\xA9");
    CHECK_THROWS_AS(
        message_traits<Message>::from_bytes(R"({"bytes_as_code_points":{"role":"user","content":"\u0100"}})"), Error);
}

TEST_CASE("recorded sessions of Anthropic messages are read with their system text and tools", "[anthropic]") {
    std::istringstream in(
        R"({"id":"s","system":[{"type":"text","text":"be brief"}],"tools":[{"name":"ls","input_schema":{"type":"object"}}],)"
        R"("messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"ok"}]}]})"
        "\n"
        R"({"id":"t","messages":[{"role":"tool","content":"x"}]})");
    std::vector<Trajectory<Message>> read;
    const auto read_all = [&] {
        read_trajectories<Message>(in, {.name = "s.jsonl"},
                                   [&](Trajectory<Message>&& one) { read.push_back(std::move(one)); });
    };
    CHECK_THROWS_WITH(read_all(),
                      Catch::Matchers::StartsWith("s.jsonl:2: messages[0]: make an Anthropic message: role"));
    REQUIRE(read.size() == 1);
    CHECK(read[0].system == "be brief");
    CHECK(read[0].tools.at(0).parameters == R"({"type":"object"})");
    CHECK(read[0].messages.size() == 2);
}
