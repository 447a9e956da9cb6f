#pragma once

#include "whittle/base/version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Where a server listens: on a port of a host, or at a path.
struct RedisAddress {
    std::string host{};  ///< a path if the port is 0
    int port = 0;

    friend auto operator<=>(const RedisAddress&, const RedisAddress&) = default;
};

/// "host:port", "[v6]:port" or "unix:/path"; nullopt for anything else.
[[nodiscard]] std::optional<RedisAddress> parse_redis_address(std::string_view text);

/// The same way back.
[[nodiscard]] std::string to_string(const RedisAddress& address);

}  // namespace whittle::inline v0
