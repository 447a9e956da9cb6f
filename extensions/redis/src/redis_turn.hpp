#pragma once

#include "redis_reply.hpp"

#include <condition_variable>
#include <mutex>

namespace whittle::inline v0 {

/// One thread at a time, others wait, but not for ever.
class RedisTurns {
public:
    /// Throws RedisRetry with `reason` if the turn does not come in time.
    class Turn {
    public:
        Turn(RedisTurns& turns, RedisDeadline until, const char* reason) : turns_(turns) {
            std::unique_lock lock(turns_.mutex_);
            if (!turns_.ended_.wait_until(lock, until, [&] { return !turns_.is_taken_; }))
                throw RedisRetry{.why = RedisRetry::Why::busy, .reason = reason};
            turns_.is_taken_ = true;
        }
        ~Turn() {
            const std::lock_guard lock(turns_.mutex_);
            turns_.is_taken_ = false;
            turns_.ended_.notify_one();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        RedisTurns& turns_;
    };

private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_taken_ = false;
};

}  // namespace whittle::inline v0
