#pragma once

#include "pieces.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::evaluation {

/// Tokens of a request that a provider reads from its cache.
struct Cached {
    std::int64_t best = 0;    ///< of the longest prefix that an earlier request had, also within a message
    std::int64_t strict = 0;  ///< by the profile's reach
};

/// A request as the cache sees it.
struct CacheRequest {
    std::span<const PieceId> pieces{};
    std::span<const std::int64_t> tokens_before{};  ///< by piece, and at the end: of all in front, tools included
    double seconds = 0;
    std::size_t common = 0;  ///< pieces at the front that the request before had too, where the caller knows
};

/// All requests of one session as paths in a tree of messages; a node knows when a request last went through it, and
/// when one last ended there. The nodes of the newest path share one time, so that a request costs what is new in it.
class PrefixTree {
public:
    PrefixTree(const PieceTable& pieces, std::span<const CostProfile> profiles, bool has_system);

    /// What each profile reads; then the request is in the cache.
    std::vector<Cached> add(const CacheRequest& request);
    /// Adds a request that is not the next of the session's own: `common` is found out.
    std::vector<Cached> add_aside(const CacheRequest& request);

private:
    using NodeId = std::uint32_t;
    static constexpr NodeId none = std::numeric_limits<NodeId>::max();
    static constexpr double never = -std::numeric_limits<double>::infinity();

    struct Node {
        PieceId piece = 0;
        NodeId newest_child = none;
        NodeId older_sibling = none;
        double used = never;   // while it is not on the newest path
        double ended = never;  // a request
    };

    /// The longest prefix that is alive after `ttl`: whole pieces, and tokens of the next one.
    struct Reach {
        bool is_any = false;
        std::size_t depth = 0;
        std::int64_t part = 0;
    };

    void leave(std::size_t depth);
    void find_known(const CacheRequest& request);
    void insert(const CacheRequest& request);
    [[nodiscard]] double used_at(std::size_t depth) const;
    [[nodiscard]] NodeId node_at(std::size_t depth) const { return depth == 0 ? 0 : path_[depth - 1]; }
    [[nodiscard]] Reach reach_of(const CacheRequest& request, double ttl) const;
    [[nodiscard]] std::int64_t shared_part(const CacheRequest& request, std::size_t depth, double ttl) const;
    [[nodiscard]] std::int64_t strict_tokens(const CacheRequest& request, const CostProfile& profile,
                                             std::size_t depth) const;
    [[nodiscard]] Cached cached_of(const CacheRequest& request, const CostProfile& profile) const;

    const PieceTable& pieces_;
    std::span<const CostProfile> profiles_;
    std::size_t system_depth_;
    std::vector<Node> nodes_{Node{}};
    std::unordered_map<std::uint64_t, NodeId> child_{};  // by node and piece
    std::vector<NodeId> path_{};                         // of the newest request, the root left out
    std::size_t refreshed_ = 0;  // nodes of `path_` whose time is `newest_`; those behind have their own
    double newest_ = never;
    std::size_t own_ = SIZE_MAX;  // pieces of the session's own newest request that are still on `path_`
};

}  // namespace whittle::inline v0::evaluation
