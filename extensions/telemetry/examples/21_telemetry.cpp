// What chains do, for the tools that watch a program: OpenTelemetry, sent by a transport of the host's, and Prometheus.
#include <whittle/telemetry/opentelemetry.hpp>
#include <whittle/telemetry/prometheus.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <sstream>

using namespace whittle;

/// In place of libcurl's: says what it was asked to send.
class ShownTransport final : public HttpTransport {
    HttpResponse send(const HttpRequest& request, const BodySink& /*on_body*/) override {
        const bool has_text = request.body.find("chapter") != std::string::npos;
        std::cout << request.method << ' ' << request.url << (has_text ? ", with" : ", without")
                  << " message content\n";
        return {.status = 200, .body = "{}"};
    }
};

int main() {
    const auto clock = std::make_shared<ManualClock>();
    // [watch]
    telemetry::OpenTelemetry exporter({.endpoint = "https://collector.example:4318",
                                       .headers = {{"Authorization", "Bearer <key>"}},
                                       .resource = {{"service.name", "reader"}},
                                       .agent_model = {"openai", "gpt-5"}},
                                      std::make_shared<ShownTransport>());  // or make_curl_transport()
    const telemetry::Prometheus metrics;
    const ChainCallbacks<> watch{
        .on_event =
            [to_otlp = exporter.event_sink(), to_text = metrics.event_sink()](const Event& event) {
                to_otlp(event);
                to_text(event);
            },
        .on_report =
            [to_otlp = exporter.report_sink(), to_text = metrics.report_sink()](const Report& report) {
                to_otlp(report);
                to_text(report);
            }};
    const Chain chain{ChainConfig{.storage = memory_storage(), .clock = clock}, watch,
                      Reduction{{.max_tokens_for_clear = 10'000, .clear_target_tokens = 5'000}}};
    // [/watch]
    Conversation history("book");
    history.push_back(ChatMessage::user("Read the book."));
    for (int page = 1; page <= 5; ++page) {
        const std::string id = "c" + std::to_string(page);
        history.push_back(ChatMessage::assistant().call(id, "read_page"));
        history.push_back(ChatMessage::result(id, "read_page", "chapter " + std::string(12'000, '.')));
        chain.before_model(history);
    }
    // [send]
    const telemetry::FlushResult sent = exporter.flush();  // on a timer and at the end: nothing else sends
    std::istringstream text(metrics.text());               // what your web server answers a scrape with
    // [/send]
    for (const std::string& problem : sent.problems) std::cerr << problem << '\n';
    std::cout << sent.spans_sent << " spans, " << sent.logs_sent << " records, " << sent.items_waiting << " left\n";
    for (std::string line; std::getline(text, line);)
        if (line.find("_total{") != std::string::npos) std::cout << line << '\n';
}
