#pragma once

#include "redis_reply.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace whittle::inline v0 {

/// Which node has which slot.
class RedisClusterMap {
public:
    RedisClusterMap() { slots_.fill(nobody); }

    /// Null: nobody has it.
    [[nodiscard]] const RedisAddress* primary_of(int slot) const;
    void set(int slot, const RedisAddress& node) { set(slot, slot, node); }
    void set(int first, int last, const RedisAddress& node);
    [[nodiscard]] const std::vector<RedisAddress>& nodes() const noexcept { return nodes_; }

private:
    static constexpr std::int16_t nobody = -1;
    std::array<std::int16_t, 16'384> slots_{};
    std::vector<RedisAddress> nodes_{};
};

/// What `from` answered to CLUSTER SLOTS. Throws RedisRetry for what is none.
[[nodiscard]] RedisClusterMap read_cluster_map(const redisReply& reply, const RedisAddress& from);

}  // namespace whittle::inline v0
