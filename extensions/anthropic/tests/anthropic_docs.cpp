// What one who makes requests by hand writes.
#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/anthropic/anthropic_wire.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/convert/convert.hpp"

#include <string>
#include <vector>

namespace {

nlohmann::ordered_json call_the_api(const nlohmann::ordered_json&) {
    return nlohmann::ordered_json::parse(
        R"({"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],
            "usage":{"input_tokens":7,"cache_read_input_tokens":100,"output_tokens":2}})");
}

}  // namespace

TEST_CASE("a conversation of Anthropic messages makes requests and takes responses", "[anthropic][docs]") {
    whittle::Conversation<whittle::anthropic::Message> conversation("support-4711");
    conversation.push_back(whittle::anthropic::Message({{"role", "user"}, {"content", "What is in this folder?"}}));

    nlohmann::ordered_json request{{"model", "a-model"}, {"max_tokens", 1024}, {"system", "Be brief."}};
    for (const auto& m : conversation.messages()) request["messages"].push_back(m.json());
    const nlohmann::ordered_json response = call_the_api(request);

    const auto reply = whittle::anthropic::Message::from_response(response);
    conversation.push_back(reply, reply.usage());
    CHECK(request["messages"].size() == 1);
    CHECK(conversation.messages()[1].json().dump() ==
          R"({"role":"assistant","content":[{"type":"text","text":"ok"}]})");
    CHECK(reply.usage()->total() == 109);
}

TEST_CASE("the wire check tells the rule, the place and a sentence", "[anthropic][docs]") {
    const std::vector<whittle::anthropic::Message> messages{
        whittle::anthropic::Message::parse(R"({"role":"user","content":[{"type":"text","text":" "}]})")};
    const nlohmann::ordered_json rest{{"system", "Be brief."}};  // the request without its messages

    const auto broken = whittle::anthropic::check_wire(messages, rest);
    CHECK(broken.at(0).rule == "A5");
    CHECK(broken.at(0).message == 0);
    CHECK(broken.at(0).text == "a text block is empty or only white space");
}

TEST_CASE("a conversion names what it could not carry", "[convert][docs]") {
    const std::vector<whittle::openai::Message> ours{
        whittle::openai::Message::parse(R"({"role":"system","content":"Be brief."})"),
        whittle::openai::Message::parse(R"({"role":"user","content":"hi","name":"ann"})")};

    const whittle::AnthropicConversion theirs = whittle::to_anthropic(ours);
    CHECK(theirs.system == "Be brief.");
    CHECK(theirs.messages.at(0).json().dump() == R"({"role":"user","content":"hi"})");
    CHECK(theirs.losses.at(0).message == 1);
    CHECK(theirs.losses.at(0).text == R"("name" has no place in the other format)");
}
