#include "whittle/base/clock.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>

namespace whittle::inline v0 {
namespace {

using std::chrono::milliseconds;

class SystemClock final : public Clock {
public:
    [[nodiscard]] UnixMillis now() override {
        const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::floor<milliseconds>(since_epoch).count();
    }

    bool sleep_for(milliseconds duration, StopToken stop) override {
        constexpr milliseconds longest = std::chrono::hours(24 * 365 * 100);  // more would overflow in nanoseconds
        std::mutex mutex;
        std::condition_variable wake;
        const StopCallback on_stop(stop, [&] {
            const std::lock_guard lock(mutex);
            wake.notify_all();
        });
        std::unique_lock lock(mutex);
        wake.wait_for(lock, std::clamp(duration, milliseconds::zero(), longest), [&] { return stop.stop_requested(); });
        return !stop.stop_requested();
    }
};

struct Date {
    std::int64_t year;
    std::int64_t month;
    std::int64_t day;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

/// Proleptic Gregorian date of a day counted from 1970-01-01 (H. Hinnant, chrono-compatible low-level date algorithms).
Date date_of(std::int64_t days) noexcept {
    const std::int64_t shifted = days + 719'468;
    const std::int64_t era = floor_div(shifted, 146'097);
    const std::int64_t day_of_era = shifted - era * 146'097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
    const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    return {year, month, day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

}  // namespace

std::shared_ptr<Clock> system_clock() { return std::make_shared<SystemClock>(); }

UnixMillis ManualClock::now() {
    const std::lock_guard lock(mutex_);
    return now_;
}

bool ManualClock::sleep_for(milliseconds duration, StopToken stop) {
    if (stop.stop_requested()) return false;
    advance(std::max(duration, milliseconds::zero()));
    return true;
}

void ManualClock::advance(milliseconds duration) {
    const std::lock_guard lock(mutex_);
    now_ = add_saturating(now_, duration.count());
}

void ManualClock::set(UnixMillis now) {
    const std::lock_guard lock(mutex_);
    now_ = now;
}

std::string to_iso8601(UnixMillis time) {
    constexpr std::int64_t day_ms = 86'400'000;
    const std::int64_t days = floor_div(time, day_ms);
    const std::int64_t ms = time % day_ms + (time % day_ms < 0 ? day_ms : 0);
    const Date date = date_of(days);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", date.year, date.month, date.day, ms / 3'600'000,
                       ms / 60'000 % 60, ms / 1'000 % 60, ms % 1'000);
}

}  // namespace whittle::inline v0
