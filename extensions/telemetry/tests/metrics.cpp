// Counts over OTLP.
#include "receiver.hpp"

#include "support/catch.hpp"

#include <map>

using namespace whittle;
using nlohmann::json;
using telemetry::OpenTelemetry;
using testing::attributes_of;
using testing::Receiver;

namespace {

std::map<std::string, json> by_name(const Receiver& receiver) {
    std::map<std::string, json> result;
    for (const json& metric : receiver.metrics()) result[metric["name"]] = metric;
    return result;
}

}  // namespace

TEST_CASE("commits, model calls and hooks are counted since the exporter was made", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    const auto clock = std::make_shared<ManualClock>(1'000);
    auto config = testing::fixed_config();
    config.clock = clock;
    config.models_by_middleware["summarization"] = {"anthropic", "claude-small"};
    OpenTelemetry exporter(config, receiver);
    clock->advance(std::chrono::milliseconds(500));
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    receiver->requests.clear();
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    const auto metrics = by_name(*receiver);

    const json& saved = metrics.at("whittle.tokens.saved");
    CHECK(saved["unit"] == "{token}");
    CHECK(saved["sum"]["aggregationTemporality"] == 2);
    CHECK(saved["sum"]["isMonotonic"] == true);
    const json point = saved["sum"]["dataPoints"][0];
    CHECK(point["asInt"] == "140000");
    CHECK(point["startTimeUnixNano"] == "1000000000");
    CHECK(point["timeUnixNano"] == "1500000000");
    CHECK(attributes_of(point) == json({{"whittle.middleware", "summarization"}}));

    CHECK(metrics.at("whittle.cache.invalidated_tokens")["sum"]["dataPoints"][0]["asInt"] == "140000");
    CHECK(metrics.at("whittle.stored.size")["sum"]["dataPoints"][0]["asInt"] == "600000");
    CHECK(metrics.at("whittle.request.tokens")["gauge"]["dataPoints"][0]["asInt"] == "20000");
    CHECK(metrics.at("whittle.stage.runs")["sum"]["dataPoints"].size() == 2);  // not_due, committed

    const json hooks = metrics.at("whittle.hook.duration")["histogram"]["dataPoints"][0];
    CHECK(hooks["count"] == "2");
    CHECK(hooks["sum"] == 10.0);
    CHECK(hooks["bucketCounts"].size() == hooks["explicitBounds"].size() + 1);
    CHECK(hooks["bucketCounts"][11] == "2");  // up to 5 s

    const json& tokens = metrics.at("gen_ai.client.token.usage")["histogram"]["dataPoints"];
    REQUIRE(tokens.size() == 2);
    CHECK(attributes_of(tokens[0]) == json({{"gen_ai.operation.name", "chat"},
                                            {"gen_ai.provider.name", "anthropic"},
                                            {"gen_ai.request.model", "claude-small"},
                                            {"gen_ai.token.type", "input"},
                                            {"whittle.middleware", "summarization"}}));
    CHECK(tokens[0]["sum"] == 86'000.0);
    CHECK(tokens[1]["sum"] == 1'800.0);
    CHECK(metrics.at("gen_ai.client.operation.duration")["histogram"]["dataPoints"].size() ==
          2);  // with and without error
}

TEST_CASE("a dry run and a commit that adds tokens save nothing", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    Report report = testing::summary_report();
    report.stages[1].outcome = Outcome::planned;
    exporter.report_sink()(report);
    report.stages[1].outcome = Outcome::committed;  // a repair
    report.stages[1].details->tokens_after = report.stages[1].details->tokens_before + 10;
    exporter.report_sink()(report);
    exporter.flush();
    CHECK(by_name(*receiver).at("whittle.tokens.saved")["sum"]["dataPoints"][0]["asInt"] == "0");
}

TEST_CASE("more label values than allowed count together", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.max_series_per_metric = 3;
    OpenTelemetry exporter(config, receiver);
    for (int i = 0; i < 10; ++i) {
        const std::string kind = "kind " + std::to_string(i);
        exporter.event_sink()({.source = "host", .kind = kind});
    }
    exporter.flush();
    const json points = by_name(*receiver).at("whittle.events")["sum"]["dataPoints"];
    REQUIRE(points.size() == 4);
    CHECK(points[3]["asInt"] == "7");
    CHECK(attributes_of(points[3]) == json({{"otel.metric.overflow", true}}));
}

TEST_CASE("metrics that did not arrive are made good by the next ones", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.traces = config.logs = false;
    OpenTelemetry exporter(config, receiver);
    exporter.event_sink()(testing::committed_event());
    receiver->answer = [](const HttpRequest&) { return HttpResponse{.status = 503}; };
    CHECK(exporter.flush().retry);
    receiver->answer = {};
    receiver->requests.clear();
    exporter.event_sink()(testing::committed_event());
    CHECK(exporter.flush().points_sent == 1);
    CHECK(by_name(*receiver).at("whittle.events")["sum"]["dataPoints"][0]["asInt"] == "2");
}
