#pragma once

#include "whittle/model/model.hpp"
#include "whittle/provider/http_transport.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// What a server answers, without a server.
struct ScriptedAnswer {
    int status = 200;
    HttpHeaders headers{{"Content-Type", "application/json"}};
    std::string body{};
    std::vector<std::size_t> cuts{};      ///< ascending: where the body is cut into pieces
    std::optional<ModelError> failure{};  ///< thrown once the body was handed out, as for a cut connection
};

inline ScriptedAnswer answer_json(std::string body, int status = 200) {
    return {.status = status, .body = std::move(body)};
}
inline ScriptedAnswer answer_events(std::string body) {
    return {.headers = {{"Content-Type", "text/event-stream; charset=utf-8"}}, .body = std::move(body)};
}

/// Answers from a list and keeps the requests it got. Obeys the contract of `HttpTransport`.
class ScriptedTransport final : public HttpTransport {
public:
    explicit ScriptedTransport(std::vector<ScriptedAnswer> answers) : answers_(std::move(answers)) {}
    explicit ScriptedTransport(ScriptedAnswer answer) { answers_.push_back(std::move(answer)); }

    HttpResponse send(const HttpRequest& request, const BodySink& on_body = {}) override {
        const ScriptedAnswer answer = next(request);
        if (request.stop.stop_requested()) throw ModelError(ModelErrorClass::cancelled, "send: stopped");
        HttpResponse response{.status = answer.status, .headers = answer.headers};
        const bool is_success = answer.status >= 200 && answer.status < 300;
        const bool is_taken = on_body.should_stream_body ? on_body.should_stream_body(response) : is_success;
        if (!is_taken || !on_body.on_bytes) {
            response.body = answer.body;
        } else if (!hand_out(answer, on_body)) {
            return response;
        }
        if (answer.failure) throw ModelError(*answer.failure);
        return response;
    }

    [[nodiscard]] const std::vector<HttpRequest>& requests() const noexcept { return requests_; }
    /// Of the last request; empty if it has none of that name.
    [[nodiscard]] std::string header(std::string_view name) const {
        return std::string(find_header(requests_.back().headers, name).value_or(""));
    }

private:
    ScriptedAnswer next(const HttpRequest& request) {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        if (requests_.size() > answers_.size()) throw ModelError(ModelErrorClass::transport, "send: no answer is left");
        return answers_[requests_.size() - 1];
    }

    static bool hand_out(const ScriptedAnswer& answer, const BodySink& on_body) {
        std::string_view rest = answer.body;
        std::size_t at = 0;
        for (const std::size_t cut : answer.cuts) {
            const std::string_view piece = rest.substr(0, cut - at);
            rest.remove_prefix(piece.size());
            at = cut;
            if (!piece.empty() && !on_body.on_bytes(piece)) return false;
        }
        return rest.empty() || on_body.on_bytes(rest);
    }

    std::mutex mutex_{};
    std::vector<ScriptedAnswer> answers_{};
    std::vector<HttpRequest> requests_{};
};

}  // namespace whittle::testing
