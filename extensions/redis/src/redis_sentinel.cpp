#include "redis_connection.hpp"
#include "redis_greeting.hpp"
#include "redis_router.hpp"
#include "redis_timed_mutex.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

namespace whittle::inline v0 {
namespace {

/// Asks sentinels for the primary, the one that answered last first, and keeps the answer until it is suspect.
class SentinelRouter final : public RedisRouter {
public:
    SentinelRouter(const RedisStorageOptions& options, const RedisTlsSettings* tls)
        : options_(options), tls_(tls), sentinels_(addresses_of(options)) {}

    RedisAddress primary_of(int, const RedisTry& next_try) override {
        if (const auto known = this->known()) return *known;
        const RedisTimedMutex::Lock query_lock(sentinel_mutex_, next_try.until, "waiting for sentinels");
        if (const auto known = this->known()) return *known;
        const RedisAddress found = query_sentinels(next_try);
        const std::lock_guard lock(mutex_);
        primary_ = found;
        return found;
    }

    void suspect(const RedisAddress& address) override {
        const std::lock_guard lock(mutex_);
        if (primary_ == address) primary_.reset();
    }

    void moved(int, const RedisAddress&) override {}

private:
    [[nodiscard]] std::optional<RedisAddress> known() {
        const std::lock_guard lock(mutex_);
        return primary_;
    }

    [[nodiscard]] RedisAddress query_sentinels(const RedisTry& next_try) {
        std::string reason;
        bool is_unknown = false;
        for (std::size_t i = 0; i < sentinels_.size(); ++i) {
            try {
                const auto found = query_sentinel(sentinels_[i], next_try);
                if (!found) {
                    is_unknown = true;
                    continue;
                }
                std::rotate(sentinels_.begin(), sentinels_.begin() + static_cast<std::ptrdiff_t>(i),
                            sentinels_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                return *found;
            } catch (const RedisRetry& failed) {
                reason = failed.reason;
            }
        }
        if (is_unknown)
            throw Error(Errc::storage_failed, fmt::format("{}: sentinels know no primary \"{}\"", next_try.operation,
                                                          options_.sentinel_primary));
        throw RedisRetry{.why = RedisRetry::Why::busy, .reason = "no sentinel answers, the last one: " + reason};
    }

    [[nodiscard]] std::optional<RedisAddress> query_sentinel(const RedisAddress& sentinel,
                                                             const RedisTry& next_try) const {
        const auto own_until =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.connect_timeout_ms);
        RedisConnection connection(sentinel, tls_, {next_try.operation, std::min(next_try.until, own_until)});
        log_in(connection, options_.sentinel_credentials);
        const RedisReply reply =
            connection.call({"SENTINEL", "get-master-addr-by-name", options_.sentinel_primary}, RedisShape::any);
        if (is_nil(*reply)) return std::nullopt;
        const auto pair = elements_of(*reply);
        if (pair.size() != 2) refuse_reply(sentinel);
        const std::string host(text_of_reply(*pair[0]));
        auto address = parse_redis_address(fmt::format("[{}]:{}", host, text_of_reply(*pair[1])));
        if (!address) refuse_reply(sentinel);
        return address;
    }

    const RedisStorageOptions& options_;
    const RedisTlsSettings* tls_;
    RedisTimedMutex sentinel_mutex_;  // held while others are asked
    std::vector<RedisAddress> sentinels_;
    std::mutex mutex_;
    std::optional<RedisAddress> primary_;
};

}  // namespace

std::unique_ptr<RedisRouter> make_sentinel_router(const RedisStorageOptions& options, const RedisTlsSettings* tls) {
    return std::make_unique<SentinelRouter>(options, tls);
}

}  // namespace whittle::inline v0
