// What both formats count: metrics by a few labels, in bounded memory.
#pragma once

#include "whittle/base/event.hpp"
#include "whittle/conversation/report.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::telemetry::detail {

enum class Metric : std::uint8_t {
    hook_seconds,
    request_tokens,
    stage_runs,
    tokens_saved,
    cached_tokens_invalidated,
    bytes_stored,
    model_call_tokens,
    model_call_seconds,
    read_backs,
    events,
    dropped,
};
inline constexpr std::size_t metric_count = 11;

enum class MetricKind : std::uint8_t { counter, gauge, histogram };

struct LabelName {
    std::string_view otel{};  ///< empty: no label
    std::string_view prometheus{};
};
inline constexpr std::size_t most_labels = 3;

struct MetricFamily {
    std::string_view otel{};
    std::string_view prometheus{};  ///< without prefix and "_total"; empty: not there
    std::string_view unit{};        ///< of OpenTelemetry
    std::string_view help{};
    MetricKind kind = MetricKind::counter;
    std::array<LabelName, most_labels> labels{};
    std::span<const double> bounds{};  ///< upper bounds of a histogram's buckets, ascending; the last one is unbounded
    bool is_of_model_calls = false;
};

[[nodiscard]] const MetricFamily& family_of(Metric metric) noexcept;

/// Label values in the order of `MetricFamily::labels`; empty where a label is not told.
using LabelViews = std::array<std::string_view, most_labels>;
using LabelValues = std::array<std::string, most_labels>;

struct Series {
    LabelValues labels{};
    bool is_overflow = false;             ///< of all label values that came too late for a series of their own
    std::int64_t value = 0;               ///< of a counter or gauge; how often of a histogram
    double sum = 0.0;                     ///< of a histogram
    std::vector<std::int64_t> buckets{};  ///< of a histogram, not cumulative, the unbounded one last
};

/// Counts. Thread-safe. Known label values are found again without an allocation.
class Tally {
public:
    explicit Tally(std::size_t max_series_per_metric) : max_series_(max_series_per_metric) {}

    void report(const Report& report);
    void event(const Event& event);
    void dropped(std::string_view signal, std::int64_t items);

    /// The series of each metric, ordered by their labels; the overflow comes last.
    [[nodiscard]] std::array<std::vector<Series>, metric_count> snapshot() const;

private:
    struct LabelLess {
        using is_transparent = void;
        template <typename A, typename B>
        bool operator()(const A& a, const B& b) const noexcept {
            for (std::size_t i = 0; i < most_labels; ++i) {
                if (const int order = std::string_view(a[i]).compare(b[i]); order != 0) return order < 0;
            }
            return false;
        }
    };
    struct Family {
        std::map<LabelValues, Series, LabelLess> series{};
        std::optional<Series> overflow{};
    };

    // All of these under the lock.
    [[nodiscard]] Series& series_of(Metric metric, const LabelViews& labels);
    void add(Metric metric, const LabelViews& labels, std::int64_t count);
    void observe(Metric metric, const LabelViews& labels, double value);
    void stage(const StageReport& stage);
    void model_call(std::string_view middleware, const ModelCallReport& call);

    std::size_t max_series_;
    mutable std::mutex mutex_{};
    std::array<Family, metric_count> families_{};
};

/// Input of all classes: OpenTelemetry counts cached tokens in.
[[nodiscard]] std::int64_t input_tokens(const Usage& usage) noexcept;

/// `text` as valid UTF-8 of at most `max_bytes`.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t max_bytes);

inline constexpr std::string_view overflow_label = "_other";
/// `error.type` where nothing more is known.
inline constexpr std::string_view other_error = "_OTHER";

}  // namespace whittle::inline v0::telemetry::detail
