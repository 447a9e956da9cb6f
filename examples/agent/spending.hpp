#pragma once

#include <whittle/chain/config.hpp>
#include <whittle/message/part.hpp>

#include <optional>

namespace agent {

/// What a run has cost so far, in the currency of the prices. Used on one thread.
class Spending {
public:
    /// `limit`: 0 for none. Throws whittle::Error(invalid_config) for a limit without prices.
    Spending(std::optional<whittle::Prices> prices, double limit);

    void add(const whittle::Usage& usage) noexcept;
    /// Throws whittle::Error(limit_exceeded) once the limit is reached: the next call would be above it.
    void require_room() const;
    [[nodiscard]] double spent() const noexcept { return spent_; }

private:
    std::optional<whittle::Prices> prices_;
    double limit_;
    double spent_ = 0.0;
};

}  // namespace agent
