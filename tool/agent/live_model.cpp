#include "live_model.hpp"

#include <whittle/base/error.hpp>

#include <cstdlib>

#include <whittle/anthropic/anthropic_model_type.hpp>
#include <whittle/model/retry_model.hpp>
#include <whittle/openai/openai_model_type.hpp>

#include <fmt/format.h>

namespace agent {

using whittle::openai::Message;

std::optional<std::string> read_environment(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

namespace {

/// The provider's usual key is taken only for the provider's own address, and not if it is empty: nobody else gets it.
whittle::HttpModelSettings http_settings(const Options& options, const char* default_key,
                                         const whittle::EnvironmentLookup& lookup) {
    whittle::HttpModelSettings settings{
        .model = options.model, .base_url = options.base_url, .api_key_env = options.api_key_env};
    const bool is_usual = options.api_key_env.empty() && options.base_url.empty();
    if (is_usual && !lookup(default_key).value_or("").empty()) settings.api_key_env = default_key;
    return settings;
}

}  // namespace

whittle::ModelSettings live_model_settings(const Options& options, const whittle::EnvironmentLookup& lookup) {
    whittle::ModelSettings settings{.name = options.model, .types = whittle::cli::config_types(lookup)};
    if (options.api == "anthropic") {
        settings.type = "anthropic";
        settings.config = whittle::AnthropicModelSettings{http_settings(options, "ANTHROPIC_API_KEY", lookup)};
    } else {
        settings.type = "openai";
        settings.config = whittle::OpenAIModelSettings{http_settings(options, "OPENAI_API_KEY", lookup), options.api};
    }
    return settings;
}

std::shared_ptr<whittle::Model<Message>> make_live_model(const Options& options,
                                                         std::function<void(const std::string&)> on_retry) {
    auto model = whittle::make_model<Message>(live_model_settings(options, read_environment));
    const auto notify = [on_retry](const whittle::RetryNotice& notice) {
        on_retry(fmt::format("{}; asking again in {} ms", notice.error.what(), notice.wait.count()));
    };
    const auto discard = [on_retry] { on_retry("the reply broke off: what was shown of it is void"); };
    return whittle::with_retry<Message>(std::move(model), {}, {.on_retry = notify, .on_stream_restart = discard});
}

}  // namespace agent
