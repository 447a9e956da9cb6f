// Events as log records.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>

using namespace whittle;
using nlohmann::json;
using telemetry::OpenTelemetry;
using testing::attributes_of;
using testing::Receiver;

TEST_CASE("an event becomes a log record with its counts", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    exporter.event_sink()(testing::committed_event());
    CHECK(exporter.flush().logs_sent == 1);
    const json record = receiver->records().at(0);
    CHECK(record["eventName"] == "whittle.committed");
    CHECK(record["severityNumber"] == 9);
    CHECK(record["severityText"] == "INFO");
    CHECK(record["timeUnixNano"] == "1000000000000");
    CHECK(record["body"]["stringValue"] == "summarization: 88000 -> 18000 tokens");
    CHECK_FALSE(record.contains("traceId"));
    CHECK(attributes_of(record) == json({{"gen_ai.conversation.id", "book"},
                                         {"whittle.source", "summarization"},
                                         {"whittle.tokens.before", "88000"},
                                         {"whittle.tokens.after", "18000"}}));
}

TEST_CASE("without texts a record has no body", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.include_event_texts = false;
    OpenTelemetry exporter(config, receiver);
    exporter.event_sink()(testing::committed_event());
    exporter.flush();
    CHECK_FALSE(receiver->records().at(0).contains("body"));
}

TEST_CASE("levels have the severities of OpenTelemetry", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    using enum Event::Level;
    for (const Event::Level level : {debug, info, warning, error}) exporter.event_sink()({.level = level, .kind = "x"});
    exporter.flush();
    std::vector<int> severities;
    for (const json& record : receiver->records()) severities.push_back(record["severityNumber"]);
    CHECK(severities == std::vector{5, 9, 13, 17});
}

TEST_CASE("what the model reads back is told with the tool, and no word of it", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    const Tool build = text_tool("build", "Builds.", R"({"type":"object"})",
                                 [](std::string_view) { return std::string(90'000, '.') + "the secret"; });
    const Chain<> chain(ChainConfig{.storage = memory_storage()},
                        ChainCallbacks<>{.on_event = exporter.event_sink(), .on_report = exporter.report_sink()},
                        Reduction<>{{}});
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{
        ChatMessage::assistant().call("one", "build"),
        ChatMessage::assistant().call("two", "read_offloaded", R"({"reference":"c/trunc/one","grep":"the secret"})"),
        ChatMessage::assistant("Done.")});
    AgentLoop<> loop{model, {build}, chain};
    Conversation<> conversation("c");
    loop.run(conversation, "Build it.");
    REQUIRE(conversation.read_backs() == 1);
    exporter.flush();

    const std::vector<json> records = receiver->records();
    const auto read =
        std::ranges::find_if(records, [](const json& r) { return r["eventName"] == "whittle.read_back"; });
    REQUIRE(read != records.end());
    CHECK(attributes_of(*read)["gen_ai.tool.name"] == "read_offloaded");
    const auto counted = receiver->metrics();
    CHECK(std::ranges::any_of(counted, [](const json& m) { return m["name"] == "whittle.read_backs"; }));
    for (const HttpRequest& request : receiver->requests) CHECK(request.body.find("the secret") == std::string::npos);
}
