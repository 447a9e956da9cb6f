// Chains on several threads, one exporter.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/telemetry/prometheus.hpp"

#include <atomic>
#include <set>
#include <thread>

using namespace whittle;
using nlohmann::json;
using testing::Receiver;

namespace {

constexpr int feeders = 4;
constexpr int rounds = 100;

/// Calls `work` with the numbers of the rounds, on several threads at once.
template <typename Work>
void feed(const Work& work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < feeders; ++t) {
        threads.emplace_back([&work] {
            for (int i = 0; i < rounds; ++i) work(i);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("several threads feed while others flush, some in vain: everything arrives once", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    std::atomic<int> sent{0};
    std::mutex taken_mutex;
    std::multiset<std::string> spans;
    std::atomic<std::int64_t> records{0};
    receiver->answer = [&](const HttpRequest& request) {
        if (++sent % 3 == 0) return HttpResponse{.status = 503};
        const json body = json::parse(request.body);
        if (body.contains("resourceLogs"))
            records += static_cast<std::int64_t>(body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].size());
        if (!body.contains("resourceSpans")) return HttpResponse{.status = 200};
        const std::lock_guard lock(taken_mutex);
        for (const json& span : body["resourceSpans"][0]["scopeSpans"][0]["spans"])
            spans.insert(span["spanId"].get<std::string>());
        return HttpResponse{.status = 200};
    };
    auto config = testing::fixed_config();
    config.max_queue = 1'000'000;
    config.max_batch = 16;
    telemetry::OpenTelemetry exporter(config, receiver);
    const EventSink on_event = exporter.event_sink();
    const auto on_report = exporter.report_sink();
    std::atomic<bool> is_done{false};
    std::thread flusher([&] {
        while (!is_done) exporter.flush();
    });
    feed([&](int) {
        on_event(testing::committed_event());
        on_report(testing::summary_report());
    });
    is_done = true;
    flusher.join();
    while (exporter.waiting() > 0) exporter.flush();

    CHECK(exporter.dropped() == 0);
    CHECK(records == feeders * rounds);
    CHECK(spans.size() == 4U * feeders * rounds);
    CHECK(std::set<std::string>(spans.begin(), spans.end()).size() == spans.size());
}

TEST_CASE("a small queue that several threads fill loses exactly what it says", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.max_queue = 50;
    config.metrics = false;
    telemetry::OpenTelemetry exporter(config, receiver);
    const EventSink on_event = exporter.event_sink();
    std::atomic<std::int64_t> arrived{0};
    std::atomic<std::int64_t> reported{0};
    const auto flush = [&] {
        const auto result = exporter.flush();
        arrived += result.logs_sent;
        reported += result.items_dropped;
    };
    feed([&](int i) {
        on_event(testing::committed_event());
        if (i % 30 == 0) flush();
    });
    flush();
    CHECK(exporter.waiting() == 0);
    CHECK(arrived + reported == feeders * rounds);
    CHECK(reported == exporter.dropped());
}

TEST_CASE("Prometheus text can be asked for while threads count", "[telemetry]") {
    const telemetry::Prometheus metrics;
    const EventSink on_event = metrics.event_sink();
    const auto on_report = metrics.report_sink();
    feed([&](int i) {
        on_event(testing::committed_event());
        on_report(testing::undue_report());
        if (i % 10 == 0) (void)metrics.text();
    });
    CHECK(
        metrics.text().find("whittle_events_total{source=\"summarization\",kind=\"committed\",level=\"info\"} 400\n") !=
        std::string::npos);
}
