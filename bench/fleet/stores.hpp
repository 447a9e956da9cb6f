// The stores that a fleet is tried on, and what happens to them meanwhile.
#pragma once

#include <whittle/storage/storage.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace whittle::bench {

class FleetStore {
public:
    virtual ~FleetStore() = default;
    [[nodiscard]] virtual std::shared_ptr<Storage> open() const = 0;
    /// Runs beside the agents until they are done; may end before.
    virtual void disturb(const std::atomic<bool>& is_over) { (void)is_over; }
    /// How many, once all is over.
    [[nodiscard]] virtual std::size_t problems() { return 0; }
};

/// `kind`: "sqlite", "redis" or "cluster". Durability and waiting as the store takes them; empty: what is usual there.
/// Throws std::runtime_error where the store is not built or its server is not installed.
[[nodiscard]] std::unique_ptr<FleetStore> make_fleet_store(const std::string& kind, const std::string& folder,
                                                           const std::string& durability);

}  // namespace whittle::bench
