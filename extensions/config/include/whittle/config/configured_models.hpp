#pragma once

#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/convert/detail/converted_model.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/provider/http_transport.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Where the models of a configuration get what a file should not hold.
struct HttpModelSource {
    std::shared_ptr<HttpTransport> transport{};
    /// Environment values by name, for `api_key_env`. The library itself reads no environment.
    std::function<std::optional<std::string>(std::string_view)> lookup{};
    HttpLimits limits{};
};

/// The settings with the key looked up. Throws Error(invalid_config) for a key that is not there, whose name is told,
/// for an `api_key_env` that is no name of capital letters, digits and `_`, which is not told, and for a dialect that
/// nobody knows.
[[nodiscard]] OpenAIModelConfig openai_config(const ModelSettings& settings, const HttpModelSource& source);
[[nodiscard]] AnthropicModelConfig anthropic_config(const ModelSettings& settings, const HttpModelSource& source);

/// Makes every type of model for `make_chain`; models of another message type are converted (`as_model_of`). Throws
/// what the two functions above throw.
template <AgentMessage M>
[[nodiscard]] ModelMaker<M> http_models(HttpModelSource source) {
    return [source = std::move(source)](const ModelSettings& settings) -> std::shared_ptr<Model<M>> {
        if (settings.type == ModelSettings::Type::openai) {
            return as_model_of<M>(std::shared_ptr<Model<openai::Message>>(
                std::make_shared<OpenAIChatModel>(source.transport, openai_config(settings, source))));
        }
        if (settings.type == ModelSettings::Type::anthropic) {
            return as_model_of<M>(std::shared_ptr<Model<anthropic::Message>>(
                std::make_shared<AnthropicModel>(source.transport, anthropic_config(settings, source))));
        }
        return make_model<M>(settings);
    };
}

}  // namespace whittle::inline v0
