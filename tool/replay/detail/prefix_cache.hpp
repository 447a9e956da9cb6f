#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/chain/config.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

/// One piece of a request as a prompt cache sees it: system text and tools as the first piece, then each message.
struct PrefixElement {
    Hash128 fingerprint{};  ///< pieces with the same fingerprint are the same bytes
    std::int64_t tokens = 0;

    friend bool operator==(const PrefixElement&, const PrefixElement&) = default;
};

/// What a prompt cache makes of one request, in tokens. cached + written + uncached = tokens.
struct CacheAccount {
    std::int64_t tokens = 0;
    std::int64_t cached = 0;       ///< read from the cache
    std::int64_t written = 0;      ///< not read, and in the cache from now on
    std::int64_t uncached = 0;     ///< neither: below the minimum, behind the last whole step, or no cache at all
    std::int64_t invalidated = 0;  ///< of the previous request, behind the part that both have in common
    bool reset = false;            ///< that is more than `reset_slack_tokens`

    /// In tokens at the plain input price: read * cached + write * the rest (docs/tokens.md).
    [[nodiscard]] double input_cost(const CacheProfile& profile) const noexcept;

    friend bool operator==(const CacheAccount&, const CacheAccount&) = default;
};

/// A request whose common prefix with the previous one is shorter than that one by more than this is a reset.
inline constexpr std::int64_t reset_slack_tokens = 64;

/// A provider's prompt cache over the requests of one conversation. The cached part of a request is its longest common
/// prefix with any earlier request that is no older than the lifetime, in whole pieces, rounded down to the profile's
/// step, and 0 below its minimum. Each prefix has a rolling hash. A hash map knows when those that the newest request
/// left were last used, so that a request costs a comparison with the one before, and a hash for each piece behind
/// what both have in common, however many came before.
class PrefixCache {
public:
    explicit PrefixCache(CacheProfile profile) : profile_(std::move(profile)) {}

    /// Takes the next request, sent at `seconds` of any clock that does not run backwards.
    CacheAccount add(std::span<const PrefixElement> request, double seconds);

    [[nodiscard]] const CacheProfile& profile() const noexcept { return profile_; }

private:
    struct Hasher {
        std::size_t operator()(const Hash128& h) const noexcept { return static_cast<std::size_t>(h.low ^ h.high); }
    };
    /// A prefix of the newest request.
    struct Prefix {
        Hash128 hash{};
        std::int64_t tokens = 0;
    };

    [[nodiscard]] bool is_fresh(double used, double seconds) const noexcept;
    [[nodiscard]] std::int64_t tokens_of_prefix(std::size_t pieces) const noexcept;
    void leave_behind(std::size_t common);
    [[nodiscard]] std::int64_t extend(std::span<const PrefixElement> rest, bool is_there, double seconds);
    [[nodiscard]] std::int64_t to_cacheable(std::int64_t tokens) const noexcept;

    CacheProfile profile_;
    std::unordered_map<Hash128, double, Hasher> last_used_{};  ///< by prefix; not those of `newest_`
    std::vector<PrefixElement> previous_{};                    ///< the newest request
    std::vector<Prefix> newest_{};                             ///< its prefixes, all used at `newest_seconds_`
    double newest_seconds_ = 0.0;
    bool has_previous_ = false;
};

/// When each call was made, in seconds, from what a recording knows. What is not known takes the time of the call
/// before it, those at the start the first known time: within every lifetime.
[[nodiscard]] std::vector<double> fill_times(std::span<const std::optional<double>> times);

}  // namespace whittle::inline v0
