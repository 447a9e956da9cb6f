#include "whittle/anthropic/anthropic_model.hpp"

#include "whittle/anthropic/detail/anthropic_request.hpp"
#include "whittle/provider/detail/model_exchange.hpp"

#include "whittle/anthropic/detail/anthropic_stream.hpp"

#include <string>
#include <utility>

namespace whittle::inline v0 {

namespace {

HttpHeaders headers_of(const AnthropicModelConfig& config, const std::vector<std::string>& betas, bool is_stream) {
    HttpHeaders own{{"anthropic-version", config.version}};
    if (!config.api_key.empty()) own.emplace_back("x-api-key", config.api_key);
    std::string list;
    for (const std::string& beta : betas) list += (list.empty() ? "" : ",") + beta;
    if (!list.empty()) own.emplace_back("anthropic-beta", list);
    return detail::make_headers(is_stream, std::move(own), config.headers);
}

/// Both spellings of the address are in use.
std::string url_of(const AnthropicModelConfig& config, bool is_count) {
    const std::string_view path = std::string_view(config.base_url).substr(0, config.base_url.find('?'));
    const bool has_version = path.ends_with("/v1") || path.ends_with("/v1/");
    return detail::join_url(config.base_url,
                            std::string(has_version ? "" : "/v1") + "/messages" + (is_count ? "/count_tokens" : ""));
}

std::int64_t read_count(const HttpResponse& response, std::string_view operation) {
    if (!detail::is_success(response.status)) detail::throw_refusal(response, operation);
    return anthropic::counted_tokens(response.body);
}

}  // namespace

AnthropicModel::AnthropicModel(std::shared_ptr<HttpTransport> transport, AnthropicModelConfig config)
    : transport_(std::move(transport)), config_(std::move(config)) {
    if (!transport_) throw Error(Errc::invalid_argument, "make an Anthropic model: there is no transport");
    Problems problems;
    check_anthropic_model(config_, "anthropic", problems);
    problems.throw_if_errors("make an Anthropic model");
    config_.api_key = detail::trimmed(config_.api_key);
}

HttpRequest AnthropicModel::http_request(const ModelRequest<anthropic::Message>& request,
                                         anthropic::RequestBodyKind kind) {
    anthropic::RequestText text = anthropic::messages_request(request, config_, kind);
    return {.url = url_of(config_, kind == anthropic::RequestBodyKind::count),
            .headers = headers_of(config_, text.betas, kind == anthropic::RequestBodyKind::stream),
            .body = std::move(text.body),
            .limits = config_.limits,
            .stop = request.stop};
}

Reply<anthropic::Message> AnthropicModel::generate(const ModelRequest<anthropic::Message>& request) {
    const bool is_stream = config_.always_stream || (request.on_delta != nullptr && *request.on_delta);
    const auto kind = is_stream ? anthropic::RequestBodyKind::stream : anthropic::RequestBodyKind::whole;
    try {
        return detail::exchange<anthropic::MessagesStream>(*transport_, http_request(request, kind), is_stream,
                                                           request.on_delta, "ask " + config_.model,
                                                           &anthropic::messages_reply);
    } catch (const Error&) {
        detail::rethrow_without({config_.api_key, config_.headers, config_.base_url});
    }
}

std::int64_t AnthropicModel::count_tokens(const ModelRequest<anthropic::Message>& request) {
    try {
        return read_count(transport_->send(http_request(request, anthropic::RequestBodyKind::count)),
                          "count tokens for " + config_.model);
    } catch (const Error&) {
        detail::rethrow_without({config_.api_key, config_.headers, config_.base_url});
    }
}

}  // namespace whittle::inline v0
