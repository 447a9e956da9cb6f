#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// What the addresses are.
enum class RedisTopology {
    single,    ///< one server
    sentinel,  ///< sentinels, which know the primary
    cluster,   ///< some nodes of a cluster, which know the others
};

/// What a finished write survives.
enum class RedisDurability {
    reply,         ///< nothing but what the primary survives by itself: it has answered
    one_replica,   ///< the loss of the primary, if the replica that has the write takes its place (WAIT 1)
    all_replicas,  ///< the loss of the primary; the primary has it on disk too (WAIT for all, appendfsync always)
};

/// Who logs in at a server.
struct RedisCredentials {
    std::string user{};      ///< empty: the default user
    std::string password{};  ///< empty: none is sent
};

/// Needs hiredis 1.0 or newer with hiredis_ssl.
struct RedisTls {
    bool enabled = false;            ///< connect by TLS; false: in clear text
    std::string ca_file{};           ///< PEM, who signs servers; empty: the system's
    std::string certificate_file{};  ///< PEM, our own, where the server wants one
    std::string key_file{};          ///< PEM, of that certificate
    std::string server_name{};  ///< sent (SNI), and compared with the certificate where hiredis can; else unverified
};

/// Which servers, and how they are used.
struct RedisStorageOptions {
    RedisTopology topology = RedisTopology::single;  ///< what the addresses are: `single`, `sentinel`, `cluster`
    /// `host:port`, `[v6]:port` or `unix:/path`. A single server has one, sentinels and clusters any number.
    std::vector<std::string> addresses = std::vector<std::string>(1, "127.0.0.1:6379");
    std::string sentinel_primary{};  ///< the name that sentinels know the primary by
    /// Who has confirmed a finished write: the primary (`reply`), also `one_replica`, or `all_replicas`.
    RedisDurability durability = RedisDurability::reply;
    int replicas = 0;  ///< of each primary, for `all_replicas`; 0: as many as it says it has, at least one

    RedisCredentials credentials{};  ///< for servers that have objects
    /// Asked for each new connection to a server that has objects, from any thread; in place of `credentials`.
    std::function<RedisCredentials()> credentials_provider{};
    RedisCredentials sentinel_credentials{};  ///< for sentinels
    RedisTls tls{};                           ///< for all connections
    int database = 0;                         ///< 0 in a cluster
    std::string client_name{"whittle"};       ///< what CLIENT LIST shows; empty: none
    std::string key_prefix{"whittle:"};  ///< prefix of every key in Redis: stores with different ones share nothing

    std::int64_t expire_after_seconds = 0;  ///< seconds after which a stored object is absent; 0: never
    int unfinished_write_max_age_seconds =
        86'400;                      ///< a stream that began longer ago is lost, and so is what dead ones left
    bool allow_eviction = false;     ///< take a server that may drop objects when its memory is full
    std::shared_ptr<Clock> clock{};  ///< of `ObjectInfo::stored_at_seconds`; null: the system's

    int max_connections = 8;         ///< to each server; other threads wait
    int connect_timeout_ms = 1'000;  ///< of one try
    int command_timeout_ms = 5'000;  ///< until a reply is there, and of one WAIT
    /// Of a call with all attempts, waits and redirects; where an object has chunks (1 MiB), of each of them; of a
    /// listing without the time of its visitor, for every 16,384 objects. Then Error(storage_failed).
    int deadline_ms = 15'000;
};

/// Objects in Redis. Thread-safe; any number of processes and machines.
class RedisStorage : public Storage {
public:
    /// Settings that could not be verified because the server does not report them, a line each. Empty: all were.
    [[nodiscard]] virtual std::vector<std::string> unverified_settings() const = 0;
};

/// Objects on one server, behind sentinels, or in a cluster (Redis 5 or newer, or what speaks like it). Connects once,
/// to tell early what is wrong. An object up to 64 KiB is one value; a longer one has chunks of 1 MiB, which nobody
/// sees before they are whole. Everything that is sent may be sent twice, so what was cut off is repeated until the
/// deadline. A write that did not become as durable as asked for is Error(storage_failed), whose text says what is
/// known; writing it again is harmless. A storage that was made before a fork is refused in the child. Looking up a
/// host's name is the system's and has no deadline. Throws Error(invalid_config), which lists all problems;
/// Error(not_offered) for TLS without hiredis_ssl; Error(storage_failed) if no server is reached, for a refused
/// password, for a server that may drop objects, and for one that does not keep what the durability promises.
/// extensions/redis/README.md tells what each fault leads to.
[[nodiscard]] std::shared_ptr<RedisStorage> redis_storage(RedisStorageOptions options);

}  // namespace whittle::inline v0
