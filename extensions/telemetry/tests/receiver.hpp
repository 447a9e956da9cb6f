// A server for OTLP without a server, and chains that do something worth telling.
#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/http_transport.hpp"
#include "whittle/telemetry/opentelemetry.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Keeps the requests it gets, and answers each with `answer`, or with status 200.
class Receiver final : public HttpTransport {
public:
    HttpResponse send(const HttpRequest& request, const BodySink& /*on_body*/ = {}) override {
        {
            const std::lock_guard lock(mutex_);
            requests.push_back(request);
        }
        if (request.stop.stop_requested()) throw ModelError(ModelErrorClass::cancelled, "send: stopped");
        return answer ? answer(request) : HttpResponse{.status = 200, .body = "{}"};
    }

    /// What was posted to that path, in one list: the spans, log records or metrics.
    [[nodiscard]] std::vector<nlohmann::json> items(const std::string& signal, const char* list) const {
        std::vector<nlohmann::json> found;
        for (const HttpRequest& request : requests) {
            const nlohmann::json body = nlohmann::json::parse(request.body);
            if (!body.contains("resource" + signal)) continue;
            const auto& of_scope = body["resource" + signal][0]["scope" + signal][0][list];
            found.insert(found.end(), of_scope.begin(), of_scope.end());
        }
        return found;
    }
    [[nodiscard]] std::vector<nlohmann::json> spans() const { return items("Spans", "spans"); }
    [[nodiscard]] std::vector<nlohmann::json> records() const { return items("Logs", "logRecords"); }
    [[nodiscard]] std::vector<nlohmann::json> metrics() const { return items("Metrics", "metrics"); }

    std::function<HttpResponse(const HttpRequest&)> answer{};
    std::vector<HttpRequest> requests{};

private:
    std::mutex mutex_{};
};

/// The attributes of a span, record or point: text, numbers as text (as the protocol has them), or flags.
[[nodiscard]] inline nlohmann::json attributes_of(const nlohmann::json& item) {
    nlohmann::json result = nlohmann::json::object();
    for (const auto& one : item["attributes"]) result[one["key"].get<std::string>()] = one["value"].begin().value();
    return result;
}

/// Settings that give the same bytes each time.
[[nodiscard]] inline telemetry::OpenTelemetryConfig fixed_config() {
    return {.clock = std::make_shared<ManualClock>(1'000'000), .random = std::make_shared<SeededRandom>(1)};
}

/// A hook in which a summary was made: the model failed once.
[[nodiscard]] inline Report summary_report() {
    Report report{.hook = Hook::before_model, .tokens_before = 90'000, .tokens_after = 20'000, .milliseconds = 5'000};
    report.conversation = "book";
    StageReport& idle = report.stages.emplace_back();
    idle.middleware = "reduction";
    idle.outcome = Outcome::not_due;
    StageReport& stage = report.stages.emplace_back();
    stage.middleware = "summarization";
    stage.outcome = Outcome::committed;
    stage.counter = "chars/4";
    stage.count = 90'000;
    stage.threshold = 80'000;
    StageDetails& details = stage.ensure_details();
    details.tokens_before = 88'000;
    details.tokens_after = 18'000;
    details.first_changed = 1;
    details.cached_tokens_invalidated = 70'000;
    details.bytes_stored = 300'000;
    details.stored_keys = {"book/sum/1"};
    details.model_calls = {
        {.purpose = "summarization: summary", .usage = {}, .milliseconds = 1'000, .error = "no connection"},
        {.purpose = "summarization: summary",
         .usage = Usage{.uncached_input = 40'000, .cache_read = 2'000, .cache_write = 1'000, .output = 900},
         .milliseconds = 3'500,
         .error = {}}};
    return report;
}

[[nodiscard]] inline Report undue_report() {
    Report report{.hook = Hook::before_model, .tokens_before = 900, .tokens_after = 900};
    report.conversation = "a conversation with a long id, which is no short string";
    StageReport& stage = report.stages.emplace_back();
    stage.middleware = "a middleware with a long name, which is no short string";
    stage.outcome = Outcome::not_due;
    return report;
}

[[nodiscard]] inline Event committed_event() {
    return {.source = "summarization",
            .kind = "committed",
            .text = "summarization: 88000 -> 18000 tokens",
            .conversation = "book",
            .tokens_before = 88'000,
            .tokens_after = 18'000};
}

}  // namespace whittle::testing
