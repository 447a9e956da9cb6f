// Prometheus text.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/telemetry/prometheus.hpp"

#include <algorithm>

using namespace whittle;
using telemetry::Prometheus;

namespace {

/// The lines of `text` that begin so.
std::vector<std::string> lines_with(const std::string& text, std::string_view start) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (std::string_view(text).substr(at).starts_with(start)) lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a registry that was told nothing has no text", "[telemetry]") { CHECK(Prometheus().text().empty()); }

TEST_CASE("counters have a help, a type and one line for each set of labels", "[telemetry]") {
    const Prometheus metrics;
    metrics.report_sink()(testing::summary_report());
    metrics.report_sink()(testing::summary_report());
    const std::string text = metrics.text();
    CHECK(text.find("# HELP whittle_tokens_saved_total Tokens by which commits made conversations smaller.\n"
                    "# TYPE whittle_tokens_saved_total counter\n"
                    "whittle_tokens_saved_total{middleware=\"summarization\"} 140000\n") != std::string::npos);
    CHECK(lines_with(text, "whittle_stage_runs_total") ==
          Lines{R"(whittle_stage_runs_total{middleware="reduction",hook="before_model",outcome="not_due"} 2)",
                R"(whittle_stage_runs_total{middleware="summarization",hook="before_model",outcome="committed"} 2)"});
    CHECK(lines_with(text, "whittle_request_tokens") == Lines{"whittle_request_tokens 20000"});
    CHECK(lines_with(text, "whittle_stored_bytes_total") ==
          Lines{R"(whittle_stored_bytes_total{middleware="summarization"} 600000)"});
}

TEST_CASE("a histogram has cumulative buckets, a sum and a count", "[telemetry]") {
    const Prometheus metrics;
    Report report{.hook = Hook::on_overflow};
    for (const std::int64_t milliseconds : {0, 1, 40, 200'000}) {
        report.milliseconds = milliseconds;
        metrics.report_sink()(report);
    }
    const std::string text = metrics.text();
    const Lines buckets = lines_with(text, "whittle_hook_duration_seconds_bucket");
    REQUIRE(buckets.size() == 17);
    CHECK(buckets[0] == R"(whittle_hook_duration_seconds_bucket{hook="on_overflow",le="0.001"} 2)");
    CHECK(buckets[4] == R"(whittle_hook_duration_seconds_bucket{hook="on_overflow",le="0.02"} 2)");
    CHECK(buckets[5] == R"(whittle_hook_duration_seconds_bucket{hook="on_overflow",le="0.05"} 3)");
    CHECK(buckets[15] == R"(whittle_hook_duration_seconds_bucket{hook="on_overflow",le="120"} 3)");
    CHECK(buckets[16] == R"(whittle_hook_duration_seconds_bucket{hook="on_overflow",le="+Inf"} 4)");
    CHECK(lines_with(text, "whittle_hook_duration_seconds_sum") ==
          Lines{R"(whittle_hook_duration_seconds_sum{hook="on_overflow"} 200.041)"});
    CHECK(lines_with(text, "whittle_hook_duration_seconds_count") ==
          Lines{R"(whittle_hook_duration_seconds_count{hook="on_overflow"} 4)"});
}

TEST_CASE("read-backs are counted by tool, events by source, kind and level", "[telemetry]") {
    const Prometheus metrics;
    metrics.event_sink()({.source = "read_offloaded", .kind = "read_back", .conversation = "c1"});
    metrics.event_sink()({.source = "read_offloaded", .kind = "read_back", .conversation = "c2"});
    metrics.event_sink()({.level = Event::Level::error, .source = "reduction", .kind = "store_failed"});
    const std::string text = metrics.text();
    CHECK(lines_with(text, "whittle_read_backs_total") ==
          Lines{R"(whittle_read_backs_total{tool="read_offloaded"} 2)"});
    CHECK(lines_with(text, "whittle_events_total") ==
          Lines{R"(whittle_events_total{source="read_offloaded",kind="read_back",level="info"} 2)",
                R"(whittle_events_total{source="reduction",kind="store_failed",level="error"} 1)"});
}

TEST_CASE("label values are escaped", "[telemetry]") {
    const Prometheus metrics;
    metrics.event_sink()({.source = "a\"b\\c\nd", .kind = "x"});
    CHECK(lines_with(metrics.text(), "whittle_events_total") ==
          Lines{R"(whittle_events_total{source="a\"b\\c\nd",kind="x",level="info"} 1)"});
}

TEST_CASE("no text grows with conversations, nor beyond the cap with names", "[telemetry]") {
    const Prometheus metrics({.max_series_per_metric = 5});
    for (int i = 0; i < 1'000; ++i) {
        const std::string name = "name" + std::to_string(i);
        metrics.event_sink()({.source = name, .kind = "x", .conversation = name});
        Report report = testing::summary_report();
        report.conversation = name;
        metrics.report_sink()(report);
    }
    const std::string text = metrics.text();
    const Lines events = lines_with(text, "whittle_events_total");
    REQUIRE(events.size() == 6);
    CHECK(events[5] == R"(whittle_events_total{source="_other",kind="_other",level="_other"} 995)");
    CHECK(lines_with(text, "whittle_tokens_saved_total").size() == 1);
    CHECK(text.find("name999") == std::string::npos);
}

TEST_CASE("the prefix is the host's", "[telemetry]") {
    const Prometheus metrics({.prefix = "agent"});
    metrics.event_sink()(testing::committed_event());
    CHECK(metrics.text().starts_with("# HELP agent_events_total "));
}

TEST_CASE("a copy of a registry is the same registry", "[telemetry]") {
    const Prometheus metrics;
    const Prometheus copy = metrics;  // NOLINT(performance-unnecessary-copy-initialization)
    metrics.event_sink()(testing::committed_event());
    CHECK(copy.text() == metrics.text());
    CHECK_FALSE(copy.text().empty());
}
