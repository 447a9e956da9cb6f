// What was billed for a call, and what only looks like a bill.
#include "claude_lines.hpp"
#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;
using logs::Session;

namespace {

const std::string zero_usage =
    R"("input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0)";

/// A request with one prompt and its response, which has these members.
std::string exchange_line(const std::string& response) {
    return R"({"request":{"model":"m","messages":[{"role":"user","content":"hi"}]},"response":{)" + response + "}}\n";
}

/// As one call of a trace was billed.
Usage billed_in(const std::string& text, Format format) {
    std::string line = text;
    std::erase(line, '\n');
    const ReadLog log = read_text_as(line + "\n", format);
    CHECK(log.notes.unknown.empty());
    return usage_of(log.sessions.at(0)).at(0);
}

Usage billed_in_langfuse(const std::string& details) {
    return billed_in(R"({"id":"o","traceId":"t","type":"GENERATION","startTime":"2026-03-05T09:00:00Z","model":"m",
        "input":[{"role":"user","content":"a"}],"output":"b","usageDetails":)" +
                         details + "}",
                     Format::langfuse);
}

Usage billed_in_otel(const std::vector<std::pair<std::string, int>>& counts) {
    std::string attributes = R"({"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
        {"key":"gen_ai.input.messages","value":{"stringValue":
        "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"a\"}]}]"}},
        {"key":"gen_ai.output.messages","value":{"stringValue":
        "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"b\"}]}]"}})";
    for (const auto& [key, count] : counts)
        attributes += R"(,{"key":")" + key + R"(","value":{"intValue":")" + std::to_string(count) + R"("}})";
    return billed_in(R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s",
        "startTimeUnixNano":"1","attributes":[)" +
                         attributes + "]}]}]}]}",
                     Format::otel);
}

Usage billed_in_langsmith(const std::string& metadata) {
    return billed_in(R"({"id":"r","run_type":"llm","start_time":"2026-03-05T09:00:00",
        "inputs":{"messages":[{"role":"user","content":"a"}]},"outputs":{"message":
        {"role":"assistant","content":"b","usage_metadata":)" +
                         metadata + "}}}",
                     Format::langsmith);
}

Usage billed_in_opencode(const std::string& tokens) {
    return billed_in(R"({"info":{"id":"ses_1","directory":"/w","projectID":"p"},"messages":[
        {"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"a"}]},
        {"info":{"id":"m2","role":"assistant","modelID":"m","tokens":)" +
                         tokens + R"(},
        "parts":[{"type":"text","text":"b"}]}]})",
                     Format::opencode);
}

}  // namespace

TEST_CASE("usage of nothing but zeros is no bill", "[logs]") {
    const ReadLog log =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one"), zero_usage) +
                    claude_reply("a2", "a1", "m2", claude_text("two"), R"("output_tokens":3)", ""));
    const Session& session = log.sessions.at(0);
    REQUIRE(session.calls.size() == 2);
    CHECK_FALSE(session.calls[0].usage);
    CHECK(session.calls[1].usage == Usage{0, 0, 0, 3});
    CHECK(session.recording.usage_by_call.size() == 1);

    const Session answered =
        read_text_as(exchange_line(R"("id":"r","role":"assistant","content":[],"usage":{)" + zero_usage + "}"),
                     Format::exchanges)
            .sessions.at(0);
    CHECK(answered.calls.size() == 1);
    CHECK_FALSE(answered.calls.at(0).usage);
}

TEST_CASE("usage of zeros is no bill of calls whose replies are no message either", "[logs]") {
    const Session rewound =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one"), zero_usage) +
                    claude_prompt("u2", "u1", "again") + claude_prompt("u3", "u1", "other"))
            .sessions.at(0);
    CHECK(rewound.calls_elsewhere == 1);
    CHECK_FALSE(rewound.elsewhere.at(0).usage);

    const ReadLog failed =
        read_text_as(exchange_line(R"("error":{"type":"overloaded"},"usage":{)" + zero_usage + "}"), Format::exchanges);
    CHECK(failed.sessions.empty());
    CHECK(failed.notes.left_out == std::map<std::string, std::int64_t>{{"request that failed", 1}});
}

TEST_CASE("sums of a session that are zeros are no bill of it", "[logs]") {
    const auto billed_in_all = [](const std::string& sent) {
        return read_text_as(R"({"environment":"e","history":[{"role":"user","content":"a"},)"
                            R"({"role":"assistant","content":"b"}],"trajectory":[],"info":{"model_stats":)"
                            R"({"tokens_sent":)" +
                                sent + R"(,"tokens_received":0}}})",
                            Format::swe_agent)
            .sessions.at(0)
            .billed_in_all;
    };
    CHECK(billed_in_all("7") == Usage{7, 0, 0, 0});
    CHECK_FALSE(billed_in_all("0"));
}

TEST_CASE("a trace's call whose own usage is zeros has the bill of the one within it", "[logs]") {
    const auto run = [](const std::string& id, const std::string& parent, const std::string& usage) {
        return R"({"id":")" + id + R"(","parent_run_id":)" + (parent.empty() ? "null" : '"' + parent + '"') +
               R"(,"run_type":"llm","start_time":"2026-03-05T09:00:00","inputs":{"messages":)"
               R"([{"role":"user","content":"a"}]},"outputs":{"choices":[{"message":)"
               R"({"role":"assistant","content":"b"}}],"usage":)" +
               usage + "}}\n";
    };
    const ReadLog log = read_text_as(run("a", "", R"({"prompt_tokens":0,"completion_tokens":0})") +
                                         run("b", "a", R"({"prompt_tokens":9,"completion_tokens":2})"),
                                     Format::langsmith);
    CHECK(usage_of(log.sessions.at(0)) == std::vector<Usage>{{9, 0, 0, 2}});
}

TEST_CASE("a response without a reply is unknown, and no bill", "[logs]") {
    const ReadLog log = read_text_as(exchange_line(R"("status":200,"body":"cut")"), Format::exchanges);
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"response that holds no reply", 1}});
    CHECK(log.notes.left_out.empty());
    CHECK_FALSE(log.sessions.at(0).elsewhere.at(0).usage);
}

TEST_CASE("the total of Langfuse's counts tells whether the input holds what the cache did", "[logs]") {
    CHECK(billed_in_langfuse(R"({"input":900,"output":40,"input_cached_tokens":800,"total":940})") ==
          Usage{100, 800, 0, 40});
    CHECK(billed_in_langfuse(R"({"input":900,"output":40,"cache_creation_input_tokens":700,
        "cache_read_input_tokens":0,"cache_creation_ephemeral_1h_input_tokens":700,"total":940})") ==
          Usage{200, 0, 700, 40, 0, 700});
    CHECK(billed_in_langfuse(R"({"input":100,"output":40,"input_cached_tokens":800,"total":940})") ==
          Usage{100, 800, 0, 40});
    CHECK(billed_in_langfuse(R"({"input":900,"output":40,"input_cached_tokens":800})") == Usage{900, 800, 0, 40});
    CHECK(billed_in_langfuse(R"({"input":900,"output":40,"input_cached_tokens":800,"total":7})") ==
          Usage{900, 800, 0, 40});
    CHECK(billed_in_langfuse(R"({"input":100,"output":40,"input_cached_tokens":800,"total":140})") ==
          Usage{100, 800, 0, 40});  // no input holds more than itself
    CHECK(billed_in_langfuse(R"({"input":90,"output":7,"input_priority":50,"input_priority_cache_read":40,
        "output_priority":7,"total":97})") == Usage{50, 40, 0, 7});
    // The same of the output
    const std::string reasoning = R"({"input":100,"output":40,"output_reasoning_tokens":30,"input_cached_tokens":80)";
    CHECK(billed_in_langfuse(reasoning + "}") == Usage{100, 80, 0, 70});
    CHECK(billed_in_langfuse(reasoning + R"(,"total":250})") == Usage{100, 80, 0, 70});
    CHECK(billed_in_langfuse(reasoning + R"(,"total":220})") == Usage{100, 80, 0, 40});
    CHECK(billed_in_langfuse(reasoning + R"(,"total":170})") == Usage{20, 80, 0, 70});
    CHECK(billed_in_langfuse(reasoning + R"(,"total":140})") == Usage{20, 80, 0, 40});
}

TEST_CASE("a total tells where the cache stands in other formats too", "[logs]") {
    for (const std::string total : {"gen_ai.usage.total_tokens", "llm.token_count.total"}) {
        const auto counts = [&](int input, int sum) {
            return billed_in_otel({{"gen_ai.usage.input_tokens", input},
                                   {"gen_ai.usage.output_tokens", 40},
                                   {"gen_ai.usage.cache_read.input_tokens", 80},
                                   {total, sum}});
        };
        CHECK(counts(900, 940) == Usage{820, 80, 0, 40});
        CHECK(counts(900, 1'020) == Usage{900, 80, 0, 40});
        CHECK(counts(900, 5) == Usage{820, 80, 0, 40});
    }
    const std::string metadata = R"({"input_tokens":900,"output_tokens":40,"input_token_details":{"cache_read":80})";
    CHECK(billed_in_langsmith(metadata + "}") == Usage{820, 80, 0, 40});
    CHECK(billed_in_langsmith(metadata + R"(,"total_tokens":1020})") == Usage{900, 80, 0, 40});
    const std::string tokens = R"({"input":900,"output":40,"reasoning":8,"cache":{"read":80,"write":0})";
    CHECK(billed_in_opencode(tokens + "}") == Usage{900, 80, 0, 48});
    CHECK(billed_in_opencode(tokens + R"(,"total":1028})") == Usage{900, 80, 0, 48});
    CHECK(billed_in_opencode(tokens + R"(,"total":1020})") == Usage{900, 80, 0, 40});
    CHECK(billed_in_opencode(tokens + R"(,"total":940})") == Usage{820, 80, 0, 40});
    CHECK(billed_in_opencode(tokens + R"(,"total":948})") == Usage{820, 80, 0, 48});
    const auto chat = [](const std::string& total) {
        return usage_of(
                   read_text_as(exchange_line(R"("choices":[{"message":{"role":"assistant","content":"b"}}],"usage":)"
                                              R"({"prompt_tokens":900,"completion_tokens":40,"total_tokens":)" +
                                              total + R"(,"prompt_tokens_details":{"cached_tokens":80}})"),
                                Format::exchanges)
                       .sessions.at(0))
            .at(0);
    };
    CHECK(chat("940") == Usage{820, 80, 0, 40});
    CHECK(chat("1020") == Usage{900, 80, 0, 40});
}
