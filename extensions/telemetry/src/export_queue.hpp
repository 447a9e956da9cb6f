// What waits to be sent, up to a bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <utility>

namespace whittle::inline v0::telemetry::detail {

/// First in, first out; what does not fit is dropped and counted. What is being sent counts until it is settled, so
/// that it has its place if it comes back. Thread-safe. A list, since its elements move without an allocation.
template <typename T>
class ExportQueue {
public:
    explicit ExportQueue(std::int64_t max) : max_(max) {}

    /// All or none: a span without its parent says little. How many were dropped.
    std::int64_t push(std::list<T> items) {
        const auto size = static_cast<std::int64_t>(items.size());
        const std::lock_guard lock(mutex_);
        if (held() + size > max_) return count_dropped(size);
        items_.splice(items_.end(), items);
        return 0;
    }

    /// Counts what need not be made, since there is no room for it.
    std::int64_t drop(std::int64_t size) {
        const std::lock_guard lock(mutex_);
        return count_dropped(size);
    }

    /// Whether another item would be dropped now.
    [[nodiscard]] bool is_full() const {
        const std::lock_guard lock(mutex_);
        return held() >= max_;
    }

    [[nodiscard]] std::int64_t waiting() const {
        const std::lock_guard lock(mutex_);
        return held();
    }

    [[nodiscard]] std::int64_t dropped() const {
        const std::lock_guard lock(mutex_);
        return dropped_;
    }

    /// How many were dropped since the last time that somebody asked.
    [[nodiscard]] std::int64_t take_unreported() {
        const std::lock_guard lock(mutex_);
        return std::exchange(unreported_, 0);
    }

    /// The oldest items, on their way out. They come back to the front unless they are settled. One batch at a time.
    class Batch {
    public:
        Batch(ExportQueue& queue, std::int64_t most) : queue_(queue) {
            const std::lock_guard lock(queue_.mutex_);
            const auto size = static_cast<std::int64_t>(queue_.items_.size());
            const auto end = std::next(queue_.items_.begin(), std::min(size, most));
            items_.splice(items_.end(), queue_.items_, queue_.items_.begin(), end);
            queue_.in_flight_ = static_cast<std::int64_t>(items_.size());
        }
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;
        ~Batch() {
            const std::lock_guard lock(queue_.mutex_);
            queue_.items_.splice(queue_.items_.begin(), items_);
            queue_.in_flight_ = 0;
        }

        [[nodiscard]] const std::list<T>& items() const noexcept { return items_; }
        /// They are delivered, or nobody will ever take them.
        void settle() noexcept { items_.clear(); }

    private:
        ExportQueue& queue_;
        std::list<T> items_{};
    };

private:
    std::int64_t count_dropped(std::int64_t size) noexcept {
        dropped_ += size;
        unreported_ += size;
        return size;
    }
    [[nodiscard]] std::int64_t held() const noexcept { return static_cast<std::int64_t>(items_.size()) + in_flight_; }

    std::int64_t max_;
    mutable std::mutex mutex_{};
    std::list<T> items_{};
    std::int64_t in_flight_ = 0;
    std::int64_t dropped_ = 0;
    std::int64_t unreported_ = 0;
};

}  // namespace whittle::inline v0::telemetry::detail
