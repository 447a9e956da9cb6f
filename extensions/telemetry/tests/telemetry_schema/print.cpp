// What `check.py` judges.
//   requests DIR   writes what an exporter posts and what a registry shows into DIR
//   answer FILE    gives an exporter FILE as the body of an answer, and prints what it read there
#include "../receiver.hpp"
#include "whittle/telemetry/prometheus.hpp"

#include <fstream>
#include <iostream>
#include <iterator>

using namespace whittle;

namespace {

/// Every kind of thing that can be told, and names that need escaping.
template <typename Exporter>
void feed(const Exporter& exporter) {
    const EventSink on_event = exporter.event_sink();
    const auto on_report = exporter.report_sink();
    on_event(testing::committed_event());
    on_event({.source = "read_offloaded", .kind = "read_back", .text = "read", .conversation = "book"});
    on_event({.level = Event::Level::error, .source = "quote\" \\ \n \xFF", .kind = "failed"});
    on_report(testing::undue_report());
    on_report(testing::summary_report());
    Report failed = testing::summary_report();
    failed.hook = Hook::on_overflow;
    failed.stages[1].hook = Hook::on_overflow;
    failed.stages[1].outcome = Outcome::failed;
    failed.stages[1].details->error = "the disk is full";
    failed.calibration = 1.25;
    on_report(failed);
    for (int i = 0; i < 20; ++i) {
        const std::string kind = "kind_" + std::to_string(i);
        on_event({.source = "host", .kind = kind});
    }
}

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

void write_requests(const std::string& folder) {
    const auto receiver = std::make_shared<testing::Receiver>();
    auto config = testing::fixed_config();
    config.resource = {{"service.name", "agent"}, {"service.version", "1"}};
    config.agent_model = {"openai", "gpt-5"};
    config.models_by_middleware["summarization"] = {"anthropic", "claude-small"};
    config.traceparent = [] { return std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"); };
    config.max_queue = 20;
    config.max_series_per_metric = 10;
    telemetry::OpenTelemetry exporter(config, receiver);
    feed(exporter);
    exporter.flush();
    for (const HttpRequest& request : receiver->requests)
        write(folder + request.url.substr(request.url.rfind('/')) + ".json", request.body);

    const telemetry::Prometheus registry({.max_series_per_metric = 10});
    feed(registry);
    write(folder + "/metrics.txt", registry.text());
}

void read_answer(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string body{std::istreambuf_iterator<char>(in), {}};
    const auto receiver = std::make_shared<testing::Receiver>();
    receiver->answer = [&body](const HttpRequest&) { return HttpResponse{.status = 200, .body = body}; };
    auto config = testing::fixed_config();
    config.traces = config.metrics = false;
    telemetry::OpenTelemetry exporter(config, receiver);
    exporter.event_sink()(testing::committed_event());
    const telemetry::FlushResult result = exporter.flush();
    std::cout << result.items_rejected << '\n';
    for (const std::string& problem : result.problems) std::cout << problem << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    if (argv[1] == std::string_view("requests")) {
        write_requests(argv[2]);
    } else {
        read_answer(argv[2]);
    }
}
