#include "replay/detail/prefix_cache.hpp"

#include "support/catch.hpp"
#include "whittle/base/random.hpp"
#include "whittle/chain/config.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

bool is_near(double a, double b) { return std::abs(a - b) < 1e-6; }

PrefixElement piece(std::uint64_t content, std::int64_t tokens) { return {hash128(std::to_string(content)), tokens}; }

/// The definition, word for word: compares with every earlier request.
class NaiveCache {
public:
    explicit NaiveCache(CacheProfile profile) : profile_(std::move(profile)) {}

    std::int64_t cached(const std::vector<PrefixElement>& request, double seconds) {
        std::int64_t best = 0;
        for (const auto& [earlier, at] : seen_) {
            if (seconds - at > static_cast<double>(profile_.ttl_seconds)) continue;
            std::int64_t common = 0;
            for (std::size_t i = 0; i < std::min(earlier.size(), request.size()) && earlier[i] == request[i]; ++i) {
                common += request[i].tokens;
            }
            best = std::max(best, common);
        }
        seen_.emplace_back(request, seconds);
        if (profile_.ttl_seconds == 0) return 0;
        best = best / profile_.prefix_step_tokens * profile_.prefix_step_tokens;
        return best < profile_.min_prefix_tokens ? 0 : best;
    }

private:
    CacheProfile profile_;
    std::vector<std::pair<std::vector<PrefixElement>, double>> seen_{};
};

}  // namespace

TEST_CASE("a request that appends reads what the one before it wrote", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_5m"));
    const std::vector<PrefixElement> first{piece(1, 1'000), piece(2, 500)};
    const std::vector<PrefixElement> second{piece(1, 1'000), piece(2, 500), piece(3, 300)};

    const CacheAccount a = cache.add(first, 0);
    CHECK(a == CacheAccount{.tokens = 1'500, .cached = 0, .written = 1'500, .uncached = 0});
    CHECK(is_near(a.input_cost(cache.profile()), 1.25 * 1'500));

    const CacheAccount b = cache.add(second, 10);
    CHECK(b == CacheAccount{.tokens = 1'800, .cached = 1'500, .written = 300, .uncached = 0});
    CHECK(is_near(b.input_cost(cache.profile()), 0.1 * 1'500 + 1.25 * 300));
}

TEST_CASE("anthropic_5m: a prefix below 1,024 tokens is not cached", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_5m"));
    CHECK(cache.add(std::vector{piece(1, 1'023)}, 0) == CacheAccount{.tokens = 1'023, .uncached = 1'023});
    CHECK(cache.add(std::vector{piece(1, 1'023), piece(2, 1)}, 1).cached == 0);
    CHECK(cache.add(std::vector{piece(1, 1'023), piece(2, 1), piece(3, 5)}, 2).cached == 1'024);
}

TEST_CASE("anthropic_5m: what was not used for more than 300 seconds is gone, and use renews it", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_5m"));
    const std::vector request{piece(1, 2'000)};
    CHECK(cache.add(request, 0).cached == 0);
    CHECK(cache.add(request, 300).cached == 2'000);
    CHECK(cache.add(request, 600).cached == 2'000);
    CHECK(cache.add(request, 900.5).cached == 0);
    CHECK(cache.add(request, 901).cached == 2'000);
}

TEST_CASE("anthropic_1h: an hour, and writing costs twice the input price", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_1h"));
    (void)cache.add(std::vector{piece(1, 2'000)}, 0);
    const CacheAccount next = cache.add(std::vector{piece(1, 2'000), piece(2, 50)}, 3'600);
    CHECK(next.cached == 2'000);
    CHECK(is_near(next.input_cost(cache.profile()), 200.0 + 2.0 * 50));
    CHECK(cache.add(std::vector{piece(1, 2'000)}, 7'200.5).cached == 0);
}

TEST_CASE("openai: the cached part is a multiple of 128 tokens, and writing costs the input price", "[replay]") {
    PrefixCache cache(*find_cache_profile("openai"));
    CHECK(cache.add(std::vector{piece(1, 1'500)}, 0) ==
          CacheAccount{.tokens = 1'500, .written = 1'408, .uncached = 92});
    const CacheAccount next = cache.add(std::vector{piece(1, 1'500), piece(2, 100)}, 600);
    CHECK(next == CacheAccount{.tokens = 1'600, .cached = 1'408, .written = 128, .uncached = 64});
    CHECK(is_near(next.input_cost(cache.profile()), 0.1 * 1'408 + 192));
    CHECK(cache.add(std::vector{piece(1, 1'500)}, 1'200.5).cached == 0);
}

TEST_CASE("openai_2026: half an hour, and writing costs a quarter more", "[replay]") {
    PrefixCache cache(*find_cache_profile("openai_2026"));
    (void)cache.add(std::vector{piece(1, 2'048)}, 0);
    const CacheAccount next = cache.add(std::vector{piece(1, 2'048), piece(2, 52)}, 1'800);
    CHECK(next.cached == 2'048);
    CHECK(is_near(next.input_cost(cache.profile()), 204.8 + 1.25 * 52));
}

TEST_CASE("no_cache: every token costs the input price", "[replay]") {
    PrefixCache cache(*find_cache_profile("no_cache"));
    (void)cache.add(std::vector{piece(1, 5'000)}, 0);
    const CacheAccount again = cache.add(std::vector{piece(1, 5'000)}, 0);
    CHECK(again == CacheAccount{.tokens = 5'000, .uncached = 5'000});
    CHECK(is_near(again.input_cost(cache.profile()), 5'000));
}

TEST_CASE("a request may read what any earlier one wrote, not only the last", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_5m"));
    (void)cache.add(std::vector{piece(1, 1'500), piece(2, 1'000)}, 0);
    (void)cache.add(std::vector{piece(9, 1'500)}, 1);
    const CacheAccount third = cache.add(std::vector{piece(1, 1'500), piece(2, 1'000), piece(3, 10)}, 2);
    CHECK(third.cached == 2'500);
    CHECK(third.reset);
    CHECK(third.invalidated == 1'500);
}

TEST_CASE("a change within the last 64 tokens of the previous request is no reset", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_5m"));
    (void)cache.add(std::vector{piece(1, 2'000), piece(2, 64)}, 0);
    const CacheAccount small = cache.add(std::vector{piece(1, 2'000), piece(3, 65)}, 1);
    CHECK_FALSE(small.reset);
    CHECK(small.invalidated == 64);
    const CacheAccount large = cache.add(std::vector{piece(1, 2'000), piece(4, 7)}, 2);
    CHECK(large.reset);
    CHECK(large.invalidated == 65);
}

TEST_CASE("a request without pieces costs nothing and resets nothing", "[replay]") {
    PrefixCache cache(*find_cache_profile("anthropic_5m"));
    CHECK(cache.add({}, 0) == CacheAccount{});
    CHECK_FALSE(cache.add(std::vector{piece(1, 5'000)}, 0).reset);
    CHECK(cache.add({}, 0).reset);
}

TEST_CASE("on random requests the cache agrees with the definition", "[replay]") {
    SeededRandom random(7);
    const auto below = [&](std::uint64_t limit) { return random.next() % limit; };
    std::vector<CacheProfile> profiles(cache_profiles().begin(), cache_profiles().end());
    profiles.push_back({.name = "odd", .ttl_seconds = 40, .min_prefix_tokens = 100, .prefix_step_tokens = 7});
    int hits = 0;
    for (int run = 0; run < 200; ++run) {
        const CacheProfile& profile = profiles[static_cast<std::size_t>(run) % profiles.size()];
        PrefixCache cache(profile);
        NaiveCache naive(profile);
        std::vector<PrefixElement> request;
        double seconds = 0;
        for (int call = 0; call < 40; ++call) {
            if (below(4) == 0)
                request.resize(below(request.size() + 1));  // a reset; few contents, so that paths meet again
            for (std::uint64_t n = below(4); n > 0; --n) {
                const std::uint64_t content = below(3);
                request.push_back(piece(content, static_cast<std::int64_t>(100 + 397 * content)));
            }
            seconds += static_cast<double>(below(3) == 0 ? below(900) : below(30));
            CAPTURE(run, call, profile.name, seconds);
            const CacheAccount account = cache.add(request, seconds);
            REQUIRE(account.cached == naive.cached(request, seconds));
            REQUIRE(account.cached + account.written + account.uncached == account.tokens);
            REQUIRE(std::min({account.cached, account.written, account.uncached}) >= 0);
            hits += account.cached > 0 ? 1 : 0;
        }
    }
    CHECK(hits > 1'000);  // the requests do exercise the cache
}

TEST_CASE("calls without a known time are within the lifetime of the one before", "[replay]") {
    using Times = std::vector<std::optional<double>>;
    CHECK(fill_times(Times{{}, {}}) == std::vector<double>{0, 0});
    CHECK(fill_times(Times{{}, 100.0, {}, 500.0}) == std::vector<double>{100, 100, 100, 500});
    CHECK(fill_times(Times{100.0, 90.0, 120.0}) == std::vector<double>{100, 100, 120});
    CHECK(fill_times({}).empty());
}
