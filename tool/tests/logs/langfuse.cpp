#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;
using nlohmann::ordered_json;

namespace {

/// A generation a line, with the input and the output given.
std::string generation(int second, const std::string& input, const std::string& output, const std::string& more = "") {
    const std::string number = std::to_string(second);
    return R"({"id":"o)" + number + R"(","traceId":"t","type":"GENERATION","startTime":"2026-03-05T09:00:0)" + number +
           R"(Z","model":"m","input":)" + input + R"(,"output":)" + output + more + "}\n";
}

}  // namespace

TEST_CASE("calls and tools in Langfuse that its callback for LangChain wrote become OpenAI's", "[logs]") {
    const std::string user = R"({"role":"user","content":"noon?"})";
    const std::string call =
        R"({"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1",)"
        R"("name":"clock","input":{}}],
            "tool_calls":[{"name":"clock","args":{"zone":"UTC"},"id":"c1","type":"tool_call"}],
            "invalid_tool_calls":[{"name":"clock","args":"{zo","id":"c2","error":null,"type":"invalid_tool_call"}]})";
    const std::string results =
        R"({"role":"tool","content":"yes","tool_call_id":"c1"},{"role":"tool","content":"no","tool_call_id":"c2"})";
    const std::string tool =
        R"({"role":"tool","content":{"type":"function","function":{"name":"clock","description":"d",)"
        R"("parameters":{}}}})";
    std::string log_text =
        generation(1, "[" + user + "," + tool + "]", call) +
        generation(
            2, "[" + user + "," + call + "," + results + "," + tool + "]",
            R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Yes."}]})");
    std::erase(log_text, '\n');
    log_text.insert(log_text.find("}{\"id\":\"o2\"") + 1, "\n");
    const ReadLog log = read_text_as(log_text, Format::langfuse);
    REQUIRE(log.sessions.size() == 1);
    const auto& messages = log.sessions[0].recording.messages;
    CHECK(roles_of(log.sessions[0]) == "uatta");
    CHECK(log.sessions[0].recording.tools.at(0).name == "clock");
    CHECK(messages[1].json()["content"] == "I look.");
    const auto& calls = messages[1].json()["tool_calls"];
    REQUIRE(calls.size() == 2);
    CHECK(calls[0]["function"]["arguments"] == R"({"zone":"UTC"})");
    CHECK(calls[1]["function"]["arguments"] == "{zo");
    CHECK_FALSE(messages[1].json().contains("invalid_tool_calls"));
    CHECK(messages[4].json()["content"] == "Yes.");
    CHECK(log.notes.unknown.empty());
}

TEST_CASE("tools of Langfuse that are null beside the messages take none away", "[logs]") {
    const std::string messages =
        R"([{"role":"user","content":"a"},{"role":"tool","content":{"type":"function","function":{"name":"clock",)"
        R"("parameters":{}}}}])";
    const ReadLog log = read_text_as(
        generation(1, R"({"messages":)" + messages + R"(,"system":null,"tools":null})", R"("b")"), Format::langfuse);
    REQUIRE(log.sessions.size() == 1);
    REQUIRE(log.sessions[0].recording.tools.size() == 1);
    CHECK(log.sessions[0].recording.tools[0].name == "clock");
    CHECK(log.notes.damaged == 0);
}

TEST_CASE("parts of Vercel's AI SDK become calls and results", "[logs]") {
    const ReadLog log = read_text_as(
        generation(
            1,
            R"([{"role":"user","content":[{"type":"text","text":"noon?"}]},{"role":"assistant","content":[)"
            R"({"type":"reasoning","text":"hm"},{"type":"text","text":"I look."},)"
            R"({"type":"tool-call","toolCallId":"c1","toolName":"clock","input":{"zone":"UTC"}},)"
            R"({"type":"tool-call","toolCallId":"c2","toolName":"clock","args":{}}]},{"role":"tool","content":[)"
            R"({"type":"tool-result","toolCallId":"c1","toolName":"clock","output":{"type":"text","value":"yes"}},)"
            R"({"type":"tool-result","toolCallId":"c2","toolName":"clock","result":{"hour":12}}]}])",
            R"("Yes.")"),
        Format::langfuse);
    REQUIRE(log.sessions.size() == 1);
    const auto& messages = log.sessions[0].recording.messages;
    CHECK(roles_of(log.sessions[0]) == "uatta");
    CHECK(messages[1].json()["content"] == "I look.");
    CHECK(messages[1].json()["tool_calls"][0]["function"]["arguments"] == R"({"zone":"UTC"})");
    CHECK(messages[2].json() == ordered_json{{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "yes"}});
    CHECK(messages[3].json()["content"] == R"({"hour":12})");
}

TEST_CASE("blocks alone are a reply in Langfuse", "[logs]") {
    const ReadLog log =
        read_text_as(generation(1, R"([{"role":"user","content":"a"}])",
                                R"([{"type":"text","text":"b"},{"type":"tool_use","id":"t1","name":"n","input":{}}])"),
                     Format::langfuse);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].recording.messages[1].json()["content"][1]["id"] == "t1");
    CHECK(log.notes.left_out.empty());
}

TEST_CASE("counts of Langfuse that are part of others are billed once", "[logs]") {
    const auto usage_of_details = [](const std::string& details) {
        const ReadLog log =
            read_text_as(generation(1, R"([{"role":"user","content":"a"}])", R"("b")", R"(,"usageDetails":)" + details),
                         Format::langfuse);
        CHECK(log.notes.unknown.empty());
        return usage_of(log.sessions.at(0)).at(0);
    };
    CHECK(usage_of_details(R"({"input":3,"output":7,"total":90,"cache_read_input_tokens":40,
        "cache_creation_input_tokens":40,"cache_creation_ephemeral_5m_input_tokens":30,
        "cache_creation_ephemeral_1h_input_tokens":10})") == Usage{3, 40, 40, 7, 30, 10});
    CHECK(usage_of_details(R"({"input":3,"output":7,"input_cache_read":40,"input_cache_creation":0,
        "input_ephemeral_5m_input_tokens":30})") == Usage{3, 40, 30, 7, 30});
    CHECK(usage_of_details(R"({"input":3,"output":7,"input_cache_creation":5,"input_cache_creation_5m":30})") ==
          Usage{3, 0, 35, 7, 30});
    CHECK(usage_of_details(R"({"input":90,"output":7,"input_priority":50,"input_priority_cache_read":40,
        "output_priority":7})") == Usage{50, 40, 0, 7});
    CHECK(usage_of_details(R"({"input":0,"output":0,"input_flex":50,"input_flex_cache_read":40,"output_flex":7})") ==
          Usage{50, 40, 0, 7});
}

TEST_CASE("items of the Responses interface are a request and a reply in Langfuse, with a body around them or without",
          "[logs]") {
    const std::string user = R"({"role":"user","content":"noon?"})";
    const std::string call = R"({"type":"function_call","id":"f1","call_id":"c1","name":"clock","arguments":"{}"})";
    const std::string result = R"({"type":"function_call_output","call_id":"c1","output":"yes"})";
    const std::string said =
        R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]})";
    const auto listed = [](const std::string& items) { return "[" + items + "]"; };
    const auto with_tools = [](const std::string& items) {
        return R"({"input":[)" + items + R"(],"tools":[{"type":"function","name":"clock","parameters":{}}]})";
    };
    const std::string all = user + "," + call + "," + result;
    for (const std::string& text :
         {generation(1, with_tools(user), call) + generation(2, with_tools(all), said),
          generation(1, listed(user), listed(R"({"type":"reasoning","summary":[]},)" + call)) +
              generation(2, listed(all), listed(said)),
          generation(1, R"("noon?")", call) + generation(2, listed(all), said)}) {
        CAPTURE(text);
        const ReadLog log = read_text_as(text, Format::langfuse);
        REQUIRE(log.sessions.size() == 1);
        CHECK(roles_of(log.sessions[0]) == "uata");
        CHECK(replies_of(log.sessions[0]) == std::vector<std::size_t>{1, 3});
        CHECK(log.sessions[0].calls[0].id == "o1");
        CHECK(log.sessions[0].recording.messages[3].json()["content"] == "Yes.");
        CHECK(log.notes.unknown.empty());
    }
}

TEST_CASE("a generation within one of Langfuse is the same call", "[logs]") {
    const std::string user = R"([{"role":"user","content":"a"}])";
    const ReadLog log = read_text_as(
        generation(1, user, R"("b")") +
            generation(2, user, R"("b")", R"(,"parentObservationId":"o1","usageDetails":{"input":9,"output":2})") +
            generation(3, user, "null", R"(,"level":"ERROR","statusMessage":"overloaded")"),
        Format::langfuse);
    REQUIRE(log.sessions.size() == 1);
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{9, 0, 0, 2}});
    CHECK(log.sessions[0].calls_elsewhere == 0);
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"generation within one of the same call", 1},
                                                                    {"request that failed", 1}});
}
