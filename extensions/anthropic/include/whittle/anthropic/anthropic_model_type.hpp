#pragma once

#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/model/model_type.hpp"
#include "whittle/provider/http_model_settings.hpp"

#include <memory>
#include <string>
#include <utility>

namespace whittle::inline v0 {

/// A model behind Anthropic's Messages API as configurations name it.
struct AnthropicModelSettings : HttpModelSettings {};

/// The type "anthropic", for `ConfigTypes::register_model`.
[[nodiscard]] ModelType<AnthropicModelSettings> anthropic_model_type();

/// The settings of the model `name` with the key looked up. Throws Error(invalid_config) for a key that is not there,
/// whose name is told, and for an `api_key_env` that is no name of capital letters, digits and `_`, which is not told.
[[nodiscard]] AnthropicModelConfig anthropic_config(const AnthropicModelSettings& settings, const std::string& name,
                                                    const HttpModelSource& source);

/// The maker of `anthropic_model_type`. Throws what `anthropic_config` and `AnthropicModel` throw.
[[nodiscard]] inline auto anthropic_model_maker(HttpModelSource source) {
    return [source = std::move(source)](const AnthropicModelSettings& settings,
                                        const auto& context) -> std::shared_ptr<Model<anthropic::Message>> {
        return std::make_shared<AnthropicModel>(source.transport,
                                                anthropic_config(settings, context.name_in_config, source));
    };
}

}  // namespace whittle::inline v0
