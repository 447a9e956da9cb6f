#include "spending.hpp"

#include <whittle/base/error.hpp>

#include <fmt/format.h>

namespace agent {

Spending::Spending(std::optional<whittle::PricesPerMillion> prices, double limit) : prices_(prices), limit_(limit) {
    if (limit_ > 0.0 && !prices_)
        throw whittle::Error(whittle::Errc::invalid_config,
                             "limit the cost: the configuration has no profile.prices, so that nothing has a cost");
}

void Spending::add(const whittle::Usage& usage) {
    if (!prices_) return;
    const std::lock_guard lock(mutex_);
    const auto cost = [](std::int64_t tokens, double price) { return static_cast<double>(tokens) * price / 1e6; };
    spent_ += cost(usage.uncached_input, prices_->input) + cost(usage.cache_read, prices_->cache_read) +
              cost(usage.cache_write, prices_->cache_write) + cost(usage.output, prices_->output);
}

void Spending::add_side_call(std::int64_t request_tokens) {
    const std::lock_guard lock(mutex_);
    ++side_calls_.calls;
    side_calls_.tokens += request_tokens;
}

double Spending::spent() const {
    const std::lock_guard lock(mutex_);
    return spent_;
}

SideCalls Spending::side_calls() const {
    const std::lock_guard lock(mutex_);
    return side_calls_;
}

void Spending::require_room() const {
    const double spent = this->spent();
    if (limit_ <= 0.0 || spent < limit_) return;
    throw whittle::Error(whittle::Errc::limit_exceeded,
                         fmt::format("ask the model: {:.4f} are spent, --max-cost is {:.4f}", spent, limit_));
}

}  // namespace agent
