// Names that somebody else chose.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/base/text.hpp"
#include "whittle/telemetry/prometheus.hpp"

#include <algorithm>
#include <limits>

using namespace whittle;
using nlohmann::json;
using testing::attributes_of;
using testing::Receiver;

namespace {

const std::vector<std::string>& hostile_names() {
    static const std::vector<std::string> names{
        "quote\" } 7\nwhittle_events_total 999",
        "back\\slash\\",
        "line\r\nbreak",
        std::string("zero\0byte", 9),
        "cut \xE2\x82",
        "\xFF\xFE\x80",
        "\xED\xA0\x80 surrogate",
        std::string(100'000, '\xFF'),
        "{\"a\":[",
        "\x01\x1f\x7f",
        "",
    };
    return names;
}

}  // namespace

TEST_CASE("hostile names give valid JSON of bounded size", "[telemetry]") {
    for (const std::string& name : hostile_names()) {
        const auto receiver = std::make_shared<Receiver>();
        auto config = testing::fixed_config();
        config.resource[name.substr(0, 50) + "x"] = name.substr(0, 50);
        config.models_by_middleware[name] = {name, name};
        config.agent_model = {name, name};
        telemetry::OpenTelemetry exporter(config, receiver);
        exporter.event_sink()({.source = name, .kind = name, .text = name, .conversation = name});
        Report report = testing::summary_report();
        report.conversation = name;
        for (StageReport& stage : report.stages) {
            stage.middleware = name;
            stage.counter = name;
        }
        report.stages[1].outcome = Outcome::failed;
        report.stages[1].details->error = name;
        for (ModelCallReport& call : report.stages[1].details->model_calls) call.purpose = call.error = name + "x";
        exporter.report_sink()(report);
        CHECK(exporter.flush().ok());
        REQUIRE(receiver->requests.size() == 3);
        for (const HttpRequest& request : receiver->requests) {
            CHECK(json::accept(request.body));
            CHECK(is_valid_utf8(request.body));
            CHECK(request.body.size() < 400'000);  // most of it the name of the model, which is the host's own
        }
        const json reported = attributes_of(receiver->records().at(0));
        CHECK(reported.value("whittle.source", "").size() <= 256);
        CHECK(receiver->spans().at(1).value("status", json::object()).value("message", "").size() <= 4'096);
    }
}

TEST_CASE("hostile names give Prometheus text in which every line is one of ours", "[telemetry]") {
    const telemetry::Prometheus metrics;
    for (const std::string& name : hostile_names())
        metrics.event_sink()({.source = name, .kind = name, .text = name, .conversation = name});
    const std::string text = metrics.text();
    CHECK(is_valid_utf8(text));
    CHECK(std::ranges::none_of(text, [](char c) { return c != '\n' && static_cast<unsigned char>(c) < 0x20; }));
    std::size_t lines = 0;
    for (std::size_t at = 0; at < text.size(); ++lines) {
        const std::string_view rest = std::string_view(text).substr(at);
        CHECK((rest.starts_with("# ") || rest.starts_with("whittle_events_total{")));
        at = text.find('\n', at) + 1;
    }
    CHECK(lines <= 2 + hostile_names().size());
    CHECK(text.find("\nwhittle_events_total 999") == std::string::npos);
    CHECK(text.size() < 10'000);
}

TEST_CASE("times and counts at their ends do not wrap", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.clock = std::make_shared<ManualClock>(INT64_MAX);
    telemetry::OpenTelemetry exporter(config, receiver);
    Report report = testing::summary_report();
    report.milliseconds = INT64_MAX;
    StageDetails& details = *report.stages[1].details;
    details.tokens_before = INT64_MAX;
    details.tokens_after = INT64_MIN;
    details.model_calls[1].milliseconds = INT64_MAX;
    details.model_calls[1].usage = Usage{.uncached_input = INT64_MAX, .cache_read = INT64_MAX, .output = INT64_MIN};
    exporter.report_sink()(report);
    report.milliseconds = INT64_MIN;
    report.calibration = std::numeric_limits<double>::infinity();
    exporter.report_sink()(report);
    CHECK(exporter.flush().ok());
    for (const json& span : receiver->spans()) {
        CHECK(std::stoll(span["startTimeUnixNano"].get<std::string>()) >= 0);
        CHECK(std::stoll(span["endTimeUnixNano"].get<std::string>()) >= 0);
    }
}
