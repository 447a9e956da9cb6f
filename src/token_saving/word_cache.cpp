#include "word_cache.hpp"

#include <bit>

namespace whittle::inline v0::detail {

Hash128 WordCache::key_of(std::string_view text, double keep_ratio) noexcept {
    return hash128(text, {std::bit_cast<std::uint64_t>(keep_ratio), 0});
}

Hash128 WordCache::key_of(Words words, double keep_ratio) noexcept {
    Hash128 key{std::bit_cast<std::uint64_t>(keep_ratio), words.size()};
    for (const std::string_view word : words) key = hash128(word, key);
    return key;
}

Hash128 WordCache::with_counts(const Hash128& key, const WordCounts& counts) noexcept {
    const Hash128 all = counts.fingerprint();
    return {key.low ^ all.low, key.high ^ all.high};
}

}  // namespace whittle::inline v0::detail
