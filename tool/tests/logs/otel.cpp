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
using nlohmann::ordered_json;
using Counts = std::map<std::string, std::int64_t>;
using Attributes = std::vector<std::pair<std::string, ordered_json>>;

namespace {

ordered_json otlp_attributes(const Attributes& attributes) {
    ordered_json list = ordered_json::array();
    for (const auto& [key, value] : attributes) {
        ordered_json typed = ordered_json::object();
        typed[value.is_number() ? "intValue" : "stringValue"] = value.is_number() ? ordered_json(value.dump()) : value;
        list.push_back({{"key", key}, {"value", std::move(typed)}});
    }
    return list;
}

/// A span that began at this second.
ordered_json span(const std::string& id, const std::string& parent, int second, const Attributes& attributes) {
    return {{"traceId", "t"},
            {"spanId", id},
            {"parentSpanId", parent},
            {"startTimeUnixNano", std::to_string(1'700'000'000 + second) + "000000000"},
            {"attributes", otlp_attributes(attributes)}};
}

std::string export_of(const std::vector<ordered_json>& spans) {
    ordered_json record;
    record["resourceSpans"][0]["scopeSpans"][0]["spans"] = spans;
    return record.dump() + "\n";
}

std::string export_of_log(const ordered_json& log_record) {
    ordered_json record;
    record["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] = log_record;
    return record.dump() + "\n";
}

std::string said(const std::string& role, const std::string& text) {
    return R"([{"role":")" + role + R"(","parts":[{"type":"text","content":")" + text + R"("}]}])";
}

/// What a span of a model call has.
Attributes chat(const std::string& response_id, int input) {
    return {{"gen_ai.operation.name", "chat"},
            {"gen_ai.request.model", "gpt-5"},
            {"gen_ai.response.id", response_id},
            {"gen_ai.input.messages", said("user", "time?")},
            {"gen_ai.output.messages", said("assistant", "noon")},
            {"gen_ai.usage.input_tokens", input},
            {"gen_ai.usage.output_tokens", 5}};
}

Attributes with(Attributes attributes, const Attributes& more) {
    attributes.insert(attributes.end(), more.begin(), more.end());
    return attributes;
}

Attributes without(Attributes attributes, const std::string& start) {
    std::erase_if(attributes, [&](const auto& one) { return one.first.starts_with(start); });
    return attributes;
}

ReadLog read_otel_text(const std::string& text) {
    CHECK(logs::recognise(text) == Format::otel);
    return read_text_as(text, Format::otel);
}

}  // namespace

TEST_CASE("a span of an agent, a workflow or a tool is no model call, though it has messages and tokens", "[logs]") {
    Attributes agent = chat("", 200);
    agent[0].second = "invoke_agent";
    Attributes workflow = agent;
    workflow[0].second = "invoke_workflow";
    const ReadLog log = read_otel_text(
        export_of({span("w", "", 0, workflow), span("a", "w", 1, agent), span("c", "a", 2, chat("r1", 100)),
                   span("d", "a", 3, {{"openinference.span.kind", "AGENT"}})}));
    REQUIRE(log.sessions.size() == 1);
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{100, 0, 0, 5}});
    CHECK(log.notes.left_out == Counts{{"span/AGENT", 1}, {"span/invoke_agent", 1}, {"span/invoke_workflow", 1}});
    CHECK(log.notes.unknown.empty());
    const ReadLog alone = read_otel_text(export_of({span("a", "", 1, agent)}));
    CHECK(alone.notes.unknown == Counts{{"agent without spans of its model calls", 1}});
}

TEST_CASE("a model call that two spans tell is billed once, as the inner one has it", "[logs]") {
    const ordered_json inner = span("s", "framework", 2, chat("r1", 100));
    const ReadLog log = read_otel_text(export_of({inner}) + export_of({span("framework", "", 1, chat("", 90)), inner}));
    REQUIRE(log.sessions.size() == 1);
    REQUIRE(log.sessions[0].calls.size() == 1);
    CHECK(log.sessions[0].calls[0].id == "r1");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{100, 0, 0, 5}});
    CHECK(log.notes.left_out == Counts{{"repeated span", 1}, {"span of a model call that another span tells too", 1}});
}

TEST_CASE("of two spans of one model call the outer one is read where it alone has messages or counts", "[logs]") {
    for (const char* missing : {"gen_ai.input", "gen_ai.usage"}) {
        CAPTURE(missing);
        const ReadLog log = read_otel_text(export_of(
            {span("framework", "", 1, chat("r0", 90)), span("s", "framework", 2, without(chat("r1", 100), missing))}));
        REQUIRE(log.sessions.size() == 1);
        CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{90, 0, 0, 5}});
        CHECK(log.notes.unknown.empty());
    }
}

TEST_CASE("a span of a model call is left out only if one around it or within it is read", "[logs]") {
    const auto spans_read = [](const std::vector<ordered_json>& spans) {
        const ReadLog log = read_otel_text(export_of(spans));
        CHECK(log.notes.unknown.empty());
        std::string ids;
        for (const Session& session : log.sessions)
            for (const logs::Call& call : session.calls) ids += call.id;
        return ids;
    };
    const auto whole = [](const std::string& id, const std::string& parent) {
        return span(id, parent, 1, chat(id, 100));
    };
    const auto bare = [](const std::string& id, const std::string& parent) {
        return span(id, parent, 2, without(chat(id, 100), "gen_ai.usage"));
    };
    CHECK(spans_read({whole("o", ""), bare("a", "o"), whole("b", "o")}) == "ba");
    CHECK(spans_read({whole("o", ""), bare("m", "o"), whole("i", "m")}) == "i");
    CHECK(spans_read({whole("o", ""), bare("m", "o"), bare("i", "m")}) == "o");
    CHECK(spans_read({whole("i", "m"), whole("m", "o"), whole("o", "")}) == "i");
    CHECK(spans_read({whole("a", "b"), whole("b", "a")}) == "ab");
    CHECK(spans_read({whole("a", "b"), whole("b", "a"), whole("i", "a")}) == "bi");
    CHECK(spans_read({whole("a", "c"), whole("b", "a"), whole("c", "b")}) == "abc");
    CHECK(spans_read({whole("s", "s"), bare("i", "s")}) == "s");
}

TEST_CASE("a span of a model call that failed was not billed", "[logs]") {
    const Attributes failed = {{"gen_ai.request.model", "gpt-5"},
                               {"gen_ai.input.messages", said("user", "time?")},
                               {"error.type", "RateLimitError"}};
    ordered_json by_status = span("b", "", 2, without(failed, "error"));
    by_status["status"]["code"] = 2;
    const ReadLog log = read_otel_text(
        export_of({span("a", "", 1, failed), by_status, span("c", "", 3, chat("r1", 100)),
                   span("d", "", 4, with(chat("r2", 100), {{"error.type", "broken pipe"}}))}));  // billed all the same
    REQUIRE(log.sessions.size() == 2);
    CHECK(log.sessions[0].calls.size() + log.sessions[1].calls.size() == 2);
    CHECK(log.notes.left_out == Counts{{"span of a model call that failed", 2}});
}

TEST_CASE("the cache's tokens are read under their older names too", "[logs]") {
    const ReadLog log =
        read_otel_text(export_of({span("a", "", 1,
                                       with(chat("r1", 1'000), {{"gen_ai.usage.cache_read_input_tokens", 800},
                                                                {"gen_ai.usage.cache_creation_input_tokens", 100}}))}));
    CHECK(usage_of(log.sessions.at(0)) == std::vector<Usage>{{100, 800, 100, 5}});
}

TEST_CASE("the event of a model call is read, and counts once beside its span", "[logs]") {
    ordered_json event = span("a", "", 1, chat("r1", 100));
    event["eventName"] = "gen_ai.client.inference.operation.details";
    const ReadLog alone = read_otel_text(export_of_log(event));
    REQUIRE(alone.sessions.size() == 1);
    CHECK(roles_of(alone.sessions[0]) == "ua");
    CHECK(usage_of(alone.sessions[0]) == std::vector<Usage>{{100, 0, 0, 5}});

    const std::string bare =
        export_of({span("a", "", 0, without(without(chat("r1", 100), "gen_ai.input"), "gen_ai.output"))});
    const std::string whole = export_of({span("a", "", 0, chat("r1", 100))});
    for (const std::string& text : {export_of_log(event) + bare, bare + export_of_log(event),
                                    whole + export_of_log(event), export_of_log(event) + whole}) {
        const ReadLog both = read_otel_text(text);
        REQUIRE(both.sessions.size() == 1);
        CHECK(roles_of(both.sessions[0]) == "ua");
        CHECK(usage_of(both.sessions[0]) == std::vector<Usage>{{100, 0, 0, 5}});
        CHECK(both.notes.left_out == Counts{{"event of a span that was read", 1}});
        CHECK(both.notes.unknown.empty());
    }
}

TEST_CASE("messages in the events of a span are read", "[logs]") {
    const Attributes bare = without(without(chat("r1", 100), "gen_ai.input"), "gen_ai.output");
    ordered_json details = span("a", "", 1, bare);
    details["events"][0] = {{"name", "gen_ai.client.inference.operation.details"},
                            {"attributes", otlp_attributes({{"gen_ai.input.messages", said("user", "time?")},
                                                            {"gen_ai.output.messages", said("assistant", "noon")}})}};
    ordered_json older = span("b", "", 2, bare);
    older["events"] = {
        {{"name", "gen_ai.content.prompt"},
         {"attributes", otlp_attributes({{"gen_ai.prompt", R"([{"role":"user","content":"day?"}])"}})}},
        {{"name", "gen_ai.content.completion"},
         {"attributes", otlp_attributes({{"gen_ai.completion", R"([{"role":"assistant","content":"Friday"}])"}})}}};
    const ReadLog log = read_otel_text(export_of({details, older}));
    REQUIRE(log.sessions.size() == 2);
    CHECK(log.sessions[0].recording.messages.at(1).json()["content"] == "noon");
    CHECK(log.sessions[1].recording.messages.at(0).json()["content"] == "day?");
    CHECK(log.sessions[1].recording.messages.at(1).json()["content"] == "Friday");
}

TEST_CASE("attributes of OpenLLMetry, a message each, are read", "[logs]") {
    const Attributes first = {{"llm.request.type", "chat"},
                              {"gen_ai.request.model", "gpt-5"},
                              {"gen_ai.prompt.0.role", "user"},
                              {"gen_ai.prompt.0.content", R"([{"type":"text","text":"time?"},{"type":"image_url"}])"},
                              {"gen_ai.completion.0.role", "assistant"},
                              {"gen_ai.completion.0.finish_reason", "tool_calls"},
                              {"gen_ai.completion.0.tool_calls.0.id", "c1"},
                              {"gen_ai.completion.0.tool_calls.0.name", "clock"},
                              {"gen_ai.completion.0.tool_calls.0.arguments", R"({"zone":"UTC"})"},
                              {"gen_ai.usage.prompt_tokens", 40},
                              {"gen_ai.usage.completion_tokens", 5}};
    Attributes second = {{"gen_ai.request.model", "gpt-5"},
                         {"gen_ai.prompt.0.role", "user"},
                         {"gen_ai.prompt.0.content", "time?"},
                         {"gen_ai.prompt.1.role", "assistant"},
                         {"gen_ai.prompt.1.tool_calls.0.id", "c1"},
                         {"gen_ai.prompt.1.tool_calls.0.name", "clock"},
                         {"gen_ai.prompt.1.tool_calls.0.arguments", R"({"zone":"UTC"})"},
                         {"gen_ai.prompt.2.role", "tool"},
                         {"gen_ai.prompt.2.tool_call_id", "c1"},
                         {"gen_ai.prompt.2.content", "noon"}};
    for (int i = 3; i < 11; ++i) {
        second.push_back({"gen_ai.prompt." + std::to_string(i) + ".role", "user"});
        second.push_back({"gen_ai.prompt." + std::to_string(i) + ".content", std::to_string(i)});
    }
    second.push_back({"gen_ai.completion.0.content", "It is noon."});
    second.push_back({"gen_ai.completion.1.content", "It is twelve."});
    const ReadLog log = read_otel_text(export_of({span("a", "", 1, first), span("b", "", 2, second)}));
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "uatuuuuuuuua");
    CHECK(usage_of(session) == std::vector<Usage>{{40, 0, 0, 5}, {}});
    CHECK(session.recording.messages[1].json()["tool_calls"][0]["function"]["arguments"] == R"({"zone":"UTC"})");
    CHECK(session.recording.messages[2].json()["tool_call_id"] == "c1");
    CHECK(session.recording.messages[10].json()["content"] == "10");  // by number, not by text
    CHECK(log.notes.unknown == Counts{{"output with several replies", 1}, {"part/image_url", 1}});
}

TEST_CASE("attributes of OpenInference, a message each, are read", "[logs]") {
    const std::string in = "llm.input_messages.";
    const std::string out = "llm.output_messages.0.message.";
    const ReadLog log =
        read_otel_text(export_of({span("a", "", 1,
                                       {{"openinference.span.kind", "LLM"},
                                        {"llm.model_name", "gpt-5"},
                                        {in + "0.message.role", "user"},
                                        {in + "0.message.contents.0.message_content.type", "text"},
                                        {in + "0.message.contents.0.message_content.text", "time?"},
                                        {in + "1.message.role", "assistant"},
                                        {in + "1.message.tool_calls.0.tool_call.id", "c1"},
                                        {in + "1.message.tool_calls.0.tool_call.function.name", "clock"},
                                        {in + "1.message.tool_calls.0.tool_call.function.arguments", "{}"},
                                        {in + "2.message.role", "tool"},
                                        {in + "2.message.tool_call_id", "c1"},
                                        {in + "2.message.content", "noon"},
                                        {out + "role", "assistant"},
                                        {out + "content", "It is noon."},
                                        {"llm.token_count.prompt", 100},
                                        {"llm.token_count.prompt_details.cache_read", 60},
                                        {"llm.token_count.prompt_details.cache_write", 10},
                                        {"llm.token_count.completion", 5}})}));
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "uata");
    CHECK(log.sessions[0].recording.messages[0].json()["content"] == "time?");
    CHECK(log.sessions[0].recording.messages[1].json()["tool_calls"][0]["function"]["name"] == "clock");
    CHECK(log.sessions[0].calls.at(0).model == "gpt-5");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{30, 60, 10, 5}});
}

TEST_CASE("a model call whose messages are nowhere that is known is said, and what is no span is counted", "[logs]") {
    ordered_json message = span("x", "", 1, {{"event.name", "gen_ai.user.message"}});
    const ReadLog log = read_otel_text(
        export_of({span("a", "", 1, {{"gen_ai.request.model", "gpt-5"}, {"ai.prompt.messages", "[]"}}),
                   span("b", "", 2, {{"llm.request.type", "embedding"}, {"gen_ai.request.model", "e"}})}) +
        export_of_log(message) + export_of_log(ordered_json::object()) + "{\"resourceMetrics\":[{}]}\n");
    CHECK(log.sessions.empty());
    CHECK(log.notes.unknown == Counts{{"event/gen_ai.user.message", 1}, {"span of a model call without messages", 1}});
    CHECK(log.notes.left_out == Counts{{"log record", 1}, {"metrics", 1}, {"span/embedding", 1}});
}

TEST_CASE("as many keys as an attribute may have are read in a time that grows with them", "[logs][large]") {
    constexpr int many = 25'000;
    ordered_json map = ordered_json::array({{{"key", "k0"}, {"value", {{"stringValue", "first"}}}}});
    Attributes indexed = {{"gen_ai.request.model", "gpt-5"},
                          {"gen_ai.prompt.0.role", "user"},
                          {"gen_ai.prompt.0.content", "time?"},
                          {"gen_ai.prompt.0.content.text", "fits to no text"}};
    for (int i = 0; i < many; ++i) {
        map.push_back({{"key", "k" + std::to_string(i)}, {"value", {{"intValue", "7"}}}});
        indexed.push_back({"gen_ai.prompt.0.k" + std::to_string(i), i});
    }
    ordered_json one = span("a", "", 1, indexed);
    const auto string_value = [](const char* text) { return ordered_json{{"stringValue", text}}; };
    ordered_json part;
    part["values"] =
        ordered_json::array({{{"key", "type"}, {"value", string_value("tool_call")}},
                             {{"key", "id"}, {"value", string_value("c1")}},
                             {{"key", "name"}, {"value", string_value("clock")}},
                             {{"key", "arguments"}, {"value", {{"kvlistValue", {{"values", std::move(map)}}}}}}});
    ordered_json message;
    message["values"] = ordered_json::array();
    message["values"].push_back({{"key", "parts"}, {"value", ordered_json::object()}});
    message["values"][0]["value"]["arrayValue"]["values"][0]["kvlistValue"] = std::move(part);
    ordered_json output{{"key", "gen_ai.output.messages"}};
    output["value"]["arrayValue"]["values"][0]["kvlistValue"] = std::move(message);
    one["attributes"].push_back(std::move(output));
    const ReadLog log = read_text_as(export_of({one}), Format::otel);
    REQUIRE(log.sessions.size() == 1);
    REQUIRE(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].recording.messages[0].json()["content"] == "time?");
    const std::string arguments =
        log.sessions[0].recording.messages[1].json()["tool_calls"][0]["function"]["arguments"];
    CHECK(arguments.starts_with(R"({"k0":7,"k1":7,)"));  // the last of the same ones, in its first place
    CHECK(arguments.ends_with(R"("k24999":7})"));
}
