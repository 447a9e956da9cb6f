#pragma once

#include "whittle/base/version.hpp"
#include "whittle/model/model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/provider/http_transport.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::openai {

/// What a server that speaks chat completions takes. Data: copy the nearest and correct it where yours differs.
struct Dialect {
    std::string name = "openai";                             ///< as configurations name it
    std::string max_tokens_field = "max_completion_tokens";  ///< what the output limit is called
    std::string system_role = "system";                      ///< of `ModelRequest::system`; "developer" for some models
    bool stream_usage = true;  ///< takes "stream_options":{"include_usage":true}; without it a stream has no usage
    bool null_content = true;  ///< takes "content":null beside calls; else an empty text is sent
    bool ignores_unknown_fields = false;  ///< ignores members of messages that it does not know; else they are left out
    std::vector<std::string>
        extra_assistant_fields{};  ///< of assistant messages, beyond OpenAI's, such as "reasoning_content"
    bool merge_users = false;      ///< user messages in a row are sent as one: the server's template wants turns
    std::string key_header = "Authorization";  ///< gets "Bearer KEY"; a header of another name gets the key alone

    friend bool operator==(const Dialect&, const Dialect&) = default;
};

/// openai, azure, vllm, llama_cpp, llama_cpp_python, ollama, lm_studio, openrouter, litellm, deepseek, mistral, and
/// compatible, which sends only what all of them take. extensions/openai/README.md has the table with its date.
[[nodiscard]] std::span<const Dialect> dialects();

/// The dialect of that name, or null.
[[nodiscard]] const Dialect* find_dialect(std::string_view name);

}  // namespace whittle::inline v0::openai

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
    HttpLimits limits{};         ///< of each exchange

    friend bool operator==(const OpenAIModelConfig&, const OpenAIModelConfig&) = default;
};

/// Adds every bad field to `problems`, each under "{name}.".
void check_openai_model(const OpenAIModelConfig& config, std::string_view name, Problems& problems);

/// A model behind OpenAI's chat completions. Streams if the caller listens. Thread-safe. extensions/openai/README.md
/// has the traps.
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
