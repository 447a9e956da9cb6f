#include "live_model.hpp"

#include <whittle/base/error.hpp>

#ifdef WHITTLE_HAVE_HTTP
#    include <whittle/backend/configured_models.hpp>
#    include <whittle/backend/curl_transport.hpp>
#    include <whittle/backend/retry_model.hpp>

#    include <fmt/format.h>

#    include <cstdlib>
#    include <optional>
#    include <string_view>
#endif

namespace agent {

using whittle::openai::Message;

#ifdef WHITTLE_HAVE_HTTP

namespace {

std::optional<std::string> read_environment(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

whittle::ModelSettings settings_of(const Options& options) {
    using Type = whittle::ModelSettings::Type;
    const bool is_anthropic = options.api == "anthropic";
    whittle::ModelSettings settings{.name = options.model,
                                    .type = is_anthropic ? Type::anthropic : Type::openai,
                                    .model = options.model,
                                    .base_url = options.base_url,
                                    .api_key_env = options.api_key_env};
    if (!is_anthropic) settings.dialect = options.api;
    // A server on this machine needs no key; a provider says so itself.
    if (settings.api_key_env.empty()) {
        const char* usual = is_anthropic ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
        if (read_environment(usual)) settings.api_key_env = usual;
    }
    return settings;
}

}  // namespace

std::shared_ptr<whittle::Model<Message>> make_live_model(const Options& options,
                                                         std::function<void(const std::string&)> on_retry) {
    const whittle::HttpModelSource source{.transport = whittle::make_curl_transport(), .lookup = read_environment};
    auto model = whittle::http_models<Message>(source)(settings_of(options));
    const auto tell = [on_retry](const whittle::RetryNotice& notice) {
        on_retry(fmt::format("{}; asking again in {} ms", notice.error.what(), notice.wait.count()));
    };
    const auto discard = [on_retry] { on_retry("the reply broke off: what was shown of it is void"); };
    return whittle::with_retry<Message>(std::move(model), {}, {.on_retry = tell, .on_restart = discard});
}

#else

std::shared_ptr<whittle::Model<Message>> make_live_model(const Options&, std::function<void(const std::string&)>) {
    throw whittle::Error(whittle::Errc::not_offered, "make a model: this program was built without libcurl");
}

#endif

}  // namespace agent
