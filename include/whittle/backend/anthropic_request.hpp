#pragma once

#include "whittle/adapter/anthropic.hpp"
#include "whittle/backend/http_transport.hpp"
#include "whittle/port/model.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A model behind Anthropic's Messages API, or behind a server that speaks it.
struct AnthropicModelConfig {
    std::string model{};                                 ///< required
    std::string base_url = "https://api.anthropic.com";  ///< the address to "/v1/messages"; a query stays behind it
    std::string api_key{};                               ///< secret, never in an error or event; empty: none is sent
    std::string version = "2023-06-01";                  ///< header "anthropic-version"
    std::vector<std::string> betas{};                    ///< header "anthropic-beta"
    std::int64_t max_output_tokens = 8'192;              ///< where the call does not say; the API wants a limit
    int cache_marks = 4;           ///< `cache_control` marks in a request at most, 0 to 4; 0: none are placed
    std::string cache_lifetime{};  ///< "5m" or "1h"; empty: the API's own (5m)
    std::string extra{};           ///< further fields of every request as one JSON object, such as "thinking"
    bool always_stream = false;    ///< stream also where nobody listens: long answers keep the connection alive
    HttpHeaders headers{};         ///< further headers; secret are those named so (key, auth, token, ...)
    HttpLimits limits{};

    friend bool operator==(const AnthropicModelConfig&, const AnthropicModelConfig&) = default;
};

/// Adds every bad field to `problems`, each under "{name}.".
void check_anthropic_model(const AnthropicModelConfig& config, std::string_view name, Problems& problems);

}  // namespace whittle::inline v0

namespace whittle::inline v0::anthropic {

enum class BodyKind { whole, stream, count };

/// A request without its transport.
struct RequestText {
    std::string body{};                ///< compact JSON
    std::vector<std::string> betas{};  ///< of the configuration, and what this request needs on top
};

/// The body of POST {base}/v1/messages (whole, stream) or .../count_tokens (count). System text stands beside the
/// messages; of a message, role and content are sent. Of replies, blank text blocks and thinking at the end are left
/// out, and replies without any other content whole: the API gives such, but does not take them back. Cache marks: the
/// host's own stay; as many of ours as there is room for are put, in the request only, on the system text (else the
/// last tool), behind the stable prefix, on the last message and on the user's message before it. A request with a
/// purpose gets those of the system text and of a stable prefix it names. With `prefix_edited` and thinking in the
/// messages, the provider is asked to pass over what does not fit. `GenerateOptions` win over the configuration, the
/// call's `extra` over both; "messages", "system" and "stream" cannot be set there, and its "tools" come behind those
/// of the request. Text that is not UTF-8 goes with U+FFFD. Throws ModelError(bad_request) for extra fields or tool
/// parameters that are no JSON objects.
[[nodiscard]] RequestText messages_request(const ModelRequest<Message>& request, const AnthropicModelConfig& config,
                                           BodyKind kind);

}  // namespace whittle::inline v0::anthropic
