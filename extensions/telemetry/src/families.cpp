// The metrics: extensions/telemetry/README.md has the same table, and a test holds it to this one.
#include "tally.hpp"

namespace whittle::inline v0::telemetry::detail {
namespace {

constexpr std::array hook_bounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,
                                 0.5,   1.0,   2.0,   5.0,  10.0, 30.0, 60.0, 120.0};
// The buckets that OpenTelemetry's conventions name for these two.
constexpr std::array model_call_bounds{0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                       1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
constexpr std::array model_call_token_bounds{1.0,     4.0,     16.0,     64.0,      256.0,     1024.0,     4096.0,
                                             16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0, 67108864.0};

constexpr LabelName middleware_label{"whittle.middleware", "middleware"};
constexpr LabelName hook_label{"whittle.hook", "hook"};

constexpr std::array<MetricFamily, metric_count> families{{
    {.otel = "whittle.hook.duration",
     .prometheus = "hook_duration_seconds",
     .unit = "s",
     .help = "Time that the hooks of a chain took.",
     .kind = MetricKind::histogram,
     .labels = {hook_label},
     .bounds = hook_bounds},
    {.otel = "whittle.request.tokens",
     .prometheus = "request_tokens",
     .unit = "{token}",
     .help = "Size of the newest request that a chain made ready, by the chain's count.",
     .kind = MetricKind::gauge},
    {.otel = "whittle.stage.runs",
     .prometheus = "stage_runs",
     .unit = "{run}",
     .help = "Runs of a middleware that had something to decide, by outcome.",
     .labels = {middleware_label, hook_label, LabelName{"whittle.outcome", "outcome"}}},
    {.otel = "whittle.tokens.saved",
     .prometheus = "tokens_saved",
     .unit = "{token}",
     .help = "Tokens by which commits made conversations smaller.",
     .labels = {middleware_label}},
    {.otel = "whittle.cache.invalidated_tokens",
     .prometheus = "cached_tokens_invalidated",
     .unit = "{token}",
     .help = "Tokens sent before that a prompt cache cannot reuse because a commit changed what stands in front.",
     .labels = {middleware_label}},
    {.otel = "whittle.stored.size",
     .prometheus = "stored_bytes",
     .unit = "By",
     .help = "Bytes written to the store by hooks.",
     .labels = {middleware_label}},
    {.otel = "gen_ai.client.token.usage",
     .prometheus = "model_call_tokens",
     .unit = "{token}",
     .help = "Tokens of model calls that middlewares made, as billed.",
     .kind = MetricKind::histogram,
     .labels = {middleware_label, LabelName{"gen_ai.token.type", "type"}},
     .bounds = model_call_token_bounds,
     .is_of_model_calls = true},
    {.otel = "gen_ai.client.operation.duration",
     .prometheus = "model_call_duration_seconds",
     .unit = "s",
     .help = "Time of model calls that middlewares made.",
     .kind = MetricKind::histogram,
     .labels = {middleware_label, LabelName{"error.type", "error_type"}},
     .bounds = model_call_bounds,
     .is_of_model_calls = true},
    {.otel = "whittle.read_backs",
     .prometheus = "read_backs",
     .unit = "{read}",
     .help = "Times that the model read what had been cut out of its context.",
     .labels = {LabelName{"gen_ai.tool.name", "tool"}}},
    {.otel = "whittle.events",
     .prometheus = "events",
     .unit = "{event}",
     .help = "Events that chains and loops told.",
     .labels = {LabelName{"whittle.source", "source"}, LabelName{"whittle.kind", "kind"},
                LabelName{"whittle.level", "level"}}},
    {.otel = "whittle.telemetry.dropped",
     .unit = "{item}",
     .help = "Spans and log records that found the queue full.",
     .labels = {LabelName{"whittle.signal", ""}}},
}};

}  // namespace

const MetricFamily& family_of(Metric metric) noexcept { return families[static_cast<std::size_t>(metric)]; }

}  // namespace whittle::inline v0::telemetry::detail
