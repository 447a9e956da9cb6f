#pragma once

#include <whittle/chain/config.hpp>
#include <whittle/message/part.hpp>

#include <cstdint>
#include <mutex>
#include <optional>

namespace agent {

/// Calls that middlewares made for themselves, such as a summary.
struct SideCalls {
    int calls = 0;
    std::int64_t tokens = 0;  ///< of all their requests together
};

/// What a run has cost so far, in the currency of the prices. Thread-safe: a middleware may ask its model while a tool
/// runs.
class Spending {
public:
    /// `limit`: 0 for none. Throws whittle::Error(invalid_config) for a limit without prices.
    Spending(std::optional<whittle::PricesPerMillion> prices, double limit);

    void add(const whittle::Usage& usage);
    void add_side_call(std::int64_t request_tokens);
    /// Throws whittle::Error(limit_exceeded) once the limit is reached: the next call would be above it.
    void require_room() const;
    [[nodiscard]] double spent() const;
    [[nodiscard]] SideCalls side_calls() const;

private:
    std::optional<whittle::PricesPerMillion> prices_;
    double limit_;
    mutable std::mutex mutex_{};
    double spent_ = 0.0;
    SideCalls side_calls_{};
};

}  // namespace agent
