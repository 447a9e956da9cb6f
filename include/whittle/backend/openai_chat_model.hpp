#pragma once

#include "whittle/adapter/openai.hpp"
#include "whittle/backend/http_transport.hpp"
#include "whittle/backend/openai_request.hpp"
#include "whittle/port/model.hpp"

#include <memory>

namespace whittle::inline v0 {

/// A model behind OpenAI's chat completions. Streams if the caller listens. Thread-safe. docs/openai.md has the traps.
class OpenAIChatModel final : public Model<openai::Message> {
public:
    /// Throws Error(invalid_config) that lists every bad field, and Error(invalid_argument) without a transport.
    OpenAIChatModel(std::shared_ptr<HttpTransport> transport, OpenAIModelConfig config);

    /// A reply is returned whole or not at all. Throws ModelError of the class that the provider's answer means, and
    /// what a listener throws.
    Reply<openai::Message> generate(const ModelRequest<openai::Message>& request) override;

private:
    std::shared_ptr<HttpTransport> transport_;
    OpenAIModelConfig config_;
};

}  // namespace whittle::inline v0
