#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/http_transport.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::anthropic {
enum class RequestBodyKind;
}

namespace whittle::inline v0 {

/// A model behind Anthropic's Messages API, or behind a server that speaks it.
struct AnthropicModelConfig {
    std::string model{};                                 ///< required
    std::string base_url = "https://api.anthropic.com";  ///< the address to "/v1/messages"; a query stays behind it
    std::string api_key{};                               ///< secret, never in an error or event; empty: none is sent
    std::string version = "2023-06-01";                  ///< header "anthropic-version"
    std::vector<std::string> betas{};                    ///< header "anthropic-beta"
    std::int64_t max_output_tokens = 8'192;              ///< where the call does not say; the API wants a limit
    int cache_breakpoints = 4;     ///< `cache_control` breakpoints in a request at most, 0 to 4; 0: none are placed
    std::string cache_lifetime{};  ///< "5m" or "1h"; empty: the API's own (5m)
    std::string extra{};           ///< further fields of every request as one JSON object, such as "thinking"
    bool always_stream = false;    ///< stream also where nobody listens: long answers keep the connection alive
    HttpHeaders headers{};         ///< further headers; secret are those named so (key, auth, token, ...)
    /// Of each exchange.
    HttpLimits limits{};

    friend bool operator==(const AnthropicModelConfig&, const AnthropicModelConfig&) = default;
};

/// Adds every bad field to `problems`, each under "{name}.".
void check_anthropic_model(const AnthropicModelConfig& config, std::string_view name, Problems& problems);

/// A model behind Anthropic's Messages API. Streams if the caller listens. Thread-safe. extensions/anthropic/README.md
/// has the traps.
class AnthropicModel final : public Model<anthropic::Message> {
public:
    /// Throws Error(invalid_config) that lists every bad field, and Error(invalid_argument) without a transport.
    AnthropicModel(std::shared_ptr<HttpTransport> transport, AnthropicModelConfig config);

    /// A reply is returned whole or not at all. Throws ModelError of the class that the provider's answer means, and
    /// what a listener throws.
    Reply<anthropic::Message> generate(const ModelRequest<anthropic::Message>& request) override;

    /// The input tokens of such a request, as the provider counts them: free, but limited in rate. Throws ModelError.
    [[nodiscard]] std::int64_t count_tokens(const ModelRequest<anthropic::Message>& request);

private:
    [[nodiscard]] HttpRequest http_request(const ModelRequest<anthropic::Message>& request,
                                           anthropic::RequestBodyKind kind);

    std::shared_ptr<HttpTransport> transport_;
    AnthropicModelConfig config_;
};

}  // namespace whittle::inline v0
