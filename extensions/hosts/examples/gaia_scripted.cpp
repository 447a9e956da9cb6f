#include "gaia_scripted.hpp"

#include "gaia/http_client.h"

#include <utility>

namespace scripted {

std::function<std::string(const std::string&, const std::string&)>& server() {
    static std::function<std::string(const std::string&, const std::string&)> function;
    return function;
}

}  // namespace scripted

// gaia's http_client.cpp is not linked: these are its functions that the agent's client calls.
namespace gaia {

struct HttpClient::Impl {
    HttpClientConfig config;
};

HttpError::HttpError(const std::string& message, std::string url, int status, std::string body)
    : std::runtime_error(message), url_(std::move(url)), status_(status), body_(std::move(body)) {}

HttpClient::HttpClient(const HttpClientConfig& config) : impl_(std::make_unique<Impl>(Impl{config})) {}
HttpClient::HttpClient(const std::string& baseUrl) : HttpClient(HttpClientConfig()) { setBaseUrl(baseUrl); }
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
const std::string& HttpClient::baseUrl() const { return impl_->config.baseUrl; }
void HttpClient::setBaseUrl(const std::string& url) { impl_->config.baseUrl = url; }
bool HttpClient::debug() const { return impl_->config.debug; }
void HttpClient::setDebug(bool enabled) { impl_->config.debug = enabled; }

HttpResponse HttpClient::get(const std::string& path, const HttpHeaders&, int, int) {
    throw HttpError("GET " + path + ": the scripted server has no such page", baseUrl() + path, 404);
}
HttpResponse HttpClient::post(const std::string& path, const std::string& body, const HttpHeaders&, int, int) {
    return {200, scripted::server()(path, body), {}};
}
HttpResponse HttpClient::postStreaming(const std::string& path, const std::string& body, HttpChunkCallback onChunk,
                                       const HttpHeaders&, int, int) {
    const std::string reply = scripted::server()(path, body);
    onChunk(reply.data(), reply.size());
    return {200, "", {}};
}

}  // namespace gaia
