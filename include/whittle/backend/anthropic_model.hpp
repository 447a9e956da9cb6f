#pragma once

#include "whittle/adapter/anthropic.hpp"
#include "whittle/backend/anthropic_request.hpp"
#include "whittle/backend/http_transport.hpp"
#include "whittle/port/model.hpp"

#include <cstdint>
#include <memory>

namespace whittle::inline v0 {

/// A model behind Anthropic's Messages API. Streams if the caller listens. Thread-safe. docs/anthropic.md has the
/// traps.
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
    [[nodiscard]] HttpRequest http_request(const ModelRequest<anthropic::Message>& request, anthropic::BodyKind kind);

    std::shared_ptr<HttpTransport> transport_;
    AnthropicModelConfig config_;
};

}  // namespace whittle::inline v0
