#include "whittle/provider/detail/model_exchange.hpp"

#include "whittle/provider/detail/url_text.hpp"

#include "whittle/base/text.hpp"
#include "whittle/provider/classify_error.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t least_secret = 8;  // bytes; what is shorter is a dummy such as "none", or too short to hide

/// Whether a text that was cut may have been cut here: it ends, or only the request's number follows.
bool is_cut(std::string_view rest) { return rest.empty() || rest.starts_with(" (request "); }

/// Also the beginning of a secret in the middle of which the text was cut.
void blot_out(std::string& text, std::string_view secret) {
    constexpr std::string_view blot = "***";
    if (secret.size() < least_secret) return;
    const std::string_view head = secret.substr(0, least_secret);
    for (std::size_t at = text.find(head); at != std::string::npos;) {
        const std::string_view rest = std::string_view(text).substr(at);
        const auto equal =
            static_cast<std::size_t>(std::ranges::mismatch(rest.substr(0, secret.size()), secret).in2 - secret.begin());
        const bool is_whole = equal == secret.size();
        if (is_whole || is_cut(rest.substr(equal))) text.replace(at, equal, blot);
        at = text.find(head, at + blot.size());
    }
}

bool names_secret(std::string_view name) {
    const std::string lower = ascii_lower(name);
    constexpr std::array<std::string_view, 9> words{"key",        "auth", "token", "secret", "cookie",
                                                    "credential", "pass", "sig",   "code"};
    return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

/// A header's value as a whole, and what stands in it behind a scheme or the name of a cookie.
void add_pieces(std::string_view value, std::vector<std::string>& found) {
    found.push_back(trimmed(value));
    for (std::size_t begin = 0; begin < value.size();) {
        const std::size_t end = std::min(value.find_first_of(" ;,=", begin), value.size());
        found.emplace_back(value.substr(begin, end - begin));
        begin = end + 1;
    }
}

void add_query(std::string_view url, std::vector<std::string>& found) {
    std::string_view query = url.substr(std::min(url.find('?'), url.size()));
    while (!query.empty()) {
        query.remove_prefix(1);
        const std::string_view field = query.substr(0, query.find('&'));
        query.remove_prefix(field.size());
        const std::size_t sign = std::min(field.find('='), field.size());
        if (sign == field.size() || !names_secret(field.substr(0, sign))) continue;
        found.emplace_back(field.substr(sign + 1));
        found.push_back(percent_decoded(field.substr(sign + 1)));
    }
}

/// Longer ones first: they may hold others.
std::vector<std::string> values_of(const Secrets& secrets) {
    std::vector<std::string> found{std::string(secrets.key)};
    for (const auto& [name, value] : secrets.headers) {
        if (names_secret(name)) add_pieces(value, found);
    }
    add_query(secrets.url, found);
    std::ranges::stable_sort(found, std::greater<>(), &std::string::size);
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

void throw_refusal(const HttpResponse& response, std::string_view operation) {
    throw to_model_error(classify_error(response.status, response.headers, response.body), operation);
}

void rethrow_without(const Secrets& secrets) {
    std::string text;
    const auto has_blot = [&](const Error& error) {
        text = error.what();
        for (const std::string& secret : values_of(secrets)) blot_out(text, secret);
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
