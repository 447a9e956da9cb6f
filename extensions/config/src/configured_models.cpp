#include "whittle/config/configured_models.hpp"

#include "variable_name.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

namespace {

[[noreturn]] void refuse(const ModelSettings& settings, std::string_view reason) {
    throw Error(Errc::invalid_config, fmt::format("make model \"{}\": {}", settings.name, reason));
}

std::string look_up_key(const ModelSettings& settings, const HttpModelSource& source) {
    if (settings.api_key_env.empty()) return {};
    if (!detail::is_variable_name(settings.api_key_env))  // perhaps it is the key: not shown
        refuse(settings, "api_key_env is not the name of an environment value: capital letters, digits and _");
    const auto key = source.lookup ? source.lookup(settings.api_key_env) : std::nullopt;
    if (!key || key->empty())
        refuse(settings, fmt::format("the environment has no value \"{}\"", settings.api_key_env));
    return *key;
}

}  // namespace

OpenAIModelConfig openai_config(const ModelSettings& settings, const HttpModelSource& source) {
    OpenAIModelConfig config{.model = settings.model,
                             .api_key = look_up_key(settings, source),
                             .max_output_tokens = settings.max_output_tokens,
                             .extra = settings.extra,
                             .limits = source.limits};
    if (!settings.base_url.empty()) config.base_url = settings.base_url;
    if (settings.dialect.empty()) return config;
    const openai::Dialect* dialect = openai::find_dialect(settings.dialect);
    if (dialect == nullptr) {
        std::string names;
        for (const openai::Dialect& known : openai::dialects()) names += (names.empty() ? "" : ", ") + known.name;
        refuse(settings, fmt::format("there is no dialect \"{}\"; there are {}", settings.dialect, names));
    }
    config.dialect = *dialect;
    return config;
}

AnthropicModelConfig anthropic_config(const ModelSettings& settings, const HttpModelSource& source) {
    AnthropicModelConfig config{.model = settings.model,
                                .api_key = look_up_key(settings, source),
                                .extra = settings.extra,
                                .limits = source.limits};
    if (!settings.base_url.empty()) config.base_url = settings.base_url;
    if (settings.max_output_tokens > 0) config.max_output_tokens = settings.max_output_tokens;
    return config;
}

}  // namespace whittle::inline v0
