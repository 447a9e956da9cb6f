#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A URL as it may stand in an error text: without user, password, query and fragment, each of which may be a secret.
inline std::string without_secrets(std::string_view url) {
    url = url.substr(0, url.find_first_of("?#"));
    const std::size_t colon = url.find(':');
    const bool has_scheme = colon < url.find('/');
    if (!has_scheme && !url.starts_with("//")) return std::string(url);  // a path
    // Servers and clients take any number of slashes.
    const std::size_t host = std::min(url.find_first_not_of("/\\", has_scheme ? colon + 1 : 0), url.size());
    const std::string_view authority = url.substr(host, url.find('/', host) - host);
    const std::size_t at = authority.rfind('@');
    if (at == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, host)).append(url.substr(host + at + 1));
}

}  // namespace whittle::inline v0::detail
