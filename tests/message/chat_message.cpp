#include "whittle/message/chat_message.hpp"

#include "support/catch.hpp"
#include "whittle/base/error.hpp"

#include <random>
#include <string>
#include <vector>

using namespace whittle;
using Traits = message_traits<ChatMessage>;

namespace {

const Part image{PartKind::media, {}, {}, {}, {"image/png", "\x89PNG", {}, 4, 3}};

}  // namespace

TEST_CASE("the factories give one part of their role", "[chat_message]") {
    CHECK(ChatMessage::system("s") == ChatMessage{Role::system, {Part{PartKind::text, "s"}}});
    CHECK(ChatMessage::user("u") == ChatMessage{Role::user, {Part{PartKind::text, "u"}}});
    CHECK(ChatMessage::assistant("a") == ChatMessage{Role::assistant, {Part{PartKind::text, "a"}}});
    CHECK(ChatMessage::result("c", "ls", "out", true) ==
          ChatMessage{Role::tool, {Part{PartKind::tool_result, "out", "c", "ls", {}, true}}});
    CHECK(Traits::make(Role::user, "u") == ChatMessage::user("u"));
}

TEST_CASE("calls are added in order, on an lvalue and in a chain", "[chat_message]") {
    ChatMessage message = ChatMessage::assistant("Let me see.").call("c1", "ls").call("c2", "cat", R"({"path":"a"})");
    message.call("c3", "ls");
    REQUIRE(message.parts.size() == 4);
    CHECK(message.parts[1] == Part{PartKind::tool_call, "{}", "c1", "ls"});
    CHECK(message.parts[2].text == R"({"path":"a"})");
    CHECK(message.parts[3].call_id == "c3");
}

TEST_CASE("the traits show every part as it is", "[chat_message]") {
    const ChatMessage message{Role::user, {Part{PartKind::text, "look"}, image}};
    CHECK(Traits::role(message) == Role::user);
    CHECK(parts_of(message) == message.parts);
    CHECK(text_of(message) == "look");
    CHECK(text_of(message, 0) == "look");
    CHECK(text_of(message, 9).empty());
    CHECK_FALSE(Traits::is_error(message, 9));
}

TEST_CASE("the text of text, thinking and results is replaced", "[chat_message]") {
    ChatMessage message = ChatMessage::result("c", "ls", "old", true);
    message.parts.push_back(Part{PartKind::thinking, "hm"});
    Traits::set_text(message, 0, "new");
    Traits::set_text(message, 1, "");
    CHECK(message.parts[0] == Part{PartKind::tool_result, "new", "c", "ls", {}, true});
    CHECK(message.parts[1] == Part{PartKind::thinking, ""});
}

TEST_CASE("a text may come out of the part that it replaces", "[chat_message]") {
    ChatMessage message = ChatMessage::user(std::string(100, 'a') + "tail");
    Traits::set_text(message, 0, std::string_view(message.parts[0].text).substr(100));
    CHECK(message == ChatMessage::user("tail"));

    ChatMessage result{Role::tool, {image}};
    result.parts[0].call_id = "a call id that is too long for the small string buffer";
    const std::string id = result.parts[0].call_id;
    Traits::set_text(result, 0, result.parts[0].call_id);
    CHECK(result.parts[0].text == id);
}

TEST_CASE("arguments are replaced by a JSON object and by nothing else", "[chat_message]") {
    ChatMessage message = ChatMessage::assistant("go").call("c", "ls", R"({"a":1})");
    const ChatMessage before = message;
    for (const char* bad : {"", "[]", "null", "{", "text"}) {
        CHECK_THROWS_AS(Traits::set_text(message, 1, bad), Error);
        CHECK(message == before);
    }
    Traits::set_text(message, 1, "{}");
    CHECK(message.parts[1] == Part{PartKind::tool_call, "{}", "c", "ls"});
}

TEST_CASE("media turns into text, inside a result into text of the result", "[chat_message]") {
    ChatMessage message{Role::user, {image}};
    Traits::set_text(message, 0, "[image]");
    CHECK(message == ChatMessage::user("[image]"));

    ChatMessage result = ChatMessage::result("c", "shot", "seen");
    Part inside = image;
    inside.call_id = "c";
    inside.tool = "shot";
    result.parts.push_back(inside);
    Traits::set_text(result, 1, "[image]");
    CHECK(result.parts[1] == Part{PartKind::tool_result, "[image]", "c", "shot"});
}

TEST_CASE("opaque parts and parts that are not there cannot be edited", "[chat_message]") {
    ChatMessage message{Role::assistant, {Part{PartKind::other, "opaque"}}};
    const ChatMessage before = message;
    try {
        Traits::set_text(message, 1, "x");
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_argument);
        CHECK(std::string(error.what()) == "set the text of part 1: the message has 1 parts");
    }
    CHECK_THROWS_AS(Traits::set_text(message, 0, "x"), Error);
    CHECK_THROWS_AS(Traits::erase_part(message, 1), Error);
    CHECK(message == before);
}

TEST_CASE("erasing the last part leaves an empty message", "[chat_message]") {
    ChatMessage message = ChatMessage::assistant("a").call("c", "ls");
    Traits::erase_part(message, 0);
    REQUIRE(message.parts.size() == 1);
    CHECK(message.parts[0].kind == PartKind::tool_call);
    Traits::erase_part(message, 0);
    CHECK(message.parts.empty());
}

TEST_CASE("each tool result becomes one tool message with its parts in order", "[chat_message]") {
    const std::vector<ToolResult> results{
        {"c1", "shot", {Part{PartKind::text, "one"}, image, Part{PartKind::text, "two"}}, false},
        {"c2", "ls", {}, true},
    };
    const std::vector<ChatMessage> messages = Traits::make_tool_results(results);
    REQUIRE(messages.size() == 2);
    REQUIRE(messages[0].parts.size() == 3);
    CHECK(messages[0].role == Role::tool);
    CHECK(messages[0].parts[0] == Part{PartKind::tool_result, "one", "c1", "shot"});
    CHECK(messages[0].parts[1].kind == PartKind::media);
    CHECK(messages[0].parts[1].call_id == "c1");
    CHECK(messages[0].parts[1].media == image.media);
    CHECK(messages[0].parts[2] == Part{PartKind::tool_result, "two", "c1", "shot"});
    CHECK(messages[1] == ChatMessage::result("c2", "ls", "", true));
    CHECK(Traits::make_tool_results({}).empty());
}

TEST_CASE("usage sums stay in range", "[chat_message]") {
    CHECK(Usage{1, 2, 3, 4}.total() == 10);
    CHECK(Usage{INT64_MAX, 1, INT64_MAX, 1}.total() == INT64_MAX);
}
