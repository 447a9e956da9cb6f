#include "tally.hpp"
#include "event_words.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::telemetry::detail {
namespace {

constexpr std::size_t longest_label = 100;  // bytes

/// A view of `text`, which is replaced by `cleaned` where it is no fit label.
std::string_view clean_label(std::string_view text, std::string& cleaned) {
    const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f'; };
    const bool has_control = std::ranges::any_of(text, is_control);
    if (text.size() <= longest_label && !has_control && is_valid_utf8(text)) return text;
    cleaned = clipped(text, longest_label);
    std::ranges::replace_if(cleaned, is_control, '_');  // they are told apart nowhere
    return cleaned;
}

bool is_request(Hook hook) noexcept { return hook == Hook::before_model || hook == Hook::on_overflow; }

}  // namespace

std::int64_t input_tokens(const Usage& usage) noexcept {
    return add_saturating(usage.uncached_input, add_saturating(usage.cache_read, usage.cache_write));
}

std::string clipped(std::string_view text, std::size_t max_bytes) {
    // Each byte that is no UTF-8 becomes three.
    const std::string valid = to_valid_utf8(text.substr(0, max_bytes));
    return std::string(grapheme_prefix(valid, max_bytes));
}

Series& Tally::series_of(Metric metric, const LabelViews& labels) {
    Family& family = families_[static_cast<std::size_t>(metric)];
    LabelValues cleaned;
    LabelViews clean;
    for (std::size_t i = 0; i < most_labels; ++i) clean[i] = clean_label(labels[i], cleaned[i]);
    if (const auto found = family.series.find(clean); found != family.series.end()) return found->second;

    Series series{.is_overflow = family.series.size() >= max_series_};
    if (series.is_overflow && family.overflow) return *family.overflow;
    const std::span<const double> bounds = family_of(metric).bounds;
    if (!bounds.empty()) series.buckets.resize(bounds.size() + 1);
    if (series.is_overflow) return family.overflow.emplace(std::move(series));
    for (std::size_t i = 0; i < most_labels; ++i) series.labels[i] = clean[i];
    LabelValues key = series.labels;
    return family.series.emplace(std::move(key), std::move(series)).first->second;
}

void Tally::add(Metric metric, const LabelViews& labels, std::int64_t count) {
    Series& series = series_of(metric, labels);
    series.value = add_saturating(series.value, std::max<std::int64_t>(0, count));
}

void Tally::observe(Metric metric, const LabelViews& labels, double value) {
    Series& series = series_of(metric, labels);
    const std::span<const double> bounds = family_of(metric).bounds;
    value = std::max(0.0, value);
    ++series.buckets[static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin())];
    ++series.value;
    series.sum += value;
}

void Tally::model_call(std::string_view middleware, const ModelCallReport& call) {
    const std::string_view error = call.error.empty() ? std::string_view() : other_error;
    observe(Metric::model_call_seconds, {middleware, error}, static_cast<double>(call.milliseconds) / 1000.0);
    if (!call.usage) return;
    observe(Metric::model_call_tokens, {middleware, "input"}, static_cast<double>(input_tokens(*call.usage)));
    observe(Metric::model_call_tokens, {middleware, "output"}, static_cast<double>(call.usage->output));
}

void Tally::stage(const StageReport& stage) {
    if (stage.outcome == Outcome::not_applicable) return;
    add(Metric::stage_runs, {stage.middleware, to_string(stage.hook), to_string(stage.outcome)}, 1);
    if (!stage.details) return;
    const StageDetails& details = *stage.details;
    if (stage.outcome == Outcome::committed) {
        add(Metric::tokens_saved, {stage.middleware}, sub_saturating(details.tokens_before, details.tokens_after));
        add(Metric::cached_tokens_invalidated, {stage.middleware}, details.cached_tokens_invalidated);
    }
    if (details.bytes_stored > 0) add(Metric::bytes_stored, {stage.middleware}, details.bytes_stored);
    for (const ModelCallReport& call : details.model_calls) model_call(stage.middleware, call);
}

void Tally::report(const Report& report) {
    const std::lock_guard lock(mutex_);
    observe(Metric::hook_seconds, {to_string(report.hook)}, static_cast<double>(report.milliseconds) / 1000.0);
    if (is_request(report.hook)) series_of(Metric::request_tokens, {}).value = report.tokens_after;
    for (const StageReport& run : report.stages) stage(run);
}

void Tally::event(const Event& event) {
    const std::lock_guard lock(mutex_);
    add(Metric::events, {event.source, event.kind, to_string(event.level)}, 1);
    if (event.kind == read_back_kind) add(Metric::read_backs, {event.source}, 1);
}

void Tally::dropped(std::string_view signal, std::int64_t items) {
    const std::lock_guard lock(mutex_);
    add(Metric::dropped, {signal}, items);
}

std::array<std::vector<Series>, metric_count> Tally::snapshot() const {
    std::array<std::vector<Series>, metric_count> result;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < metric_count; ++i) {
        const Family& family = families_[i];
        result[i].reserve(family.series.size() + 1);
        for (const auto& [labels, series] : family.series) result[i].push_back(series);
        if (family.overflow) result[i].push_back(*family.overflow);
    }
    return result;
}

}  // namespace whittle::inline v0::telemetry::detail
