#pragma once

#include "whittle/model/model.hpp"
#include "whittle/provider/http_transport.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What both chat models share: one request, its answer read whole or as a stream, and every refusal as a ModelError.
namespace whittle::inline v0::detail {

/// `base` with `path` behind its own path and before its query.
[[nodiscard]] std::string join_url(std::string_view base, std::string_view path);

/// Without white space around it: keys come from files and variables that end in a line break.
[[nodiscard]] std::string trimmed(std::string_view key);

/// JSON in, JSON or events out. A header that `further` has is not set beside it.
[[nodiscard]] HttpHeaders make_headers(bool is_stream, HttpHeaders own, const HttpHeaders& further);

[[nodiscard]] bool is_success(int status) noexcept;
/// Whether the body of a success may be events: false for JSON and HTML, which some servers send though they were asked
/// for a stream.
[[nodiscard]] bool may_stream(const HttpResponse& head);

/// Throws the ModelError that an answer with such a status is.
[[noreturn]] void throw_refusal(const HttpResponse& response, std::string_view operation);

/// What no text may show.
struct Secrets {
    std::string_view key;
    const HttpHeaders& headers;  ///< the values of those that are named as a secret (key, auth, token, cookie, ...)
    std::string_view url;        ///< the values of such names in its query
};

/// Throws the exception in flight again, with every secret of 8 bytes and more in its text blotted out.
[[noreturn]] void rethrow_without(const Secrets& secrets);

/// Sends `request`. `Stream` is built from a listener and headers; `read_whole(body, on_delta, headers)` reads an
/// answer that is no stream. Nothing of a reply gets out before it is whole, but for what the listener was given.
template <typename Stream, typename ReadWhole>
[[nodiscard]] auto exchange(HttpTransport& transport, const HttpRequest& request, bool is_stream,
                            const DeltaSink* on_delta, std::string_view operation, const ReadWhole& read_whole) {
    std::optional<Stream> stream;
    SseParser parser;
    BodySink sink;
    if (is_stream) {
        sink.should_stream_body = [&](const HttpResponse& head) {
            if (!is_success(head.status) || !may_stream(head)) return false;
            stream.emplace(on_delta, head.headers);
            return true;
        };
        sink.on_bytes = [&](std::string_view bytes) {
            const auto take = [&](const SseEvent& event) { stream->take(event); };
            parser.feed(bytes, take);
            return !stream->is_done();
        };
    }
    if (request.stop.stop_requested())
        throw ModelError(ModelErrorClass::cancelled, std::string(operation) + ": stopped before the call");
    const HttpResponse response = transport.send(request, sink);
    if (!is_success(response.status)) throw_refusal(response, operation);
    if (!stream) return read_whole(response.body, on_delta, response.headers);
    parser.ends_cleanly();
    return stream->finish();
}

}  // namespace whittle::inline v0::detail
