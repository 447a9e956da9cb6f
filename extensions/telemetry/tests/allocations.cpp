// What a hook costs in which nothing was due, and what a full memory leaves behind.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "support/failing_alloc.hpp"
#include "whittle/telemetry/prometheus.hpp"

#include <new>

using namespace whittle;
using testing::FailingAllocation;
using testing::Receiver;

TEST_CASE("a hook in which nothing was due allocates nothing, but for the first", "[telemetry]") {
    telemetry::OpenTelemetry exporter(testing::fixed_config(), std::make_shared<Receiver>());
    const telemetry::Prometheus metrics;
    const auto to_exporter = exporter.report_sink();
    const auto to_registry = metrics.report_sink();
    const Report report = testing::undue_report();
    to_exporter(report);
    to_registry(report);
    bool has_allocated = false;
    {
        const FailingAllocation failing(1);
        to_exporter(report);
        to_registry(report);
        has_allocated = FailingAllocation::has_failed();
    }
    CHECK_FALSE(has_allocated);
}

TEST_CASE("an allocation that fails leaves an exporter that works", "[telemetry]") {
    for (int nth = 1;; ++nth) {
        const auto receiver = std::make_shared<Receiver>();
        telemetry::OpenTelemetry exporter(testing::fixed_config(), receiver);
        const auto on_report = exporter.report_sink();
        const Report report = testing::summary_report();
        bool has_failed = false;
        {
            const FailingAllocation failing(nth);
            try {
                on_report(report);
            } catch (const std::bad_alloc&) {
            }
            has_failed = FailingAllocation::has_failed();
        }
        on_report(report);
        const auto sent = exporter.flush();
        REQUIRE(sent.ok());
        REQUIRE(sent.spans_sent == (has_failed ? 4 : 8));
        if (!has_failed) break;
    }
}

TEST_CASE("a flush that runs out of memory loses nothing", "[telemetry]") {
    for (int nth = 1;; ++nth) {
        const auto receiver = std::make_shared<Receiver>();
        auto config = testing::fixed_config();
        config.metrics = false;
        telemetry::OpenTelemetry exporter(config, receiver);
        exporter.report_sink()(testing::summary_report());
        exporter.event_sink()(testing::committed_event());
        bool has_failed = false;
        std::int64_t sent = 0;
        {
            const FailingAllocation failing(nth);
            try {
                const auto result = exporter.flush();
                sent += result.spans_sent + result.logs_sent;
            } catch (const std::bad_alloc&) {
                sent = -1;  // which of the two is not told
            }
            has_failed = FailingAllocation::has_failed();
        }
        const std::int64_t waiting = exporter.waiting();
        REQUIRE((waiting == 5 || waiting == 1 || waiting == 0));  // the spans may have been taken before
        const auto rest = exporter.flush();
        REQUIRE(rest.items_waiting == 0);
        if (sent >= 0) REQUIRE(sent + rest.spans_sent + rest.logs_sent == 5);
        if (!has_failed) break;
    }
}
