#include "redis_cluster_map.hpp"

#include <algorithm>

namespace whittle::inline v0 {
namespace {

/// A node that does not know its own address, or keeps it for itself, is where we asked.
RedisAddress node_in_map(const redisReply& node, const RedisAddress& from) {
    const auto fields = elements_of(node);
    if (fields.size() < 2) refuse_reply(from);
    const std::string_view host = text_of_reply(*fields[0]);
    const std::int64_t port = integer_of_reply(*fields[1]);
    if (port < 1 || port > 65'535) refuse_reply(from);
    return {.host = host.empty() || host == "?" ? from.host : std::string(host), .port = static_cast<int>(port)};
}

}  // namespace

const RedisAddress* RedisClusterMap::primary_of(int slot) const {
    const std::int16_t node = slots_.at(static_cast<std::size_t>(slot));
    return node == nobody ? nullptr : &nodes_.at(static_cast<std::size_t>(node));
}

void RedisClusterMap::set(int first, int last, const RedisAddress& node) {
    auto found = std::find(nodes_.begin(), nodes_.end(), node);
    if (found == nodes_.end()) found = nodes_.insert(nodes_.end(), node);
    const auto number = static_cast<std::int16_t>(found - nodes_.begin());
    for (int slot = first; slot <= last; ++slot) slots_.at(static_cast<std::size_t>(slot)) = number;
}

RedisClusterMap read_cluster_map(const redisReply& reply, const RedisAddress& from) {
    if (!is_array(reply)) refuse_reply(from);
    RedisClusterMap map;
    for (const redisReply* const range : elements_of(reply)) {
        const auto fields = elements_of(*range);
        if (fields.size() < 3 || !is_integer(*fields[0]) || !is_integer(*fields[1])) refuse_reply(from);
        const std::int64_t first = integer_of_reply(*fields[0]);
        const std::int64_t last = integer_of_reply(*fields[1]);
        if (first < 0 || last < first || last > 16'383) refuse_reply(from);
        map.set(static_cast<int>(first), static_cast<int>(last), node_in_map(*fields[2], from));
    }
    return map;
}

}  // namespace whittle::inline v0
