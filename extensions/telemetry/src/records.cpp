#include "records.hpp"
#include "event_words.hpp"
#include "tally.hpp"

#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace whittle::inline v0::telemetry::detail {
namespace {

constexpr std::size_t longest_name = 256;  // bytes
constexpr std::size_t longest_text = 4'096;

bool is_tried(Outcome outcome) noexcept {
    return outcome != Outcome::not_applicable && outcome != Outcome::not_due && outcome != Outcome::cooling_down;
}

bool is_failure(Outcome outcome) noexcept { return outcome == Outcome::failed || outcome == Outcome::store_failed; }

/// Fills the attributes of a span or record; what is empty or zero is not told.
class AttributeList {
public:
    explicit AttributeList(std::vector<Attribute>& attributes) : attributes_(attributes) {}

    void text(std::string_view key, std::string_view value) {
        if (!value.empty()) attributes_.push_back({key, clipped(value, longest_name)});
    }
    void number(std::string_view key, std::int64_t value) { attributes_.push_back({key, value}); }
    void count(std::string_view key, std::int64_t value) {
        if (value != 0) number(key, value);
    }
    void real(std::string_view key, double value) { attributes_.push_back({key, value}); }
    void flag(std::string_view key, bool value) { attributes_.push_back({key, value}); }
    void model(const GenAiModel& model) {
        text("gen_ai.provider.name", model.provider);
        text("gen_ai.request.model", model.name);
    }

private:
    std::vector<Attribute>& attributes_;
};

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

/// Makes the spans of one report. The report has no times of stages, and of a model call only how long it took: a stage
/// has those of its hook, and its calls stand one behind the other from the hook's start on.
class SpanMaker {
public:
    SpanMaker(const Report& report, const OpenTelemetryConfig& config, const std::optional<TraceContext>& parent,
              UnixMillis end)
        : report_(report), config_(config), end_(end) {
        start_ = sub_saturating(end, std::max<std::int64_t>(0, report.milliseconds));
        next_call_ = start_;
        trace_id_ = parent ? parent->trace_id : new_trace_id(*config.random);
        hook(parent ? parent->span_id : std::string());
    }

    [[nodiscard]] std::list<Span> take() { return std::move(spans_); }

private:
    Span& add(std::string_view name, std::string parent) {
        Span& span = spans_.emplace_back();
        span.trace_id = trace_id_;
        span.span_id = new_span_id(*config_.random);
        span.parent_id = std::move(parent);
        span.name = clipped(name, longest_name);
        span.start = start_;
        span.end = end_;
        AttributeList(span.attributes).text("gen_ai.conversation.id", report_.conversation);
        return span;
    }

    void fail(Span& span, std::string_view type, std::string_view error) const {
        span.has_failed = true;
        if (config_.include_event_texts) span.error = clipped(error, longest_text);
        AttributeList(span.attributes).text("error.type", type);
    }

    void hook(std::string parent) {
        Span& span = add(std::string("whittle ").append(to_string(report_.hook)), std::move(parent));
        AttributeList list(span.attributes);
        list.model(config_.agent_model);
        list.text("whittle.hook", to_string(report_.hook));
        list.number("whittle.tokens.before", report_.tokens_before);
        list.number("whittle.tokens.after", report_.tokens_after);
        list.real("whittle.calibration", report_.calibration);
        list.flag("whittle.changed", report_.changed());
        const std::string id = span.span_id;
        for (const StageReport& run : report_.stages) {
            if (is_tried(run.outcome)) stage(run, id);
        }
    }

    void stage(const StageReport& run, const std::string& parent) {
        Span& span = add(std::string("whittle ").append(run.middleware), parent);
        AttributeList list(span.attributes);
        list.text("whittle.middleware", run.middleware);
        list.text("whittle.hook", to_string(run.hook));
        list.text("whittle.outcome", to_string(run.outcome));
        list.text("whittle.counter", run.counter);
        list.number("whittle.count", run.count);
        list.number("whittle.threshold", run.threshold);
        const std::string id = span.span_id;
        if (run.details) details(*run.details, list);
        if (is_failure(run.outcome))
            fail(span, to_string(run.outcome), run.details ? run.details->error : std::string());
        if (!run.details) return;
        for (const ModelCallReport& call : run.details->model_calls) model_call(call, run.middleware, id);
    }

    static void details(const StageDetails& details, AttributeList& list) {
        list.count("whittle.tokens.before", details.tokens_before);
        list.count("whittle.tokens.after", details.tokens_after);
        if (details.first_changed) {
            list.number("whittle.first_changed", static_cast<std::int64_t>(*details.first_changed));
            list.number("whittle.cache.invalidated_tokens", details.cached_tokens_invalidated);
        }
        list.count("whittle.cut", std::ranges::count_if(details.candidates, &Candidate::removed));
        list.count("whittle.stored.objects", size_of(details.stored_keys));
        list.count("whittle.stored.size", details.bytes_stored);
        list.count("whittle.store_failures", size_of(details.store_failures));
        list.count("whittle.repairs", size_of(details.repairs));
        list.count("whittle.violations_left", details.violations_left);
        list.count("whittle.thinking_parts_dropped", details.thinking_parts_dropped);
        if (details.thinking_prefix_edited) list.flag("whittle.thinking_prefix_edited", true);
    }

    void model_call(const ModelCallReport& call, std::string_view middleware, const std::string& parent) {
        constexpr std::string_view operation = "chat";
        const auto found = config_.models_by_middleware.find(std::string(middleware));
        const GenAiModel model = found == config_.models_by_middleware.end() ? GenAiModel{} : found->second;
        std::string name(operation);
        if (!model.name.empty()) name.append(" ").append(model.name);
        Span& span = add(name, parent);
        span.kind = SpanKind::client;
        span.start = std::min(next_call_, end_);
        span.end = std::min(add_saturating(span.start, std::max<std::int64_t>(0, call.milliseconds)), end_);
        next_call_ = span.end;
        AttributeList list(span.attributes);
        list.text("gen_ai.operation.name", operation);
        list.model(model);
        list.text("whittle.middleware", middleware);
        list.text("whittle.purpose", call.purpose);
        if (call.usage) {
            list.number("gen_ai.usage.input_tokens", input_tokens(*call.usage));
            list.number("gen_ai.usage.output_tokens", call.usage->output);
            list.count("gen_ai.usage.cache_read.input_tokens", call.usage->cache_read);
            list.count("gen_ai.usage.cache_creation.input_tokens", call.usage->cache_write);
        }
        if (!call.error.empty()) fail(span, other_error, call.error);
    }

    const Report& report_;
    const OpenTelemetryConfig& config_;
    UnixMillis start_ = 0;
    UnixMillis end_;
    UnixMillis next_call_ = 0;
    std::string trace_id_{};
    std::list<Span> spans_{};
};

}  // namespace

bool is_exported(const Report& report) noexcept {
    return std::ranges::any_of(report.stages, is_tried, &StageReport::outcome);
}

std::list<Span> spans_of(const Report& report, const OpenTelemetryConfig& config,
                         const std::optional<TraceContext>& parent, UnixMillis end) {
    return SpanMaker(report, config, parent, end).take();
}

LogRecord record_of(const Event& event, const OpenTelemetryConfig& config, const std::optional<TraceContext>& parent,
                    UnixMillis time) {
    LogRecord record{.time = time, .level = event.level};
    record.name = std::string("whittle.").append(clipped(event.kind, longest_name));
    if (config.include_event_texts) record.text = clipped(event.text, longest_text);
    if (parent) {
        record.trace_id = parent->trace_id;
        record.span_id = parent->span_id;
        record.is_sampled = parent->is_sampled;
    }
    AttributeList list(record.attributes);
    list.text("gen_ai.conversation.id", event.conversation);
    list.text("whittle.source", event.source);
    if (event.kind == read_back_kind) list.text("gen_ai.tool.name", event.source);
    list.count("whittle.tokens.before", event.tokens_before);
    list.count("whittle.tokens.after", event.tokens_after);
    return record;
}

}  // namespace whittle::inline v0::telemetry::detail
