#include "whittle/convert/convert.hpp"
#include "support/catch.hpp"
#include "whittle/message/validity.hpp"

#include <string>
#include <vector>

using namespace whittle;
using Json = nlohmann::ordered_json;

namespace {

template <typename M>
std::vector<M> list(const std::string& array) {
    std::vector<M> messages;
    for (const Json& m : Json::parse(array)) messages.emplace_back(m);
    return messages;
}

template <typename M>
std::string dump(const std::vector<M>& messages) {
    Json array = Json::array();
    for (const M& m : messages) array.push_back(m.json());
    return array.dump();
}

using Lost = std::vector<std::string>;

/// "message index: what" for each loss.
Lost words(const std::vector<ConversionLoss>& losses) {
    Lost words;
    for (const ConversionLoss& loss : losses) words.push_back(std::to_string(loss.message) + ": " + loss.what);
    return words;
}

AnthropicConversion from_openai(const std::string& array) { return to_anthropic(list<openai::Message>(array)); }

OpenAIConversion from_anthropic(const std::string& array, const Json& system = nullptr,
                                const ConversionOptions& options = {}) {
    return to_openai(system, list<anthropic::Message>(array), options);
}

/// The losses of one OpenAI message behind a user's, and the content that it became.
Lost lost(const std::string& message, const std::string& expected) {
    AnthropicConversion converted = from_openai(R"([{"role":"user","content":"go"},)" + message + "]");
    converted.messages.erase(converted.messages.begin());
    CHECK(dump(converted.messages) == expected);
    for (ConversionLoss& loss : converted.losses) --loss.message;
    return words(converted.losses);
}

const std::string openai_session =
    R"([{"role":"system","content":"be brief"},{"role":"user","content":"go"},)"
    R"({"role":"assistant","content":null,"tool_calls":[)"
    R"({"id":"a","type":"function","function":{"name":"ls","arguments":"{\"path\":\"/\"}"}},)"
    R"({"id":"b","type":"function","function":{"name":"cat","arguments":"{}"}}]},)"
    R"({"role":"tool","content":"bin","tool_call_id":"a","name":"ls"},)"
    R"({"role":"tool","content":"","tool_call_id":"b","name":"cat"},)"
    R"({"role":"user","content":[{"type":"text","text":"see"},)"
    R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},)"
    R"({"role":"assistant","content":"look","tool_calls":[)"
    R"({"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},)"
    R"({"role":"tool","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}],"tool_call_id":"c","name":"ls"},)"
    R"({"role":"assistant","content":"done"}])";

const std::string anthropic_session =
    R"([{"role":"user","content":"go"},)"
    R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{"path":"/"}},)"
    R"({"type":"tool_use","id":"b","name":"cat","input":{}}]},)"
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"bin"},)"
    R"({"type":"tool_result","tool_use_id":"b","content":""}]},)"
    R"({"role":"user","content":[{"type":"text","text":"see"},)"
    R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},)"
    R"({"role":"assistant","content":[{"type":"text","text":"look"},)"
    R"({"type":"tool_use","id":"c","name":"ls","input":{}}]},)"
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c",)"
    R"("content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}]},)"
    R"({"role":"assistant","content":"done"}])";

}  // namespace

TEST_CASE("a session says the same in both formats and comes back as the same JSON", "[convert]") {
    const AnthropicConversion there = from_openai(openai_session);
    CHECK(there.losses.empty());
    CHECK(there.system == "be brief");
    CHECK(dump(there.messages) == anthropic_session);
    const OpenAIConversion back = to_openai(there.system, there.messages);
    CHECK(back.losses.empty());
    CHECK(dump(back.messages) == openai_session);
}

TEST_CASE("system messages in front become the system text, and others the user's", "[convert]") {
    const auto converted = from_openai(
        R"([{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"go"},
            {"role":"system","content":"later"}])");
    CHECK(converted.system.dump() == R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])");
    CHECK(dump(converted.messages) == R"([{"role":"user","content":"go"},{"role":"user","content":"later"}])");
    CHECK(words(converted.losses) == Lost{"1: role", "1: boundary", "3: role"});
    CHECK(from_openai(R"([{"role":"user","content":"go"}])").system.is_null());
}

TEST_CASE("arguments that are no JSON object are wrapped in one, and reported", "[convert]") {
    const auto input_of = [](const std::string& arguments) {
        Json call{{"id", "a"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", arguments}}}};
        const std::vector<openai::Message> two{
            openai::Message(Json{{"role", "user"}, {"content", "go"}}),
            openai::Message(Json{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}})};
        const AnthropicConversion converted = to_anthropic(two);
        std::string text = converted.messages.at(1).json()["content"][0]["input"].dump();
        for (const std::string& word : words(converted.losses)) text += " " + word;
        return text;
    };
    CHECK(input_of(R"({"x":1})") == R"({"x":1})");
    CHECK(input_of(R"({"x": 1})") == R"({"x":1} 1: arguments_spelling)");
    CHECK(input_of("") == "{} 1: arguments");
    CHECK(input_of("[1]") == R"({"arguments":"[1]"} 1: arguments)");
    CHECK(input_of("{broken") == R"({"arguments":"{broken"} 1: arguments)");
    CHECK(input_of(R"({"x":1,"x":2})") == R"({"x":2} 1: arguments)");
    CHECK(input_of(R"({"x":18446744073709551616})") == R"({"x":1.8446744073709552e+19} 1: arguments)");
    CHECK(input_of(R"({"x":)" + std::string(500, '[') + std::string(500, ']') + "}").find("1: arguments") !=
          std::string::npos);
}

TEST_CASE("what Anthropic has no place for is left out and named", "[convert]") {
    CHECK(lost(R"({"role":"assistant","content":"a","reasoning_content":"hm"})",
               R"([{"role":"assistant","content":"a"}])") == Lost{"0: reasoning"});
    CHECK(lost(R"({"role":"assistant","content":null,"refusal":"no"})",
               R"([{"role":"assistant","content":[{"type":"text","text":"no"}]}])") == Lost{"0: refusal"});
    CHECK(lost(R"({"role":"user","content":"a","name":"ann"})", R"([{"role":"user","content":"a"}])") ==
          Lost{"0: member"});
    CHECK(lost(R"({"role":"assistant","content":"a","function_call":{"name":"f"}})",
               R"([{"role":"assistant","content":"a"}])") == Lost{"0: function_call"});
    CHECK(lost(R"({"role":"assistant","content":" \n"})", "[]") == Lost{"0: blank_text", "0: message"});
    CHECK(lost(R"({"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"b"}]})",
               R"([{"role":"user","content":[{"type":"text","text":"b"}]}])") == Lost{"0: blank_text"});
    CHECK(lost(R"({"role":"user","content":[{"type":"new"},{"type":"text","text":"b"}]})",
               R"([{"role":"user","content":[{"type":"text","text":"b"}]}])") == Lost{"0: item"});
    CHECK(lost(R"({"content":"order of members","role":"user"})",
               R"([{"role":"user","content":"order of members"}])") == Lost{"0: form"});
}

TEST_CASE("media that Anthropic cannot take become text, and are named", "[convert]") {
    CHECK(
        lost(
            R"({"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]})",
            R"([{"role":"user","content":[{"type":"text","text":"[audio/wav: 3 bytes that this format cannot hold]"}]}])") ==
        Lost{"0: media"});
    CHECK(lost(R"({"role":"user","content":[{"type":"file","file":{"file_id":"f-1"}}]})",
               R"([{"role":"user","content":[{"type":"text","text":"[file: f-1]"}]}])") == Lost{"0: media"});
    CHECK(lost(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x","detail":"low"}}]})",
               R"([{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}])") ==
          Lost{"0: member"});
    CHECK(
        lost(
            R"({"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},)"
            R"({"type":"input_image","image_url":"data:image/png;base64,BBBB"}]})",
            R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},)"
            R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"BBBB"}}]}])") ==
        Lost{"0: form"});
    const char* pdf = "data:application/pdf;base64,AAAA";
    CHECK(
        lost(
            R"({"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":")" + std::string(pdf) +
                R"("}}]})",
            R"([{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf",)"
            R"("data":"AAAA"},"title":"a.pdf"}]}])")
            .empty());
}

TEST_CASE("call ids outside Anthropic's alphabet get another spelling, the same in call and result", "[convert]") {
    const auto converted = from_openai(
        R"([{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[
            {"id":"functions.ls:0","type":"function","function":{"name":"ls","arguments":"{}"}}]},
            {"role":"tool","content":"x","tool_call_id":"functions.ls:0","name":"ls"}])");
    const std::string id = converted.messages.at(1).json()["content"][0]["id"];
    CHECK_THAT(id, Catch::Matchers::StartsWith("functions_ls"));
    CHECK(id.find_first_of(".:/") == std::string::npos);
    CHECK(converted.messages.at(2).json()["content"][0]["tool_use_id"] == id);
    CHECK(words(converted.losses) == Lost{"1: id", "2: id"});
    CHECK(validate(std::span<const anthropic::Message>(converted.messages), anthropic_messages()).empty());
}

TEST_CASE("calls without an id get one each, and results without one answer them in their order", "[convert]") {
    const std::string call = R"({"id":"","type":"function","function":{"name":"ls","arguments":"{}"}})";
    const std::string round = R"({"role":"assistant","content":null,"tool_calls":[)" + call + "," + call + R"(]},
        {"role":"tool","content":"1","tool_call_id":""},{"role":"tool","content":"2","tool_call_id":""})";
    const auto converted = from_openai(R"([{"role":"user","content":"go"},)" + round + "," + round + "]");
    CHECK(validate(std::span<const anthropic::Message>(converted.messages), anthropic_messages()).empty());
    const Json calls = converted.messages.at(1).json()["content"];
    const Json results = converted.messages.at(2).json()["content"];
    CHECK(calls[0]["id"] != calls[1]["id"]);
    CHECK(results[0]["tool_use_id"] == calls[0]["id"]);
    CHECK(results[1]["tool_use_id"] == calls[1]["id"]);
}

TEST_CASE("a system text that holds nothing is left out and named", "[convert]") {
    const auto there = from_openai(R"([{"role":"system","content":[]},{"role":"user","content":"go"}])");
    CHECK(there.system.is_null());
    CHECK(words(there.losses) == Lost{"0: message"});
    for (const char* system : {"{}", "[]", "\"\"", R"({"type":"text","text":"x"})"}) {
        const auto back = from_anthropic(R"([{"role":"user","content":"go"}])", Json::parse(system));
        CHECK(back.messages.size() == 1);
        CHECK(words(back.losses) == Lost{"1: message"});
    }
    const auto unknown = from_anthropic(R"([{"role":"user","content":"go"}])", Json::parse(R"([{"type":"new"}])"));
    CHECK(unknown.messages.size() == 1);
    CHECK(words(unknown.losses) == Lost{"1: block", "1: message"});
}

TEST_CASE("where the assistant speaks first, a user message that says so is put in front", "[convert]") {
    const auto converted = from_openai(
        R"([{"role":"system","content":"be brief"},{"role":"assistant","content":"hi"},{"role":"user","content":"go"}])");
    CHECK(dump(converted.messages) == R"json([{"role":"user","content":"(The assistant speaks first.)"},)json"
                                      R"({"role":"assistant","content":"hi"},{"role":"user","content":"go"}])");
    CHECK(words(converted.losses) == Lost{"1: first_speaker"});
}

TEST_CASE("what OpenAI has no place for is left out and named", "[convert]") {
    const auto lost = [](const std::string& blocks, const std::string& expected) {
        const auto converted = from_anthropic(R"([{"role":"assistant","content":[)" + blocks + "]}]");
        CHECK(dump(converted.messages) == expected);
        return words(converted.losses);
    };
    const std::string ok = R"({"type":"text","text":"ok"})";
    const std::string just_ok = R"([{"role":"assistant","content":[{"type":"text","text":"ok"}]}])";
    CHECK(lost(R"({"type":"thinking","thinking":"hm","signature":"S"},)" + ok, just_ok) == Lost{"0: thinking"});
    CHECK(lost(R"({"type":"redacted_thinking","data":"D"},)" + ok, just_ok) == Lost{"0: thinking"});
    CHECK(lost(R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}},)" + ok, just_ok) ==
          Lost{"0: block"});
    CHECK(lost(R"({"type":"compaction","content":null},)" + ok, just_ok) == Lost{"0: block"});
    CHECK(lost(R"({"type":"text","text":"ok","cache_control":{"type":"ephemeral"}})", just_ok) == Lost{"0: member"});
    CHECK(lost(R"({"type":"thinking","thinking":"hm","signature":"S"})", "[]") == Lost{"0: thinking", "0: message"});
    CHECK(lost(R"({"type":"tool_use","id":"a","name":"f","input":{}},)" + ok,
               R"([{"role":"assistant","content":"ok","tool_calls":[{"id":"a","type":"function",)"
               R"("function":{"name":"f","arguments":"{}"}}]}])") == Lost{"0: order"});
    CHECK(lost(R"({"type":"tool_use","id":"a","name":"f","input":"x"})",
               R"([{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",)"
               R"("function":{"name":"f","arguments":"\"x\""}}]}])") == Lost{"0: arguments"});
}

TEST_CASE("results, their media and the user's text become messages of their own", "[convert]") {
    const std::string session = R"([{"role":"user","content":[)"
                                R"({"type":"tool_result","tool_use_id":"a","is_error":true,"content":"no"},)"
                                R"({"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"see"},)"
                                R"({"type":"image","source":{"type":"url","url":"https://x"}}]},)"
                                R"({"type":"text","text":"and now?"}]}])";
    const auto converted = from_anthropic(session);
    CHECK(dump(converted.messages) ==
          R"([{"role":"tool","content":"no","tool_call_id":"a"},)"
          R"({"role":"tool","content":[{"type":"text","text":"see"}],"tool_call_id":"b"},)"
          R"({"role":"user","content":[{"type":"text","text":"[media of tool result b]"},)"
          R"({"type":"image_url","image_url":{"url":"https://x"}},{"type":"text","text":"and now?"}]}])");
    CHECK(words(converted.losses) == Lost{"0: is_error", "0: media", "0: boundary"});
    const auto inside = from_anthropic(session, nullptr, {.media_in_tool_messages = true});
    CHECK(inside.messages.at(1).json()["content"][1]["type"] == "image_url");
    CHECK(words(inside.losses) == Lost{"0: is_error", "0: boundary"});
}

TEST_CASE("a tool's name is written into its result where the call is known", "[convert]") {
    CHECK(from_anthropic(anthropic_session).messages.at(3).json()["name"] == "cat");
    CHECK_FALSE(
        from_anthropic(anthropic_session, nullptr, {.tool_names = false}).messages.at(3).json().contains("name"));
}

TEST_CASE("documents become files where they are PDFs, else text", "[convert]") {
    const auto converted = from_anthropic(R"([{"role":"user","content":[
        {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a.pdf"},
        {"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}},
        {"type":"document","source":{"type":"url","url":"https://x/y.pdf"}},
        {"type":"image","source":{"type":"file","file_id":"f"}}]}])");
    CHECK(converted.messages.at(0).json()["content"] == Json::parse(R"([
        {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}},
        {"type":"text","text":"plain"},{"type":"text","text":"[application/*: https://x/y.pdf]"},
        {"type":"text","text":"[image/*: f]"}])"));
    CHECK(words(converted.losses) == Lost{"0: media", "0: media", "0: media"});
}

TEST_CASE("a system text of blocks becomes one system message, and losses of it stand behind the last message",
          "[convert]") {
    const Json system = Json::parse(R"([{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}])");
    const auto converted = from_anthropic(R"([{"role":"user","content":"go"}])", system);
    CHECK(converted.messages.at(0).json().dump() == R"({"role":"system","content":[{"type":"text","text":"a"}]})");
    CHECK(words(converted.losses) == Lost{"1: member"});
    CHECK(from_anthropic("[]", "").messages.empty());
}
