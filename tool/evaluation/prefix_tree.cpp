#include "prefix_tree.hpp"

#include "characters.hpp"

#include <algorithm>

namespace whittle::inline v0::evaluation {
namespace {

/// Siblings that are compared with a message that no request had at that place.
constexpr int compared_siblings = 8;

constexpr std::uint64_t edge(std::uint32_t node, PieceId piece) noexcept { return std::uint64_t{node} << 32U | piece; }

std::int64_t cacheable(std::int64_t tokens, std::int64_t total, const CacheProfile& cache) noexcept {
    tokens = std::min(tokens, total);
    return tokens < cache.min_prefix_tokens ? 0 : tokens / cache.prefix_step_tokens * cache.prefix_step_tokens;
}

}  // namespace

PrefixTree::PrefixTree(const PieceTable& pieces, std::span<const CostProfile> profiles, bool has_system)
    : pieces_(pieces), profiles_(profiles), system_depth_(has_system ? 1 : 0) {}

std::vector<Cached> PrefixTree::add(const CacheRequest& request) {
    leave(std::min({request.common, own_, path_.size()}));
    own_ = SIZE_MAX;
    find_known(request);
    std::vector<Cached> cached;
    for (const CostProfile& profile : profiles_) cached.push_back(cached_of(request, profile));
    insert(request);
    return cached;
}

std::vector<Cached> PrefixTree::add_aside(const CacheRequest& request) {
    std::size_t common = 0;
    while (common < std::min(path_.size(), request.pieces.size()) &&
           nodes_[path_[common]].piece == request.pieces[common])
        ++common;
    CacheRequest aside = request;
    aside.common = common;
    const std::size_t own = std::min(own_, common);
    std::vector<Cached> cached = add(aside);
    own_ = own;
    return cached;
}

/// Nodes that the newest path leaves keep its time for themselves.
void PrefixTree::leave(std::size_t depth) {
    for (std::size_t d = depth; d < path_.size(); ++d) nodes_[path_[d]].used = newest_;
    path_.resize(depth);
    refreshed_ = depth;
}

/// Along what earlier requests had.
void PrefixTree::find_known(const CacheRequest& request) {
    while (path_.size() < request.pieces.size()) {
        const auto next = child_.find(edge(node_at(path_.size()), request.pieces[path_.size()]));
        if (next == child_.end()) return;
        path_.push_back(next->second);
    }
}

void PrefixTree::insert(const CacheRequest& request) {
    while (path_.size() < request.pieces.size()) {
        const NodeId parent = node_at(path_.size());
        const PieceId piece = request.pieces[path_.size()];
        const auto node = static_cast<NodeId>(nodes_.size());
        nodes_.push_back({.piece = piece, .newest_child = none, .older_sibling = nodes_[parent].newest_child});
        nodes_[parent].newest_child = node;
        child_.emplace(edge(parent, piece), node);
        path_.push_back(node);
    }
    newest_ = request.seconds;
    refreshed_ = path_.size();
    nodes_.front().used = newest_;
    nodes_[node_at(path_.size())].ended = newest_;
}

double PrefixTree::used_at(std::size_t depth) const {
    if (depth == 0) return nodes_.front().used;
    return depth <= refreshed_ ? newest_ : nodes_[path_[depth - 1]].used;
}

/// A node was used no earlier than those behind it.
PrefixTree::Reach PrefixTree::reach_of(const CacheRequest& request, double ttl) const {
    const auto is_alive = [&](std::size_t depth) { return request.seconds - used_at(depth) <= ttl; };
    if (!is_alive(0)) return {};
    std::size_t alive = 0;
    for (std::size_t dead = path_.size() + 1; dead - alive > 1;) {
        const std::size_t middle = alive + (dead - alive) / 2;
        (is_alive(middle) ? alive : dead) = middle;
    }
    return {true, alive, shared_part(request, alive, ttl)};
}

/// Whole tokens that the message at `depth` begins with as another one there did.
std::int64_t PrefixTree::shared_part(const CacheRequest& request, std::size_t depth, double ttl) const {
    if (depth >= request.pieces.size()) return 0;
    const Piece& wanted = pieces_[request.pieces[depth]];
    std::int64_t best = 0;
    NodeId node = nodes_[node_at(depth)].newest_child;
    for (int i = 0; i < compared_siblings && node != none; ++i, node = nodes_[node].older_sibling) {
        const Piece& other = pieces_[nodes_[node].piece];
        const bool is_newest = depth < refreshed_ && path_[depth] == node;
        if (request.seconds - (is_newest ? newest_ : nodes_[node].used) > ttl) continue;
        if (!have_same_head(*other.message, *wanted.message) || other.text == wanted.text) continue;
        best = std::max(best, whole_tokens(common_front(wanted.text, other.text)));
    }
    return best;
}

std::int64_t PrefixTree::strict_tokens(const CacheRequest& request, const CostProfile& profile,
                                       std::size_t depth) const {
    if (profile.reach == CacheReach::messages) return request.tokens_before[depth];
    const auto ttl = static_cast<double>(profile.cache.ttl_seconds);
    std::int64_t tokens = request.tokens_before[std::min(system_depth_, depth)];
    int blocks = 0;
    for (std::size_t end = request.pieces.size(); end > 0 && blocks <= profile.look_back; --end) {
        if (end <= depth && request.seconds - nodes_[path_[end - 1]].ended <= ttl)
            return std::max(tokens, request.tokens_before[end]);
        blocks += pieces_[request.pieces[end - 1]].message->blocks;
    }
    return tokens;
}

Cached PrefixTree::cached_of(const CacheRequest& request, const CostProfile& profile) const {
    if (profile.cache.ttl_seconds <= 0) return {};
    const Reach reach = reach_of(request, static_cast<double>(profile.cache.ttl_seconds));
    if (!reach.is_any) return {};
    const std::int64_t total = request.tokens_before.back();
    return {cacheable(request.tokens_before[reach.depth] + reach.part, total, profile.cache),
            cacheable(strict_tokens(request, profile, reach.depth), total, profile.cache)};
}

}  // namespace whittle::inline v0::evaluation
