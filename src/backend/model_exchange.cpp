#include "model_exchange.hpp"

#include "whittle/backend/classify_error.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

std::string blot_out(std::string text, const std::string& secret) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
        text.replace(at, secret.size(), "***");
    return text;
}

ModelError with_text(const ModelError& error, std::string text) {
    if (error.error_class() == ModelErrorClass::overflow) return {error.overflow(), std::move(text)};
    return {error.error_class(), error.retry_after(), std::move(text)};
}

}  // namespace

std::string join_url(std::string_view base, std::string_view path) {
    const std::size_t query = std::min(base.find('?'), base.size());
    std::string url(base.substr(0, query));
    while (url.ends_with('/')) url.pop_back();
    url += path;
    url += base.substr(query);
    return url;
}

std::string trimmed(std::string_view key) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t first = key.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return std::string(key.substr(first, key.find_last_not_of(space) - first + 1));
}

HttpHeaders make_headers(bool is_stream, HttpHeaders own, const HttpHeaders& further) {
    HttpHeaders headers{{"Content-Type", "application/json"},
                        {"Accept", is_stream ? "text/event-stream" : "application/json"}};
    for (auto& header : own) headers.push_back(std::move(header));
    std::erase_if(headers, [&](const auto& header) { return find_header(further, header.first).has_value(); });
    headers.insert(headers.end(), further.begin(), further.end());
    return headers;
}

bool is_success(int status) noexcept { return status >= 200 && status < 300; }

bool may_stream(const HttpResponse& head) {
    const std::string type = ascii_lower(head.header("Content-Type").value_or(""));
    return type.find("json") == std::string::npos && type.find("html") == std::string::npos;
}

void throw_refusal(const HttpResponse& response, std::string_view attempted) {
    throw to_model_error(classify_error(response.status, response.headers, response.body), attempted);
}

void rethrow_without(const std::string& key) {
    const auto shows_key = [&](std::string_view text) { return !key.empty() && text.find(key) != text.npos; };
    try {
        throw;
    } catch (const ModelError& error) {
        if (!shows_key(error.what())) throw;
        throw with_text(error, blot_out(error.what(), key));
    } catch (const Error& error) {
        if (!shows_key(error.what())) throw;
        throw Error(error.errc(), blot_out(error.what(), key));
    }
}

}  // namespace whittle::inline v0::detail
