#pragma once

#include <algorithm>
#include <charconv>
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
    const std::size_t host = (std::min)(url.find_first_not_of("/\\", has_scheme ? colon + 1 : 0), url.size());
    const std::string_view authority = url.substr(host, url.find('/', host) - host);
    const std::size_t at = authority.rfind('@');
    if (at == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, host)).append(url.substr(host + at + 1));
}

/// The text with `%41` read as `A`; what is no such escape stays as it is.
inline std::string percent_decoded(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = 0;
        const char* const digits = text.data() + i + 1;
        if (text[i] != '%' || text.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
            plain += text[i];
            continue;
        }
        plain += static_cast<char>(byte);
        i += 2;
    }
    return plain;
}

}  // namespace whittle::inline v0::detail
