// Anthropic messages in a conversation: what differs from a message per result.
#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/conversation/transaction.hpp"
#include "whittle/storage/storage.hpp"

#include <string>
#include <vector>

using namespace whittle;
using anthropic::Message;

namespace {

Conversation<Message> with_two_calls() {
    Conversation<Message> conversation("c");
    conversation.push_back(Message::parse(R"({"role":"user","content":"go"})"));
    conversation.push_back(
        Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}},
                           {"type":"tool_use","id":"b","name":"shot","input":{}}]})"));
    return conversation;
}

ToolReturn shortened(std::vector<Part> parts, std::size_t stored_part, std::string key) {
    ToolReturn back{.result = {.call_id = "a", .tool = "ls", .parts = std::move(parts)}};
    back.stored.push_back({.part = stored_part, .key = std::move(key), .by = "reduction"});
    return back;
}

}  // namespace

TEST_CASE("texts that the format cannot hold do not move the mark of a stored one", "[anthropic]") {
    for (const char* blank : {"", " \n"}) {
        Conversation<Message> conversation = with_two_calls();
        const std::vector<ToolReturn> returns{
            shortened({{.text = blank}, {.text = "head"}, {.text = "tail"}}, 1, "c/a"),
            {.result = {
                 .call_id = "b", .tool = "shot", .parts = {{.kind = PartKind::media, .media = {.url = "https://x"}}}}}};
        conversation.push_tool_results(returns);
        REQUIRE(conversation.size() == 3);
        const MessageInfo& info = conversation.outline()[2];
        REQUIRE(info.parts.size() == 4);
        REQUIRE(info.parts[0].mark);
        CHECK(info.parts[0].mark->stored_keys == std::vector<std::string>{"c/a"});
        CHECK_FALSE(info.parts[1].mark);
        CHECK(text_of(conversation.messages()[2], 0) == "head");
    }
}

TEST_CASE("a result of an image alone is no repair and answers its call", "[anthropic]") {
    Conversation<Message> conversation = with_two_calls();
    const std::vector<ToolResult> results{
        {.call_id = "a", .tool = "ls", .parts = {{.kind = PartKind::media, .media = {.url = "https://x"}}}},
        {.call_id = "b", .tool = "shot", .parts = {{.kind = PartKind::media, .media = {.url = "https://y"}}}}};
    conversation.push_tool_results(results);
    REQUIRE(conversation.size() == 3);
    const MessageInfo& info = conversation.outline()[2];
    CHECK_FALSE(info.mark);
    CHECK(info.round_serial == conversation.outline()[1].serial);
    CHECK(validate(conversation.messages(), anthropic_messages()).empty());
    CHECK(validate(conversation.messages(), openai_chat()).empty());
}

TEST_CASE("redacted data and signatures are part of what thinking is", "[anthropic][thinking]") {
    const auto reply = [](const std::string& thinking) {
        return Message::parse(R"({"role":"assistant","content":[)" + thinking + R"(,{"type":"text","text":"so"}]})");
    };
    const auto ask = [](const char* text) { return message_traits<Message>::make(Role::user, text); };
    const Message redacted = reply(R"({"type":"redacted_thinking","data":"AAA"})");
    Conversation<Message> conversation("signed");
    for (const Message& m : {ask("go"), redacted, ask("on")}) conversation.push_back(m);
    auto edit = conversation.edit("test");
    const Message forged = reply(R"({"type":"redacted_thinking","data":"FORGED"})");
    CHECK_THROWS_AS(edit.replace_range(1, 2, {forged}, {.reason = "test"}), Error);
    edit.replace_range(1, 2, {redacted}, {.reason = "test"});

    const Message signed_once = reply(R"({"type":"thinking","thinking":"hm","signature":"S1"})");
    const Message signed_twice = reply(R"({"type":"thinking","thinking":"hm","signature":"S2"})");
    Conversation<Message> synced("synced");
    synced.sync(std::vector{ask("go"), signed_once, ask("on")});
    CHECK(synced.sync(std::vector{ask("go"), signed_twice, ask("on")}).diverged);
    CHECK(synced.messages()[1] == signed_twice);
    CHECK(synced.thinking_prefix_edited());
}

TEST_CASE("user text beside results belongs to their round and starts no turn", "[anthropic]") {
    Conversation<Message> conversation = with_two_calls();
    conversation.push_back(
        Message::parse(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},
                           {"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"text","text":"hurry"}]})"));
    conversation.push_back(Message::parse(R"({"role":"assistant","content":"done"})"));
    conversation.push_back(Message::parse(R"({"role":"user","content":"next"})"));
    const Outline outline = conversation.outline();
    CHECK(outline[2].turn == 1);
    CHECK(outline[2].round_serial == outline[1].serial);
    CHECK(outline[4].turn == 2);
}
