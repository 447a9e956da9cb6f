#include "redis_greeting.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <string>

namespace whittle::inline v0 {
namespace {

[[noreturn]] void refuse_server(const RedisConnection& connection, std::string_view reason) {
    throw Error(Errc::storage_failed,
                fmt::format("{}: {}: {}", connection.operation(), to_string(connection.address()), reason));
}

/// The reply of a question that a server may refuse to answer; null if it did.
RedisReply query_redis(RedisConnection& connection, const RedisWords& words, std::string_view what,
                       RedisUnverifiedSettings& unverified_settings) {
    connection.send(words);
    RedisReply reply = connection.receive();
    if (!is_error(*reply)) return reply;
    const std::string_view text = text_of_reply(*reply);
    const bool is_unanswered = text.starts_with("NOPERM") || text.starts_with("ERR");
    if (!is_unanswered) require_fine(*reply, connection.operation(), connection.address());
    unverified_settings.add(fmt::format("{}: {} is not known: {}", to_string(connection.address()), what, text));
    return nullptr;
}

/// What stands behind `name:` in the text of INFO; empty if it is not there.
std::string_view value_in_info(std::string_view info, std::string_view name) {
    const std::size_t at = info.find(name);
    if (at == std::string_view::npos) return {};
    info.remove_prefix(at + name.size());
    return info.substr(0, info.find('\r'));
}

void require_no_eviction(RedisConnection& connection, RedisUnverifiedSettings& unverified_settings) {
    const RedisReply reply =
        query_redis(connection, {"INFO", "memory"}, "whether it may drop objects", unverified_settings);
    if (!reply) return;
    const std::string_view policy = value_in_info(text_of_reply(*reply), "maxmemory_policy:");
    if (!policy.empty() && policy != "noeviction")
        refuse_server(connection, fmt::format("maxmemory-policy is {}, so that objects may be dropped: noeviction is "
                                              "needed, or allow_eviction",
                                              policy));
}

std::string setting_of_redis(RedisConnection& connection, std::string_view name,
                             RedisUnverifiedSettings& unverified_settings) {
    const RedisReply reply = query_redis(connection, {"CONFIG", "GET", name}, name, unverified_settings);
    if (!reply) return {};
    const auto pair = elements_of(*reply);
    if (pair.size() != 2) return {};
    return std::string(text_of_reply(*pair[1]));
}

void require_fsync(RedisConnection& connection, RedisUnverifiedSettings& unverified_settings) {
    const std::string only = setting_of_redis(connection, "appendonly", unverified_settings);
    if (!only.empty() && only != "yes") refuse_server(connection, "appendonly is off: all_replicas needs it");
    const std::string fsync = setting_of_redis(connection, "appendfsync", unverified_settings);
    if (!fsync.empty() && fsync != "always")
        refuse_server(connection, fmt::format("appendfsync is {}: all_replicas needs always", fsync));
}

/// A sentinel may name an old primary that has come back as a replica.
void require_primary(RedisConnection& connection) {
    const RedisReply reply = connection.call({"ROLE"}, RedisShape::array);
    const auto role = elements_of(*reply);
    if (!role.empty() && text_of_reply(*role[0]) == "master") return;
    throw RedisRetry{.why = RedisRetry::Why::wrong_primary,
                     .reason = to_string(connection.address()) + ": it is no primary"};
}

/// A server that does not know a command repeats what came with it, up to some length.
std::string without_password(std::string text, std::string_view password) {
    constexpr std::string_view repeated = "args beginning with:";
    constexpr std::string_view mask = "***";
    if (const std::size_t at = text.find(repeated); at != std::string::npos)
        text.replace(at + repeated.size(), std::string::npos, " ***");
    for (std::size_t at = text.find(password); at != std::string::npos; at = text.find(password, at + mask.size()))
        text.replace(at, password.size(), mask);
    return text;
}

}  // namespace

void log_in(RedisConnection& connection, const RedisCredentials& credentials) {
    if (credentials.password.empty()) return;
    RedisWords words{"AUTH", credentials.user, credentials.password};
    if (credentials.user.empty()) words.erase(words.begin() + 1);
    connection.send(words);
    const RedisReply reply = connection.receive();
    if (is_error(*reply))
        refuse_error(without_password(std::string(text_of_reply(*reply)), credentials.password), connection.operation(),
                     connection.address());
    if (!has_shape(*reply, RedisShape::ok)) connection.refuse_last();
}

void greet_redis(RedisConnection& connection, const RedisStorageOptions& options,
                 RedisUnverifiedSettings& unverified_settings) {
    log_in(connection, options.credentials_provider ? options.credentials_provider() : options.credentials);
    if (options.database > 0) (void)connection.call({"SELECT", std::to_string(options.database)}, RedisShape::ok);
    if (!options.client_name.empty()) {
        connection.send({"CLIENT", "SETNAME", options.client_name});
        (void)connection.receive();  // a server that has no names is as good
    }
    if (options.topology == RedisTopology::sentinel) require_primary(connection);
    if (!options.allow_eviction) require_no_eviction(connection, unverified_settings);
    if (options.durability == RedisDurability::all_replicas) require_fsync(connection, unverified_settings);
}

}  // namespace whittle::inline v0
