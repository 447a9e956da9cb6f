#pragma once

#include "whittle/adapter/openai.hpp"
#include "whittle/backend/http_transport.hpp"
#include "whittle/backend/openai_dialect.hpp"
#include "whittle/port/model.hpp"

#include <cstdint>
#include <string>

namespace whittle::inline v0 {

/// A model behind OpenAI's chat completions, or behind a server that speaks them.
struct OpenAIModelConfig {
    std::string model{};                                 ///< required
    std::string base_url = "https://api.openai.com/v1";  ///< the path to "/chat/completions"; a query stays behind it
    std::string api_key{};                               ///< secret, never in an error or event; empty: none is sent
    openai::Dialect dialect{};                           ///< what the server takes
    std::int64_t max_output_tokens = 0;                  ///< where the call does not say; 0: the server's own limit
    std::string extra{};                                 ///< further fields of every request as one JSON object
    bool always_stream = false;  ///< stream also where nobody listens: long answers keep the connection alive
    HttpHeaders headers{};       ///< further headers; secret are those named so (key, auth, token, ...)
    HttpLimits limits{};

    friend bool operator==(const OpenAIModelConfig&, const OpenAIModelConfig&) = default;
};

/// Adds every bad field to `problems`, each under "{name}.".
void check_openai_model(const OpenAIModelConfig& config, std::string_view name, Problems& problems);

}  // namespace whittle::inline v0

namespace whittle::inline v0::openai {

/// The body of POST {base}/chat/completions, as compact JSON. Members of messages that the dialect does not take are
/// left out, and null content of a reply that says nothing becomes ""; nothing else of a message changes.
/// `GenerateOptions` win over the configuration, the call's `extra` over both; "messages" and "stream" cannot be set
/// there, and its "tools" come behind those of the request. Text that is not UTF-8 goes with U+FFFD. Throws
/// ModelError(bad_request) for extra fields or tool parameters that are no JSON objects.
[[nodiscard]] std::string chat_body(const ModelRequest<Message>& request, const OpenAIModelConfig& config,
                                    bool is_stream);

}  // namespace whittle::inline v0::openai
