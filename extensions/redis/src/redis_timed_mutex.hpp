#pragma once

#include "redis_reply.hpp"

#include <condition_variable>
#include <mutex>

namespace whittle::inline v0 {

/// A mutex with a deadline.
class RedisTimedMutex {
public:
    /// Throws RedisRetry with `reason` if it is not acquired in time.
    class Lock {
    public:
        Lock(RedisTimedMutex& mutex, RedisDeadline until, const char* reason) : owner_(mutex) {
            std::unique_lock lock(owner_.mutex_);
            if (!owner_.released_.wait_until(lock, until, [&] { return !owner_.is_taken_; }))
                throw RedisRetry{.why = RedisRetry::Why::busy, .reason = reason};
            owner_.is_taken_ = true;
        }
        ~Lock() {
            const std::lock_guard lock(owner_.mutex_);
            owner_.is_taken_ = false;
            owner_.released_.notify_one();
        }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

    private:
        RedisTimedMutex& owner_;
    };

private:
    std::mutex mutex_;
    std::condition_variable released_;
    bool is_taken_ = false;
};

}  // namespace whittle::inline v0
