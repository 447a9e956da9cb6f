#include "support/catch.hpp"
#include "whittle/anthropic/anthropic_wire.hpp"
#include "whittle/openai/openai_wire.hpp"

#include <string>
#include <vector>

using namespace whittle;
using Json = nlohmann::ordered_json;

namespace {

template <typename M>
std::vector<M> messages_of(const std::string& array) {
    std::vector<M> list;
    for (const Json& m : Json::parse(array)) list.emplace_back(m);
    return list;
}

/// "0.1 sentence" for each member of a wrong type.
template <typename M>
std::vector<std::string> wrong_types(const std::string& array) {
    const std::vector<M> list = messages_of<M>(array);
    std::vector<std::string> found;
    for (const WireViolation& v : check_wire(std::span<const M>(list))) {
        if (v.rule == "G13") found.push_back(std::to_string(v.message) + "." + std::to_string(v.block) + " " + v.text);
    }
    return found;
}

using Wrong = std::vector<std::string>;

}  // namespace

TEST_CASE("G13: contents, parts and calls of OpenAI's messages have the types of the format", "[openai]") {
    const auto wrong = wrong_types<openai::Message>;
    CHECK(wrong(R"([{"role":"user","content":3}])") ==
          Wrong{"0.0 content: expected a string or an array of parts, found the number 3"});
    CHECK(wrong(R"([{"role":"user","content":[null,5]}])") ==
          Wrong{R"(0.0 content[0]: expected an object with a "type", found null)",
                R"(0.1 content[1]: expected an object with a "type", found the number 5)"});
    CHECK(wrong(R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[1,null]}])") ==
          Wrong{"1.0 tool_calls[0]: expected an object, found the number 1",
                "1.1 tool_calls[1]: expected an object, found null"});
    CHECK(wrong(R"([{"role":"assistant","tool_calls":{"id":"a"}}])").size() == 1);
    CHECK(
        wrong(
            R"([{"role":"assistant","tool_calls":[{"id":7,"type":"function","function":{"name":null,"arguments":{}}}]}])")
            .size() == 3);
    CHECK(wrong(R"([{"role":"assistant","tool_calls":[{"id":"a","type":"function"}]}])").size() == 1);
    CHECK(wrong(R"([{"role":"assistant","content":"","function_call":"f"}])").size() == 1);
    CHECK(wrong(R"([{"role":"tool","content":"x"}])") ==
          Wrong{"0.0 message.tool_call_id: expected a string, found nothing"});
    CHECK(
        wrong(
            R"([{"role":"user","name":{},"content":[{"type":"text"},{"type":7},{"type":"image_url","image_url":"u"}]}])")
            .size() == 4);
}

TEST_CASE("G13: what OpenAI's format has, and what it may have one day, breaks nothing", "[openai]") {
    CHECK(wrong_types<openai::Message>(R"([
        {"role":"system","content":"s"},
        {"role":"user","name":"n","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"u"}},
            {"type":"input_audio","input_audio":{"data":"","format":"wav"}},{"type":"file","file":{"file_id":"f"}},
            {"type":"hologram","depth":3}]},
        {"role":"assistant","content":null,"refusal":null,"tool_calls":null},
        {"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{"}},
            {"id":"b","type":"custom","custom":{"name":"c","input":""}}],"reasoning_content":7},
        {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"}]},{"role":"tool","tool_call_id":"b"},
        {"role":"assistant","function_call":{"name":"f","arguments":""}},{"role":"function","name":"f","content":""}])")
              .empty());
}

TEST_CASE("G13: blocks of Anthropic's messages and of their results have the types of the format", "[anthropic]") {
    const auto wrong = wrong_types<anthropic::Message>;
    CHECK(wrong(R"([{"role":"user","content":[null,5,{"text":"x"},{"type":"text","text":1}]}])").size() == 4);
    CHECK(wrong(R"([{"role":"assistant","content":[{"type":"tool_use","id":3,"name":null,"input":{}}]}])") ==
          Wrong{"0.0 content[0].id: expected a string, found the number 3",
                "0.0 content[0].name: expected a string, found null"});
    CHECK(wrong(R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":[],"is_error":"no","content":7}]}])")
              .size() == 3);
    CHECK(wrong(R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"a",
                    "content":["x",{"type":"text","text":null},{"type":"text","text":"fine"}]}]}])") ==
          Wrong{R"(0.0 content[0].content[0]: expected an object with a "type", found "x")",
                "0.0 content[0].content[1].text: expected a string, found null"});
    CHECK(wrong(R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},
                    {"type":"tool_result","tool_use_id":"b","is_error":false,"content":"x"},{"type":"new_kind"}]}])")
              .empty());
}
