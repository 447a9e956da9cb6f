#include "whittle/openai/openai_chat_model.hpp"

#include "whittle/openai/detail/openai_request.hpp"
#include "whittle/provider/detail/model_exchange.hpp"

#include "whittle/openai/detail/openai_stream.hpp"

#include <utility>

namespace whittle::inline v0 {

namespace {

HttpHeaders headers_of(const OpenAIModelConfig& config, bool is_stream) {
    HttpHeaders own;
    if (!config.api_key.empty()) {
        const bool is_bearer = config.dialect.key_header == "Authorization";
        own.emplace_back(config.dialect.key_header, (is_bearer ? "Bearer " : "") + config.api_key);
    }
    return detail::make_headers(is_stream, std::move(own), config.headers);
}

}  // namespace

OpenAIChatModel::OpenAIChatModel(std::shared_ptr<HttpTransport> transport, OpenAIModelConfig config)
    : transport_(std::move(transport)), config_(std::move(config)) {
    if (!transport_) throw Error(Errc::invalid_argument, "make an OpenAI model: there is no transport");
    Problems problems;
    check_openai_model(config_, "openai", problems);
    problems.throw_if_errors("make an OpenAI model");
    config_.api_key = detail::trimmed(config_.api_key);
}

Reply<openai::Message> OpenAIChatModel::generate(const ModelRequest<openai::Message>& request) {
    const bool is_stream = config_.always_stream || (request.on_delta != nullptr && *request.on_delta);
    try {
        const HttpRequest http{.url = detail::join_url(config_.base_url, "/chat/completions"),
                               .headers = headers_of(config_, is_stream),
                               .body = openai::chat_body(request, config_, is_stream),
                               .limits = config_.limits,
                               .stop = request.stop};
        return detail::exchange<openai::ChatStream>(*transport_, http, is_stream, request.on_delta,
                                                    "ask " + config_.model, &openai::chat_reply);
    } catch (const Error&) {
        detail::rethrow_without({config_.api_key, config_.headers, config_.base_url});
    }
}

}  // namespace whittle::inline v0
