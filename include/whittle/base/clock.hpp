#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/base/version.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace whittle::inline v0 {

/// Milliseconds since 1970-01-01T00:00:00Z.
using UnixMillis = std::int64_t;

/// The time, and waiting. Injected, so that tests and replays need no real time. Thread-safe.
class Clock {
public:
    virtual ~Clock() = default;
    /// Milliseconds since 1970, UTC.
    [[nodiscard]] virtual UnixMillis now() = 0;
    /// Waits, at most until a stop is asked for. False if it was stopped.
    virtual bool sleep_for(std::chrono::milliseconds duration, StopToken stop) = 0;
};

/// The machine's clock.
[[nodiscard]] std::shared_ptr<Clock> system_clock();

/// A clock that stands still; sleeping moves it forward at once.
class ManualClock final : public Clock {
public:
    /// `start`: milliseconds since 1970.
    explicit ManualClock(UnixMillis start = 0) : now_(start) {}
    [[nodiscard]] UnixMillis now() override;
    bool sleep_for(std::chrono::milliseconds duration, StopToken stop) override;
    /// Moves the time forward, held at the ends of its type.
    void advance(std::chrono::milliseconds duration);
    /// Sets the time, also to an earlier one.
    void set(UnixMillis now);

private:
    std::mutex mutex_;
    UnixMillis now_;
};

/// "2026-01-31T23:59:59.123Z".
[[nodiscard]] std::string to_iso8601(UnixMillis time);

}  // namespace whittle::inline v0
