#include "spending.hpp"

#include <whittle/base/error.hpp>

#include <fmt/format.h>

namespace agent {

Spending::Spending(std::optional<whittle::Prices> prices, double limit) : prices_(prices), limit_(limit) {
    if (limit_ > 0.0 && !prices_)
        throw whittle::Error(whittle::Errc::invalid_config,
                             "limit the cost: the configuration has no profile.prices, so that nothing has a cost");
}

void Spending::add(const whittle::Usage& usage) noexcept {
    if (!prices_) return;
    const auto cost = [](std::int64_t tokens, double price) { return static_cast<double>(tokens) * price / 1e6; };
    spent_ += cost(usage.input, prices_->input) + cost(usage.cache_read, prices_->cache_read) +
              cost(usage.cache_write, prices_->cache_write) + cost(usage.output, prices_->output);
}

void Spending::require_room() const {
    if (limit_ <= 0.0 || spent_ < limit_) return;
    throw whittle::Error(whittle::Errc::limit_exceeded,
                         fmt::format("ask the model: {:.4f} are spent, --max-cost is {:.4f}", spent_, limit_));
}

}  // namespace agent
