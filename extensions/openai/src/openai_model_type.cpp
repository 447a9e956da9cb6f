#include "whittle/openai/openai_model_type.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

ModelType<OpenAIModelSettings> openai_model_type() {
    ConfigFields<OpenAIModelSettings> fields = detail::http_model_fields<OpenAIModelSettings>("/chat/completions");
    fields.push_back({.name = "dialect",
                      .member = &OpenAIModelSettings::dialect,
                      .meaning = "what kind of server it is: a name of `openai::dialects()`",
                      .documented_default = "openai"});
    return {.type = "openai", .fields = std::move(fields), .after_fields_read = detail::check_http_model};
}

OpenAIModelConfig openai_config(const OpenAIModelSettings& settings, const std::string& name,
                                const HttpModelSource& source) {
    OpenAIModelConfig config{.model = settings.model,
                             .api_key = detail::look_up_key(settings, name, source),
                             .max_output_tokens = settings.max_output_tokens,
                             .extra = settings.extra,
                             .limits = source.limits};
    if (!settings.base_url.empty()) config.base_url = settings.base_url;
    if (settings.dialect.empty()) return config;
    const openai::Dialect* dialect = openai::find_dialect(settings.dialect);
    if (dialect == nullptr) {
        std::string names;
        for (const openai::Dialect& known : openai::dialects()) names += (names.empty() ? "" : ", ") + known.name;
        throw Error(Errc::invalid_config, fmt::format("make model \"{}\": there is no dialect \"{}\"; there are {}",
                                                      name, settings.dialect, names));
    }
    config.dialect = *dialect;
    return config;
}

}  // namespace whittle::inline v0
