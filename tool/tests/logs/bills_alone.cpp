// Calls whose messages a trace lacks (cut by an exporter, masked, not recorded) were billed all the same.
#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;

namespace {

using KindCounts = std::map<std::string, std::int64_t>;

const std::string alone_note = "call whose messages the log lacks, billed elsewhere";

/// A span of a model call; `messages`: JSON as a text, empty for none.
std::string otel_call(const std::string& trace, const std::string& id, int second, int input,
                      const std::string& messages) {
    using nlohmann::ordered_json;
    ordered_json attributes = ordered_json::array();
    const auto put = [&](const char* key, const char* type, const std::string& value) {
        attributes.push_back({{"key", key}, {"value", {{type, value}}}});
    };
    put("gen_ai.operation.name", "stringValue", "chat");
    put("gen_ai.request.model", "stringValue", "gpt-5");
    put("gen_ai.response.id", "stringValue", "r-" + id);
    put("gen_ai.usage.input_tokens", "intValue", std::to_string(input));
    put("gen_ai.usage.output_tokens", "intValue", "7");
    if (!messages.empty()) put("gen_ai.input.messages", "stringValue", messages);
    put("gen_ai.output.messages", "stringValue", R"([{"role":"assistant","parts":[{"type":"text","content":"ok"}]}])");
    ordered_json record;
    record["resourceSpans"][0]["scopeSpans"][0]["spans"][0] = {
        {"traceId", trace},
        {"spanId", id},
        {"startTimeUnixNano", std::to_string(1'700'000'000 + second) + "000000000"},
        {"attributes", attributes}};
    return record.dump() + "\n";
}

const std::string whole_messages = R"([{"role":"user","parts":[{"type":"text","content":"go"}]}])";

std::string generation(const std::string& id, const std::string& parent, const std::string& input, int tokens) {
    return R"({"id":")" + id + R"(","traceId":"t1","type":"GENERATION","startTime":"2026-05-05T08:00:01.000Z",)" +
           R"("parentObservationId":)" + (parent.empty() ? "null" : '"' + parent + '"') +
           R"(,"model":"gpt-5","input":)" + input +
           (tokens == 0 ? std::string() : R"(,"usageDetails":{"input":)" + std::to_string(tokens) + R"(,"output":3})") +
           R"(,"output":{"role":"assistant","content":"ok"}})" + "\n";
}

const std::string whole_input = R"([{"role":"user","content":"go"}])";

std::string smith_run(const std::string& id, const std::string& inputs, const std::string& outputs, int tokens) {
    return R"({"run_type":"llm","id":")" + id + R"(","trace_id":"t1","start_time":"2026-04-02T08:00:00",)" +
           R"("inputs":)" + inputs + R"(,"outputs":)" + outputs +
           R"(,"extra":{"metadata":{"ls_model_name":"gpt-5"}},"prompt_tokens":)" + std::to_string(tokens) +
           R"(,"completion_tokens":4})" + "\n";
}

}  // namespace

TEST_CASE("a span whose messages were cut or not recorded keeps its bill", "[logs]") {
    for (const std::string& messages : {whole_messages.substr(0, 40), std::string()}) {
        const ReadLog log = read_text_as(otel_call("t", "a", 1, 5'000, messages), Format::otel);
        REQUIRE(log.sessions.size() == 1);
        CHECK(log.sessions[0].recording.messages.empty());
        CHECK(log.sessions[0].calls_elsewhere == 1);
        CHECK(billed(log.sessions[0]) == Usage{5'000, 0, 0, 7});
        CHECK(log.sessions[0].elsewhere.at(0).id == "r-a");
        CHECK(log.sessions[0].elsewhere[0].model == "gpt-5");
        CHECK(log.notes.left_out == KindCounts{{alone_note, 1}});
        CHECK(log.notes.unknown == (messages.empty() ? KindCounts{} : KindCounts{{"attribute that is no JSON", 1}}));
    }
}

TEST_CASE("calls whose messages grew past a limit are billed in the session of their trace", "[logs]") {
    const ReadLog log = read_text_as(
        otel_call("t", "a", 1, 100, whole_messages) + otel_call("t", "b", 2, 200, whole_messages.substr(0, 30)) +
            otel_call("u", "c", 3, 400, "") + otel_call("u", "d", 4, 800, "") +
            otel_call("v", "e", 5, 1'600, R"([{"role":"user","parts":[{"type":"text","content":"x"}]}])"),
        Format::otel);
    REQUIRE(log.sessions.size() == 3);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{100, 0, 0, 7}});
    CHECK(log.sessions[0].billed_elsewhere == Usage{200, 0, 0, 7});
    CHECK(log.sessions[1].billed_elsewhere == Usage{});
    CHECK(log.sessions[2].recording.messages.empty());
    CHECK(log.sessions[2].calls_elsewhere == 2);
    CHECK(log.sessions[2].billed_elsewhere == Usage{1'200, 0, 0, 14});
    CHECK(log.notes.left_out == KindCounts{{alone_note, 3}});
}

TEST_CASE("a generation whose input is masked keeps its bill", "[logs]") {
    for (const char* masked : {"null", R"("<masked>")"}) {
        const ReadLog log = read_text_as(generation("o1", "", masked, 5'000), Format::langfuse);
        REQUIRE(log.sessions.size() == 1);
        CHECK(billed(log.sessions[0]) == Usage{5'000, 0, 0, 3});
        CHECK(log.sessions[0].elsewhere.at(0).id == "o1");
        CHECK(log.sessions[0].elsewhere[0].model == "gpt-5");
        CHECK(log.notes.left_out == KindCounts{{alone_note, 1}});
    }
}

TEST_CASE("of generations within each other one without messages is billed no second time", "[logs]") {
    const ReadLog inner =
        read_text_as(generation("o1", "", "null", 50) + generation("o2", "o1", whole_input, 40), Format::langfuse);
    REQUIRE(inner.sessions.size() == 1);
    CHECK(roles_of(inner.sessions[0]) == "ua");
    CHECK(billed(inner.sessions[0]) == Usage{40, 0, 0, 3});
    const ReadLog outer = read_text_as(
        generation("o1", "", whole_input, 0) + generation("o2", "o1", "null", 0) + generation("o3", "o2", "null", 40),
        Format::langfuse);
    REQUIRE(outer.sessions.size() == 1);
    CHECK(usage_of(outer.sessions[0]) == std::vector<Usage>{{40, 0, 0, 3}});
    CHECK(outer.sessions[0].calls_elsewhere == 0);
    const ReadLog both = read_text_as(
        generation("o1", "", "null", 90) + generation("o2", "o1", "null", 40) + generation("o3", "o1", "null", 50),
        Format::langfuse);
    REQUIRE(both.sessions.size() == 1);
    CHECK(billed(both.sessions[0]) == Usage{90, 0, 0, 6});
    const ReadLog circle =
        read_text_as(generation("o1", "o2", "null", 9) + generation("o2", "o1", "null", 4), Format::langfuse);
    REQUIRE(circle.sessions.size() == 1);
    CHECK(billed(circle.sessions[0]) == Usage{13, 0, 0, 6});
}

TEST_CASE("a run whose inputs are hidden keeps its bill", "[logs]") {
    for (const char* outputs : {"{}", "null", R"({"choices":[{"message":{"role":"assistant","content":"ok"}}]})"}) {
        const ReadLog log = read_text_as(smith_run("q1", "{}", outputs, 5'000), Format::langsmith);
        REQUIRE(log.sessions.size() == 1);
        CHECK(billed(log.sessions[0]) == Usage{5'000, 0, 0, 4});
        CHECK(log.sessions[0].elsewhere.at(0).id == "q1");
        CHECK(log.sessions[0].elsewhere[0].model == "gpt-5");
    }
    const ReadLog shown = read_text_as(
        smith_run("q1", R"({"messages":[{"role":"user","content":"go"}]})", "null", 5'000), Format::langsmith);
    CHECK(billed(shown.sessions.at(0)) == Usage{5'000, 0, 0, 4});
}

TEST_CASE("a response keeps its bill where its request was cut", "[logs]") {
    const std::string response =
        R"("response":{"id":"c1","model":"m","choices":[{"message":{"role":"assistant","content":"ok"}}],)"
        R"("usage":{"prompt_tokens":90,"completion_tokens":4}}})"
        "\n";
    for (const char* request : {R"({"request":"{\"messages\":[{\"role\":\"us",)", R"({"request":{"model":"m"},)"}) {
        const ReadLog log = read_text_as(request + response, Format::exchanges);
        REQUIRE(log.sessions.size() == 1);
        CHECK(billed(log.sessions[0]) == Usage{90, 0, 0, 4});
        CHECK(log.sessions[0].elsewhere.at(0).id == "c1");
    }
    const ReadLog items =
        read_text_as(R"({"request":"{\"input\":[{","response":{"id":"p1","output":[],"usage":{"input_tokens":90,)"
                     R"("input_tokens_details":{"cached_tokens":40},"output_tokens":4}}})",
                     Format::exchanges);
    CHECK(billed(items.sessions.at(0)) == Usage{50, 40, 0, 4});
    const ReadLog har = read_text_as(
        R"({"log":{"version":"1.2","creator":{},"entries":[{"request":{"url":"https://x/v1/chat/completions"},)"
        R"("response":{"content":{"text":"{\"id\":\"c1\",\"choices\":[{\"message\":{\"role\":\"assistant\",)"
        R"(\"content\":\"ok\"}}],\"usage\":{\"prompt_tokens\":90,\"completion_tokens\":4}}"}}},)"
        R"({"request":{"url":"https://x/"},"response":{"content":{"text":"{}"}}}]}})",
        Format::har);
    CHECK(billed(har.sessions.at(0)) == Usage{90, 0, 0, 4});
    CHECK(har.notes.left_out == KindCounts{{alone_note, 1}, {"entry that is no request to a model", 1}});
    const ReadLog embedding = read_text_as(
        R"({"request":{"model":"e","input":["a"]},"response":{"data":[],"usage":{"prompt_tokens":9,"total_tokens":9}}})",
        Format::exchanges);
    CHECK(embedding.sessions.empty());
    CHECK(embedding.notes.unknown == KindCounts{{"request without messages", 1}});
}
