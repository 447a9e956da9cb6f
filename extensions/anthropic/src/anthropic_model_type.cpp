#include "whittle/anthropic/anthropic_model_type.hpp"

namespace whittle::inline v0 {

ModelType<AnthropicModelSettings> anthropic_model_type() {
    return {.type = "anthropic",
            .fields = detail::http_model_fields<AnthropicModelSettings>("/v1/messages"),
            .after_fields_read = detail::check_http_model};
}

AnthropicModelConfig anthropic_config(const AnthropicModelSettings& settings, const std::string& name,
                                      const HttpModelSource& source) {
    AnthropicModelConfig config{.model = settings.model,
                                .api_key = detail::look_up_key(settings, name, source),
                                .extra = settings.extra,
                                .limits = source.limits};
    if (!settings.base_url.empty()) config.base_url = settings.base_url;
    if (settings.max_output_tokens > 0) config.max_output_tokens = settings.max_output_tokens;
    return config;
}

}  // namespace whittle::inline v0
