#include "otlp_client.hpp"

#include "otlp_json.hpp"
#include "whittle/provider/detail/retry_after.hpp"
#include "whittle/provider/detail/url_text.hpp"

#include "whittle/base/version.hpp"
#include "whittle/model/model.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace whittle::inline v0::telemetry::detail {
namespace {

constexpr std::size_t longest_problem = 1'000;  // bytes

HttpRequest request_to(const OpenTelemetryConfig& config, std::string_view path, std::string body,
                       const StopToken& stop) {
    HttpRequest request{.url = config.endpoint, .headers = config.headers, .body = std::move(body)};
    while (request.url.ends_with('/')) request.url.pop_back();
    request.url += path;
    request.headers.emplace_back("Content-Type", "application/json");
    if (!find_header(config.headers, "User-Agent"))
        request.headers.emplace_back("User-Agent", "whittle/" WHITTLE_VERSION_STRING);
    request.limits = config.limits;
    request.stop = stop;
    return request;
}

bool is_retryable(int status) noexcept { return status == 429 || status == 502 || status == 503 || status == 504; }

PostResult read_answer(const HttpResponse& answer, std::string_view url) {
    if (answer.status >= 200 && answer.status < 300) {
        PartialSuccess partial = read_partial_success(answer.body);
        PostResult result{.rejected = partial.rejected};
        if (partial.rejected > 0 || !partial.message.empty())
            result.problem = fmt::format("POST {}: {} items not kept: {}", url, partial.rejected, partial.message);
        return result;
    }
    const std::string message = read_error_message(answer.body);
    PostResult result{.delivery = Delivery::refused};
    result.problem = fmt::format("POST {}: status {}{}{}", url, answer.status, message.empty() ? "" : ": ", message);
    if (is_retryable(answer.status)) {
        result.delivery = Delivery::later;
        result.retry_after = whittle::detail::read_retry_after(answer.headers);
    }
    return result;
}

}  // namespace

PostResult post(HttpTransport& transport, const OpenTelemetryConfig& config, std::string_view path, std::string body,
                const StopToken& stop) {
    const HttpRequest request = request_to(config, path, std::move(body), stop);
    const std::string url = whittle::detail::without_secrets(request.url);
    const auto failed = [&](Delivery delivery, std::string_view why) {
        return PostResult{.delivery = delivery,
                          .problem = clipped(fmt::format("POST {}: {}", url, why), longest_problem)};
    };
    try {
        return read_answer(transport.send(request), url);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const ModelError& error) {
        // An answer that is too large: the protocol says not to send the same again.
        const bool is_final = error.error_class() == ModelErrorClass::bad_request;
        return failed(is_final ? Delivery::refused : Delivery::later, error.what());
    } catch (...) {
        return failed(Delivery::later, whittle::detail::current_error_text());
    }
}

}  // namespace whittle::inline v0::telemetry::detail
