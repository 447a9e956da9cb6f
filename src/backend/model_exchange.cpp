#include "model_exchange.hpp"

#include "whittle/backend/classify_error.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t least_secret = 8;  // bytes; what is shorter is a dummy such as "none", or too short to hide

/// A text may be cut in the middle of a secret: what begins like one goes as far as it is equal.
void blot_out(std::string& text, std::string_view secret) {
    constexpr std::string_view blot = "***";
    if (secret.size() < least_secret) return;
    const std::string_view head = secret.substr(0, least_secret);
    for (std::size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + blot.size())) {
        const std::string_view rest = std::string_view(text).substr(at, secret.size());
        const auto equal = std::ranges::mismatch(rest, secret).in1 - rest.begin();
        text.replace(at, static_cast<std::size_t>(equal), blot);
    }
}

/// "Bearer abc": what is behind the scheme.
std::string_view without_scheme(std::string_view value) { return value.substr(value.rfind(' ') + 1); }

/// The key, what further headers hold, and the values in the query of the address.
std::vector<std::string_view> secrets_of(const Secrets& secrets) {
    std::vector<std::string_view> found{secrets.key};
    for (const auto& [name, value] : secrets.headers) found.push_back(without_scheme(value));
    std::string_view query = secrets.url.substr(std::min(secrets.url.find('?'), secrets.url.size()));
    while (!query.empty()) {
        query.remove_prefix(1);
        const std::string_view field = query.substr(0, query.find('&'));
        query.remove_prefix(field.size());
        found.push_back(field.substr(std::min(field.find('=') + 1, field.size())));
    }
    return found;
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

void rethrow_without(const Secrets& secrets) {
    std::string text;
    const auto has_blot = [&](const Error& error) {
        text = error.what();
        for (const std::string_view secret : secrets_of(secrets)) blot_out(text, secret);
        return text != error.what();
    };
    try {
        throw;
    } catch (const ModelError& error) {
        if (!has_blot(error)) throw;
        throw with_text(error, std::move(text));
    } catch (const Error& error) {
        if (!has_blot(error)) throw;
        throw Error(error.errc(), std::move(text));
    }
}

}  // namespace whittle::inline v0::detail
