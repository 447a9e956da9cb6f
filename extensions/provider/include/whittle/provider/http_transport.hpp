#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/base/version.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Names and values in the order they were sent; a name may come more than once.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header called `name`, in upper or lower case. The view lives as long as `headers`.
[[nodiscard]] std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) noexcept;

/// How long and how much one exchange may take. 0: no limit of this kind. What takes too long is a `ModelError` of
/// class transport, what is too much one of class bad_request. A server that keeps sending a byte now and then is only
/// ended by `total`.
struct HttpLimits {
    std::chrono::milliseconds connect{10'000};      ///< name lookup, TCP, proxy and TLS together
    std::chrono::milliseconds first_byte{600'000};  ///< from the last byte sent to the first one of the answer
    std::chrono::milliseconds idle{120'000};        ///< between two pieces of the answer
    std::chrono::milliseconds total{1'800'000};     ///< the whole exchange
    std::int64_t max_response_bytes = 67'108'864;   ///< of the answer's body, streamed or not (64 MiB)

    friend bool operator==(const HttpLimits&, const HttpLimits&) = default;
};

/// One request; its body is in memory.
struct HttpRequest {
    std::string method = "POST";  ///< upper-case letters
    std::string url{};            ///< absolute, http or https
    HttpHeaders headers{};  ///< nothing is added but what HTTP needs; a name or value with a line break is refused
    std::string body{};     ///< bytes as they are sent
    HttpLimits limits{};    ///< of this exchange
    StopToken stop{};       ///< ends the exchange with class cancelled
};

/// The answer to one request.
struct HttpResponse {
    int status = 0;         ///< the status code, such as 200
    HttpHeaders headers{};  ///< as they came
    std::string body{};     ///< empty where a `BodySink` took it

    /// The value of the first header of that name, in upper or lower case. The view lives as long as the answer.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
        return find_header(headers, name);
    }
};

/// Takes the body of an answer while it arrives. Both are called on the thread that called `send`. What they throw ends
/// the exchange and comes out of `send` unchanged.
struct BodySink {
    /// Once, before the first byte: status and headers, no body yet. True: the body goes to `on_bytes`. False: it is
    /// collected in `HttpResponse::body`. Absent: true for status 200 to 299, so that the body of an error is
    /// collected.
    std::function<bool(const HttpResponse& head)> should_stream_body{};
    /// Each piece as it arrives, cut anywhere, never empty. False: enough; the answer is complete, and `on_bytes` is
    /// not called again. The rest may be read and passed over for a second, so that the connection can be used again.
    /// Absent: the body is collected, whatever `should_stream_body` says.
    std::function<bool(std::string_view bytes)> on_bytes{};
};

/// Sends HTTP requests. Thread-safe: `send` may run on several threads at once.
class HttpTransport {
public:
    virtual ~HttpTransport() = default;

    /// Blocks until the answer is complete, also for an error status, which is no failure of the transport. Redirects
    /// are not followed: the 3xx is the answer. Throws `ModelError` of class transport (connection, TLS, limits of
    /// time, an answer cut short), bad_request (an answer above `max_response_bytes`), auth (the server's certificate
    /// is not trusted) or cancelled (`request.stop`, promptly); `Error(invalid_argument)` for a request that cannot be
    /// sent and for settings that cannot be right. No error text holds a header, a body, or the query of the URL: any
    /// of them may be a secret.
    virtual HttpResponse send(const HttpRequest& request, const BodySink& on_body = {}) = 0;
};

}  // namespace whittle::inline v0
