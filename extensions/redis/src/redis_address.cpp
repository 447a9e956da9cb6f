#include "redis_address.hpp"

#include <fmt/format.h>

#include <charconv>

namespace whittle::inline v0 {

std::optional<RedisAddress> parse_redis_address(std::string_view text) {
    constexpr std::string_view unix_scheme = "unix:";
    if (text.starts_with(unix_scheme)) {
        text.remove_prefix(unix_scheme.size());
        if (!text.starts_with('/')) return std::nullopt;
        return RedisAddress{.host = std::string(text), .port = 0};
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    int port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (host.find_first_of("@/") != std::string_view::npos) return std::nullopt;  // a URL, maybe with a password
    if (host.empty() || !is_number || port < 1 || port > 65'535) return std::nullopt;
    return RedisAddress{.host = std::string(host), .port = port};
}

std::string to_string(const RedisAddress& address) {
    if (address.port == 0) return "unix:" + address.host;
    const bool is_v6 = address.host.find(':') != std::string::npos;
    return is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
                 : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace whittle::inline v0
