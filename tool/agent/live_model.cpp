#include "live_model.hpp"

#include <whittle/base/error.hpp>

#include <cstdlib>

#ifdef WHITTLE_HAVE_HTTP
#    include <whittle/config/configured_models.hpp>
#    include <whittle/http/curl_transport.hpp>
#    include <whittle/model/retry_model.hpp>

#    include <fmt/format.h>
#endif

namespace agent {

using whittle::openai::Message;

std::optional<std::string> read_environment(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

whittle::ModelSettings live_model_settings(const Options& options,
                                           const std::function<std::optional<std::string>(std::string_view)>& lookup) {
    using Type = whittle::ModelSettings::Type;
    const bool is_anthropic = options.api == "anthropic";
    whittle::ModelSettings settings{.name = options.model,
                                    .type = is_anthropic ? Type::anthropic : Type::openai,
                                    .model = options.model,
                                    .base_url = options.base_url,
                                    .api_key_env = options.api_key_env};
    if (!is_anthropic) settings.dialect = options.api;
    if (!options.api_key_env.empty() || !options.base_url.empty()) return settings;
    const char* usual = is_anthropic ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
    if (!lookup(usual).value_or("").empty()) settings.api_key_env = usual;
    return settings;
}

#ifdef WHITTLE_HAVE_HTTP

whittle::ModelMaker<Message> live_models() {
    return whittle::http_models<Message>({.transport = whittle::make_curl_transport(), .lookup = read_environment});
}

std::shared_ptr<whittle::Model<Message>> make_live_model(const Options& options,
                                                         std::function<void(const std::string&)> on_retry) {
    auto model = live_models()(live_model_settings(options, read_environment));
    const auto tell = [on_retry](const whittle::RetryNotice& notice) {
        on_retry(fmt::format("{}; asking again in {} ms", notice.error.what(), notice.wait.count()));
    };
    const auto discard = [on_retry] { on_retry("the reply broke off: what was shown of it is void"); };
    return whittle::with_retry<Message>(std::move(model), {}, {.on_retry = tell, .on_restart = discard});
}

#else

whittle::ModelMaker<Message> live_models() { return &whittle::make_model<Message>; }

std::shared_ptr<whittle::Model<Message>> make_live_model(const Options&, std::function<void(const std::string&)>) {
    throw whittle::Error(whittle::Errc::not_offered, "make a model: this program was built without libcurl");
}

#endif

}  // namespace agent
