// Sources of the format of OpenTelemetry: GenAI conventions (https://opentelemetry.io/docs/specs/semconv/gen-ai/)
// (2026-11-25); `util/opentelemetry-util-genai`
// (https://github.com/open-telemetry/opentelemetry-python-contrib/tree/main/util/opentelemetry-util-genai)
// (`_agent_invocation.py`, `_workflow_invocation.py`, `_inference_invocation.py`) at commit `466ae4c` (2026-08-21);
// OpenLLMetry (https://github.com/traceloop/openllmetry) at `93429cf` (2026-06-28): `MIGRATION.md` of its conventions,
// and its instrumentations of Ollama and Mistral, which still write a message's attributes each; OpenInference's `spec`
// (https://github.com/Arize-ai/openinference/tree/main/spec) (`llm_spans.md`, `semantic_conventions.md`; 2026-11-26).
#include "otel_calls.hpp"
#include "otel_messages.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

std::int64_t nanos_at(const ordered_json& span, const char* key) {
    const std::string_view text = text_at(span, key);
    std::int64_t nanos = 0;
    std::from_chars(text.data(), text.data() + text.size(), nanos);
    return text.empty() ? count_at(span, key) : nanos;
}

/// With its trace; empty without one of both.
std::string span_at(const ordered_json& holder, const char* key) {
    const std::string_view trace = text_at(holder, "traceId");
    const std::string_view span = text_at(holder, key);
    return trace.empty() || span.empty() ? std::string() : std::string(trace) + "/" + std::string(span);
}

/// What a span stands for where that is no call of a chat model, such as the agent around several of them, which has
/// their messages and the sum of their tokens too. Else "".
std::string_view other_operation(const OtelAttributes& attributes) {
    constexpr std::array<std::string_view, 8> others{"invoke_agent", "create_agent", "invoke_workflow", "execute_tool",
                                                     "embeddings",   "retrieval",    "embedding",       "rerank"};
    const std::string_view operation = first_attribute_text(attributes, {"gen_ai.operation.name", "llm.request.type"});
    if (std::ranges::find(others, operation) != others.end()) return operation;
    const std::string_view kind = first_attribute_text(attributes, {"openinference.span.kind"});
    return kind == "LLM" ? std::string_view() : kind;
}

bool names_a_model(const OtelAttributes& attributes) {
    const std::string_view operation = first_attribute_text(attributes, {"gen_ai.operation.name"});
    if (operation == "chat" || operation == "generate_content" || operation == "text_completion") return true;
    return first_attribute(attributes, {"gen_ai.request.model", "llm.model_name", "llm.request.type"}) != nullptr;
}

bool has_failed(const ordered_json& span, const OtelAttributes& attributes) {
    const ordered_json* status = tree_at(span, "status");
    const bool is_error =
        status != nullptr && (count_at(*status, "code") == 2 || text_at(*status, "code") == "STATUS_CODE_ERROR");
    return is_error || first_attribute(attributes, {"error.type"}) != nullptr;
}

std::int64_t count_of(const ordered_json* value) { return value == nullptr ? 0 : count_in(*value); }

std::optional<Usage> usage_of_span(const OtelAttributes& attributes) {
    const ordered_json* sum = first_attribute(
        attributes, {"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"});
    const ordered_json* output = first_attribute(
        attributes, {"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"});
    if (sum == nullptr && output == nullptr) return std::nullopt;
    const ordered_json* read =
        first_attribute(attributes, {"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
                                     "llm.token_count.prompt_details.cache_read"});
    const ordered_json* written = first_attribute(
        attributes, {"gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
                     "llm.token_count.prompt_details.cache_write"});
    const ordered_json* total =
        first_attribute(attributes, {"gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"});
    return usage_by_total({.uncached_input = count_of(sum),
                           .cache_read = count_of(read),
                           .cache_write = count_of(written),
                           .output = count_of(output)},
                          count_of(total), CachePlace::in_input);
}

class OtelLog {
public:
    OtelLog(const LogOptions& options, LogNotes& notes) : messages_(options, notes), notes_(notes), calls_(notes) {}

    void add(const ordered_json& record) {
        each(record, "resourceSpans", [&](const ordered_json& resource) {
            each(resource, "scopeSpans", [&](const ordered_json& scope) {
                each(scope, "spans", [&](const ordered_json& span) { add_span(span); });
            });
        });
        each(record, "resourceLogs", [&](const ordered_json& resource) {
            each(resource, "scopeLogs", [&](const ordered_json& scope) {
                each(scope, "logRecords", [&](const ordered_json& event) { add_log_record(event); });
            });
        });
        each(record, "resourceMetrics", [&](const ordered_json&) { ++notes_.left_out["metrics"]; });
    }

    void finish(ExchangeList&& list, VisitSession visit) {
        const auto is_alone = [&](const std::string& trace) { return !traces_.contains(trace); };
        const auto alone = std::ranges::count_if(agents_, is_alone);
        if (alone > 0) notes_.unknown["agent without spans of its model calls"] += alone;
        calls_.finish(std::move(list), visit);
    }

private:
    static constexpr std::string_view details_event = "gen_ai.client.inference.operation.details";

    template <typename Visit>
    static void each(const ordered_json& holder, const char* key, const Visit& visit) {
        const ordered_json* list = tree_at(holder, key);
        if (list == nullptr || !list->is_array()) return;
        for (const ordered_json& one : *list) visit(one);
    }

    /// With the attributes of its events that hold messages.
    void add_span(const ordered_json& span) {
        OtelAttributes attributes = otel_attributes_of(span);
        each(span, "events", [&](const ordered_json& event) {
            const std::string_view name = text_at(event, "name");
            if (name == details_event || name == "gen_ai.content.prompt" || name == "gen_ai.content.completion")
                attributes.merge(otel_attributes_of(event));
        });
        add_call(span, attributes, nanos_at(span, "startTimeUnixNano"), false);
    }

    void add_log_record(const ordered_json& record) {
        const OtelAttributes attributes = otel_attributes_of(record);
        std::string_view name = text_at(record, "eventName");
        if (name.empty()) name = first_attribute_text(attributes, {"event.name"});
        if (name == details_event) return add_call(record, attributes, nanos_at(record, "timeUnixNano"), true);
        const bool is_message = name.starts_with("gen_ai.") && (name.ends_with(".message") || name == "gen_ai.choice");
        ++(is_message ? notes_.unknown
                      : notes_.left_out)[is_message ? "event/" + std::string(name.substr(0, 64)) : "log record"];
    }

    void add_call(const ordered_json& holder, const OtelAttributes& attributes, std::int64_t nanos, bool is_event) {
        if (const std::string_view other = other_operation(attributes); !other.empty()) {
            ++notes_.left_out["span/" + std::string(other.substr(0, 64))];
            if (other == "invoke_agent") agents_.emplace_back(text_at(holder, "traceId"));
            return;
        }
        OtelCall made{.span = span_at(holder, "spanId"), .parent = span_at(holder, "parentSpanId")};
        made.is_event = is_event;
        made.call.time = static_cast<double>(nanos) / 1e9;
        made.call.usage = usage_of_span(attributes);
        const ordered_json sent = messages_.sent(attributes);
        if (sent.is_null() && !names_a_model(attributes)) {
            ++notes_.left_out["span without gen_ai.input.messages"];
            return;
        }
        made.call.response = response_of(attributes);
        if (has_failed(holder, attributes) && !made.call.usage && made.call.response["choices"].empty()) {
            ++notes_.left_out["span of a model call that failed"];
            return;
        }
        if (!sent.is_null()) made.call.request = request_of(sent, attributes);
        made.call.group = text_at(holder, "traceId");
        traces_.insert(made.call.group);
        calls_.add(std::move(made));
    }

    ordered_json request_of(const ordered_json& sent, const OtelAttributes& attributes) const {
        ordered_json request{{"messages", sent}};
        request["model"] = first_attribute_text(attributes, {"gen_ai.request.model", "llm.model_name"});
        if (ordered_json system = messages_.system(attributes); !system.is_null())
            request["system"] = std::move(system);
        return request;
    }

    ordered_json response_of(const OtelAttributes& attributes) const {
        ordered_json response{{"id", first_attribute_text(attributes, {"gen_ai.response.id"})},
                              {"model", first_attribute_text(attributes, {"gen_ai.response.model",
                                                                          "gen_ai.request.model", "llm.model_name"})}};
        ordered_json replies = messages_.replies(attributes);
        response["choices"] = ordered_json::array();
        if (replies.size() > 1) ++notes_.unknown["output with several replies"];
        if (!replies.empty()) response["choices"].push_back({{"message", std::move(replies.front())}});
        return response;
    }

    OtelMessages messages_;
    LogNotes& notes_;
    OtelCalls calls_;
    std::unordered_set<std::string> traces_{};  // of model calls
    std::vector<std::string> agents_{};         // traces of their spans
};

}  // namespace

void read_otel(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    OtelLog log(options, notes);
    while (const auto record = records.next_or_document()) log.add(*record);
    log.finish(ExchangeList(stem_of(options), Format::otel, notes), visit);
}

}  // namespace whittle::inline v0::logs
