#pragma once

#include "whittle/model/model_type.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/provider/http_model_settings.hpp"

#include <memory>
#include <string>
#include <utility>

namespace whittle::inline v0 {

/// A model behind chat completions as configurations name it.
struct OpenAIModelSettings : HttpModelSettings {
    std::string dialect{};  ///< what kind of server it is: a name of `openai::dialects()`. Empty: "openai"
};

/// The type "openai", for `ConfigTypes::register_model`.
[[nodiscard]] ModelType<OpenAIModelSettings> openai_model_type();

/// The settings of the model `name` with the key looked up. Throws Error(invalid_config) for a key that is not there,
/// whose name is told, for an `api_key_env` that is no name of capital letters, digits and `_`, which is not told, and
/// for a dialect that nobody knows.
[[nodiscard]] OpenAIModelConfig openai_config(const OpenAIModelSettings& settings, const std::string& name,
                                              const HttpModelSource& source);

/// The maker of `openai_model_type`. Throws what `openai_config` and `OpenAIChatModel` throw.
[[nodiscard]] inline auto openai_model_maker(HttpModelSource source) {
    return [source = std::move(source)](const OpenAIModelSettings& settings,
                                        const auto& context) -> std::shared_ptr<Model<openai::Message>> {
        return std::make_shared<OpenAIChatModel>(source.transport,
                                                 openai_config(settings, context.name_in_config, source));
    };
}

}  // namespace whittle::inline v0
