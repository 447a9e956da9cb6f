// extensions/telemetry/README.md names what is sent.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/telemetry/prometheus.hpp"

#include <fstream>
#include <iterator>

using namespace whittle;
using nlohmann::json;
using testing::Receiver;

TEST_CASE("the page on telemetry has every metric, every attribute and every option", "[telemetry]") {
    std::ifstream in(WHITTLE_SOURCE_DIR "/extensions/telemetry/README.md");
    const std::string page{std::istreambuf_iterator<char>(in), {}};
    REQUIRE_FALSE(page.empty());
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.max_queue = 8;
    config.max_series_per_metric = 3;
    config.agent_model = config.models_by_middleware["summarization"] = {"anthropic", "claude-small"};
    telemetry::OpenTelemetry exporter(config, receiver);
    const telemetry::Prometheus registry;
    Report report = testing::summary_report();
    StageDetails& details = *report.stages[1].details;
    details.candidates = {{.removed = true}};
    details.store_failures = {{"key", "reason"}};
    details.repairs = {{.code = "missing_result"}};
    details.violations_left = details.thinking_parts_dropped = 1;
    details.thinking_prefix_edited = true;
    for (int i = 0; i < 10; ++i) {
        exporter.report_sink()(report);
        registry.report_sink()(report);
        for (const char* kind : {"read_back", "a", "b", "c", "d"}) {
            const Event event{.source = "x", .kind = kind, .tokens_before = 1, .tokens_after = 1};
            exporter.event_sink()(event);
            registry.event_sink()(event);
        }
        report.stages[1].outcome = Outcome::failed;
    }
    exporter.flush();

    const auto expect = [&](const std::string& name) {
        CAPTURE(name);
        CHECK(page.find("`" + name + "`") != std::string::npos);
    };
    const auto expect_attributes = [&](const json& item) {
        for (const auto& one : item["attributes"]) expect(one["key"]);
    };
    for (const json& span : receiver->spans()) expect_attributes(span);
    for (const json& record : receiver->records()) expect_attributes(record);
    CHECK(receiver->metrics().size() == 11);
    for (const json& metric : receiver->metrics()) {
        expect(metric["name"]);
        for (const char* kind : {"sum", "gauge", "histogram"}) {
            if (!metric.contains(kind)) continue;
            for (const json& point : metric[kind]["dataPoints"]) expect_attributes(point);
        }
    }
    const std::string text = registry.text();
    constexpr std::string_view type = "# TYPE ";
    for (std::size_t at = text.find(type); at != std::string::npos; at = text.find(type, at + 1)) {
        const std::size_t begin = at + type.size();
        expect(text.substr(begin, text.find(' ', begin) - begin));
    }
    for (const char* option : {"endpoint", "headers", "resource", "traces", "logs", "metrics", "include_event_texts",
                               "agent_model", "models_by_middleware", "traceparent", "max_queue", "max_batch",
                               "max_series_per_metric", "limits", "clock", "random", "prefix"})
        expect(option);
}
