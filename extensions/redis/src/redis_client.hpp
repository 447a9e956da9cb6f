#pragma once

#include "redis_pool.hpp"
#include "redis_router.hpp"
#include "whittle/base/random.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

namespace whittle::inline v0 {

/// What is tried until it succeeds or its deadline is over.
struct RedisWork {
    std::string operation{};
    int slot = 0;
    bool is_write = false;                       ///< what was cut off may have been done: an error says so
    RedisDeadline until = RedisDeadline::max();  ///< the deadline of the options counts too
};

/// Servers as one: finds the right one, connects, tries again. Thread-safe.
class RedisClient {
public:
    explicit RedisClient(RedisStorageOptions options);

    /// Runs `attempt` on a connection to whoever has the slot, again after what RedisRetry says, until the deadline;
    /// so it may run several times, and must do no harm then. Throws Error(storage_failed), and what `attempt` throws.
    void perform(const RedisWork& work, const std::function<void(RedisConnection&)>& attempt);

    /// The same for one command.
    RedisReply call(const RedisWork& work, const RedisWords& words, RedisShape shape);

    /// Sends a command for each slot, all that one server has at once. A null reply is one to be asked for by `call`:
    /// it did not come, or does not fit its number.
    [[nodiscard]] std::vector<RedisReply> call_all(const RedisTry& work, const std::vector<int>& slots,
                                                   const std::vector<RedisWords>& commands,
                                                   const std::function<bool(std::size_t, const redisReply&)>& fits);

    [[nodiscard]] const RedisStorageOptions& options() const noexcept { return options_; }
    [[nodiscard]] RedisUnverifiedSettings& unverified_settings() noexcept { return unverified_; }
    [[nodiscard]] Random& random() noexcept { return *random_; }

private:
    struct Progress;

    void try_once(const RedisWork& work, Progress& progress, const std::function<void(RedisConnection&)>& attempt);
    void prepare_next(const RedisWork& work, Progress& progress, const RedisRetry& failed);
    void pause(const RedisWork& work, Progress& progress, const RedisRetry& failed);
    void require_own_process(std::string_view operation) const;
    [[nodiscard]] RedisDeadline until_of_try(RedisDeadline deadline) const;

    const RedisStorageOptions options_;
    const std::unique_ptr<RedisTlsSettings> tls_;
    RedisUnverifiedSettings unverified_;
    const std::shared_ptr<Random> random_;
    const std::unique_ptr<RedisRouter> router_;
    RedisPool pool_;
    const pid_t owner_;
};

}  // namespace whittle::inline v0
