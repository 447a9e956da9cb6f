#include "redis_options.hpp"

#include "redis_tls.hpp"
#include "whittle/base/error.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0 {
namespace {

/// Of a URL, which is no address.
std::string without_credentials(std::string_view text) {
    const std::size_t at = text.rfind('@');
    return at == std::string_view::npos ? std::string(text) : "***" + std::string(text.substr(at));
}

void check_redis_addresses(const RedisStorageOptions& options, Problems& problems) {
    if (options.addresses.empty()) problems.error("addresses", "none", "at least one \"host:port\"");
    if (options.topology == RedisTopology::single && options.addresses.size() > 1)
        problems.error("addresses", std::to_string(options.addresses.size()), "one, for a single server");
    for (const std::string& text : options.addresses) {
        const auto address = parse_redis_address(text);
        if (!address)
            problems.error("addresses", without_credentials(text), "\"host:port\", \"[v6]:port\" or \"unix:/path\"");
        if (address && address->port == 0 && options.topology == RedisTopology::cluster)
            problems.error("addresses", text, "\"host:port\", in a cluster");
    }
}

void check_redis_names(const RedisStorageOptions& options, Problems& problems) {
    const bool has_sentinels = options.topology == RedisTopology::sentinel;
    if (has_sentinels && options.sentinel_primary.empty())
        problems.error("sentinel_primary", "", "the name of the primary, where addresses are sentinels");
    if (!has_sentinels && !options.sentinel_primary.empty())
        problems.error("sentinel_primary", options.sentinel_primary, "nothing, where addresses are no sentinels");
    if (options.key_prefix.size() > 128 || options.key_prefix.find_first_of("{}") != std::string::npos)
        problems.error("key_prefix", options.key_prefix, "at most 128 bytes without { and }");
    if (options.client_name.find_first_of(" \n\r\t") != std::string::npos)
        problems.error("client_name", options.client_name, "no spaces");
    const bool has_one_of_two = options.tls.certificate_file.empty() != options.tls.key_file.empty();
    if (has_one_of_two) problems.error("tls.key_file", options.tls.key_file, "both a certificate and its key, or none");
}

void check_redis_numbers(const RedisStorageOptions& options, Problems& problems) {
    const auto at_least = [&](const char* field, std::int64_t value, std::int64_t least) {
        if (value < least) problems.error(field, std::to_string(value), std::to_string(least) + " or more");
    };
    at_least("replicas", options.replicas, 0);
    at_least("database", options.database, 0);
    at_least("expire_after_seconds", options.expire_after_seconds, 0);
    at_least("unfinished_write_max_age_seconds", options.unfinished_write_max_age_seconds, 1);
    at_least("max_connections", options.max_connections, 1);
    at_least("connect_timeout_ms", options.connect_timeout_ms, 1);
    at_least("command_timeout_ms", options.command_timeout_ms, 1);
    at_least("deadline_ms", options.deadline_ms, 1);
    if (options.topology == RedisTopology::cluster && options.database > 0)
        problems.error("database", std::to_string(options.database), "0, in a cluster");
}

}  // namespace

void require_redis_options(const RedisStorageOptions& options) {
    Problems problems;
    check_redis_addresses(options, problems);
    check_redis_names(options, problems);
    check_redis_numbers(options, problems);
    problems.throw_if_errors("redis_storage");
    if (options.tls.enabled && !has_redis_tls())
        throw Error(Errc::not_offered,
                    "redis_storage: TLS is asked for, and whittle::redis was built without it: it needs hiredis 1.0 or "
                    "newer with hiredis_ssl");
}

std::vector<RedisAddress> addresses_of(const RedisStorageOptions& options) {
    std::vector<RedisAddress> addresses;
    for (const std::string& text : options.addresses) addresses.push_back(parse_redis_address(text).value());
    return addresses;
}

}  // namespace whittle::inline v0
