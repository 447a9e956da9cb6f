#include "config_types.hpp"

#include "whittle/anthropic/anthropic_model_type.hpp"
#include "whittle/convert/converted_model.hpp"
#include "whittle/openai/openai_model_type.hpp"
#include "whittle/redaction/redacted_store_type.hpp"
#include "whittle/tiktoken/exact_counter_type.hpp"
#if WHITTLE_HAVE_CONDENSING
#    include "whittle/condensing/condensing.hpp"
#endif
#if WHITTLE_HAVE_HTTP
#    include "whittle/http/curl_transport.hpp"
#endif
#if WHITTLE_HAVE_REDIS
#    include "whittle/redis/redis_store_type.hpp"
#endif
#if WHITTLE_HAVE_RELEASE_CONTEXT
#    include "whittle/release_context/release_context.hpp"
#endif
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_store_type.hpp"
#endif
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_store_type.hpp"
#endif

#include <any>
#include <utility>

namespace whittle::cli {
namespace {

template <AgentMessage... Ms>
void register_over(ConfigTypes& types, const EnvironmentLookup& environment) {
#if WHITTLE_HAVE_CONDENSING
    types.register_middleware<Ms...>(condensing_type(), make_condensing);
#endif
#if WHITTLE_HAVE_RELEASE_CONTEXT
    types.register_middleware<Ms...>(release_context_type(), make_release_context);
#endif
    types.register_model<Ms...>(openai_model_type(), [environment](const auto& settings, const auto& context) {
        return openai_model_maker({.transport = tool_transport(), .lookup = environment, .limits = {}})(settings,
                                                                                                        context);
    });
    types.register_model<Ms...>(anthropic_model_type(), [environment](const auto& settings, const auto& context) {
        return anthropic_model_maker({.transport = tool_transport(), .lookup = environment, .limits = {}})(settings,
                                                                                                           context);
    });
}

}  // namespace

ConfigTypes config_types(EnvironmentLookup environment) {
    ConfigTypes types;
    register_over<ChatMessage, openai::Message, anthropic::Message>(types, environment);
    for (CounterType<ExactCounterConfig>& counter : exact_counter_types()) types.register_counter(std::move(counter));
    types.register_store_wrapper(redacted_store_type());
#if WHITTLE_HAVE_REDIS
    types.register_store(redis_store_type());
#endif
#if WHITTLE_HAVE_ENCRYPTION
    types.register_store_wrapper(encrypted_store_type());
#endif
#if WHITTLE_HAVE_SQLITE
    types.register_store(sqlite_store_type());
#endif
    return types;
}

std::shared_ptr<HttpTransport> tool_transport() {
#if WHITTLE_HAVE_HTTP
    static const std::shared_ptr<HttpTransport> transport = make_curl_transport();
    return transport;
#else
    throw Error(Errc::not_offered, "ask a model over HTTP: this program was built without libcurl");
#endif
}

const HttpModelSettings* http_settings_of(const ModelSettings& model) {
    if (const auto* settings = std::any_cast<OpenAIModelSettings>(&model.config)) return settings;
    return std::any_cast<AnthropicModelSettings>(&model.config);
}

}  // namespace whittle::cli
