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

/// A run of a model a line, with the messages and the output given.
std::string model_run(int second, const std::string& messages, const std::string& output) {
    return R"({"id":"r)" + std::to_string(second) + R"(","run_type":"llm","start_time":"2026-04-01T08:00:0)" +
           std::to_string(second) + R"(","inputs":{"messages":[)" + messages + R"(]},"outputs":)" + output + "}\n";
}

}  // namespace

TEST_CASE("calls that LangSmith's wrapper of Anthropic's client turned around are blocks again", "[logs]") {
    const std::string asked = R"({"role":"system","content":"Be kind."},{"role":"user","content":"noon?"})";
    const std::string call =
        R"({"id":"t1","type":"function","index":0,"function":{"name":"clock","arguments":"{\"zone\":\"UTC\"}"}})";
    const ReadLog log = read_text_as(
        model_run(1, asked,
                  R"({"id":"msg_1","role":"assistant","stop_reason":"tool_use","content":"I look.","tool_calls":[)" +
                      call + "]}") +
            model_run(2,
                      asked + R"(,{"role":"assistant","content":[{"type":"text","text":"I look."},)" +
                          R"({"type":"tool_use","id":"t1","name":"clock","input":{"zone":"UTC"}}]},)" +
                          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"yes"}]})",
                      R"({"id":"msg_2","role":"assistant","stop_reason":"end_turn","content":[{"type":"text",)"
                      R"("text":"Yes."}]})"),
        Format::langsmith);
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].recording.system == "Be kind.");
    CHECK(roles_of(log.sessions[0]) == "uaua");
    CHECK(log.sessions[0].recording.messages[1].json() ==
          ordered_json::parse(R"({"role":"assistant","content":[{"type":"text","text":"I look."},
              {"type":"tool_use","id":"t1","name":"clock","input":{"zone":"UTC"}}]})"));
    CHECK(log.sessions[0].calls[0].id == "msg_1");
}

TEST_CASE("what was read from the cache may be told apart by service tier and length", "[logs]") {
    const auto usage_of_details = [](const std::string& details) {
        const ReadLog log = read_text_as(
            model_run(1, R"({"role":"user","content":"a"})",
                      R"({"role":"assistant","content":"b","usage_metadata":{"input_tokens":90,"output_tokens":7,)"
                      R"("input_token_details":)" +
                          details + "}}"),
            Format::langsmith);
        return usage_of(log.sessions.at(0)).at(0);
    };
    CHECK(usage_of_details(R"({"flex_cache_read":40,"flex":50})") == Usage{50, 40, 0, 7});
    CHECK(usage_of_details(R"({"priority_cache_read":40,"priority":50})") == Usage{50, 40, 0, 7});
    CHECK(usage_of_details(R"({"cache_read":40,"cache_read_over_200k":20,"over_200k":10})") == Usage{30, 60, 0, 7});
    CHECK(usage_of_details(R"({"cache_creation":40,"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":10})") ==
          Usage{50, 0, 40, 7, 30, 10});
}

TEST_CASE("a model's role in Gemini is the assistant's", "[logs]") {
    const ReadLog log = read_text_as(
        model_run(1, R"({"role":"user","content":"a"})", R"({"role":"assistant","content":"b"})") +
            model_run(2,
                      R"({"role":"user","content":"a"},{"role":"model","content":"b"},{"role":"user","content":"c"})",
                      R"({"role":"assistant","content":"d"})"),
        Format::langsmith);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "uaua");
    CHECK(log.notes.damaged == 0);
}

TEST_CASE("a call of Gemini that is sent back without an id is the one of its place", "[logs]") {
    const ReadLog log = read_text_as(
        model_run(1, R"({"role":"user","content":"a"})",
                  R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function",)"
                  R"("function":{"name":"n","arguments":"{\"x\":1}"}}]})") +
            model_run(2,
                      R"({"role":"user","content":"a"},{"role":"model","content":[{"type":"function_call",)"
                      R"("function_call":{"id":null,"name":"n","arguments":{"x":1}}}]},{"role":"user","content":"b"})",
                      R"({"role":"assistant","content":"c"})"),
        Format::langsmith);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "uaua");
    CHECK(log.sessions[0].recording.messages[1].json()["tool_calls"][0]["function"]["name"] == "n");
}

TEST_CASE("states that a graph of LangChain wrote one after the other are one session", "[logs]") {
    const std::string asked = R"({"type":"human","content":"a","additional_kwargs":{},"id":"h1"})";
    const std::string said = R"({"type":"ai","content":"b","additional_kwargs":{},"id":"run--1",)"
                             R"("usage_metadata":{"input_tokens":9,"output_tokens":2}})";
    const std::string other = R"({"type":"ai","content":"b","additional_kwargs":{},"id":"run--2"})";
    const auto state = [](const std::string& messages) { return R"({"messages":[)" + messages + "]}\n"; };
    const ReadLog log = read_text_as(
        state(asked) + state(asked + "," + said) + state(asked) + state(asked + "," + other), Format::langsmith);
    REQUIRE(log.sessions.size() == 2);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].calls[0].id == "run--1");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{9, 0, 0, 2}});
    CHECK(log.sessions[1].calls[0].id == "run--2");
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"messages that another state holds too", 2}});
    const std::string nameless = R"({"type":"human","content":"a","additional_kwargs":{}})";
    CHECK(read_text_as(state(nameless) + state(nameless), Format::langsmith).sessions.size() == 2);
}

TEST_CASE("messages of LangChain that stand alone in front of a list are no part of it", "[logs]") {
    const auto human = [](const std::string& text) {
        return R"({"type":"human","content":")" + text + R"(","additional_kwargs":{}})";
    };
    const ReadLog log = read_text_as(
        human("a") + "\n" + human("b") + "\n" + R"({"messages":[)" + human("c") + "]}\n" + human("d") + "\n",
        Format::langsmith);
    REQUIRE(log.sessions.size() == 3);
    CHECK(roles_of(log.sessions[0]) == "uu");
    CHECK(log.sessions[1].recording.messages.at(0).json()["content"] == "c");
    CHECK(roles_of(log.sessions[2]) == "u");
}

TEST_CASE("older LangChain and LangChain.js say what was billed beside the message", "[logs]") {
    const ReadLog dumped = read_text_as(
        R"([{"type":"human","content":"a","additional_kwargs":{}},{"type":"ai","content":"b","additional_kwargs":{},)"
        R"("response_metadata":{"token_usage":{"prompt_tokens":9,"completion_tokens":2}}}])",
        Format::langsmith);
    CHECK(usage_of(dumped.sessions.at(0)) == std::vector<Usage>{{9, 0, 0, 2}});
    const std::string counts = R"({"tokenUsage":{"promptTokens":9,"completionTokens":2,"totalTokens":11}})";
    const auto usage_of_output = [](const std::string& of_message, const std::string& of_call) {
        const ReadLog log = read_text_as(
            model_run(1, R"({"type":"human","content":"a"})",
                      R"({"generations":[[{"message":{"type":"ai","data":{"content":"b","response_metadata":)" +
                          of_message + R"(}}}]],"llmOutput":)" + of_call + "}"),
            Format::langsmith);
        return usage_of(log.sessions.at(0)).at(0);
    };
    CHECK(usage_of_output(counts, "{}") == Usage{9, 0, 0, 2});
    CHECK(usage_of_output("{}", counts) == Usage{9, 0, 0, 2});
}
