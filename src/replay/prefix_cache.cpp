#include "whittle/replay/detail/prefix_cache.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace whittle::inline v0 {
namespace {

/// The hash of a prefix that is one piece longer.
Hash128 extend(const Hash128& prefix, const PrefixElement& element) noexcept {
    const std::array<std::uint64_t, 2> words{element.fingerprint.low, element.fingerprint.high};
    const auto bytes = std::bit_cast<std::array<char, sizeof(words)>>(words);
    return hash128(std::string_view(bytes.data(), bytes.size()), prefix);
}

std::int64_t tokens_in(std::span<const PrefixElement> request) noexcept {
    std::int64_t tokens = 0;
    for (const PrefixElement& element : request) tokens = add_saturating(tokens, element.tokens);
    return tokens;
}

}  // namespace

double CacheAccount::input_cost(const CacheProfile& profile) const noexcept {
    return profile.read * static_cast<double>(cached) + profile.write * static_cast<double>(tokens - cached);
}

/// Tokens of the longest prefix that is still there. A prefix was used whenever a longer one was, so that the first
/// one that is too old or unknown ends the search.
std::int64_t PrefixCache::read_and_refresh(std::span<const PrefixElement> request, double seconds) {
    Hash128 prefix{};
    std::int64_t tokens = 0;
    bool is_there = true;
    for (const PrefixElement& element : request) {
        prefix = extend(prefix, element);
        const auto [entry, is_new] = last_used_.try_emplace(prefix, seconds);
        is_there = is_there && !is_new && seconds - entry->second <= static_cast<double>(profile_.ttl_seconds);
        entry->second = std::max(entry->second, seconds);
        if (is_there) tokens = add_saturating(tokens, element.tokens);
    }
    return tokens;
}

std::int64_t PrefixCache::common_with_previous(std::span<const PrefixElement> request) const noexcept {
    const auto end = std::ranges::mismatch(previous_, request).in1;
    return tokens_in(std::span(previous_.begin(), end));
}

std::int64_t PrefixCache::to_cacheable(std::int64_t tokens) const noexcept {
    if (profile_.ttl_seconds <= 0) return 0;
    const std::int64_t whole = tokens - tokens % std::max<std::int64_t>(1, profile_.step);
    return whole < profile_.minimum ? 0 : whole;
}

CacheAccount PrefixCache::add(std::span<const PrefixElement> request, double seconds) {
    CacheAccount account{.tokens = tokens_in(request)};
    account.cached = to_cacheable(read_and_refresh(request, seconds));
    account.written = std::max<std::int64_t>(0, to_cacheable(account.tokens) - account.cached);
    account.uncached = sub_saturating(account.tokens, add_saturating(account.cached, account.written));
    if (has_previous_) account.invalidated = previous_tokens_ - common_with_previous(request);
    account.reset = account.invalidated > reset_slack_tokens;
    previous_.assign(request.begin(), request.end());
    previous_tokens_ = account.tokens;
    has_previous_ = true;
    return account;
}

std::vector<double> fill_times(std::span<const std::optional<double>> times) {
    std::vector<double> filled;
    filled.reserve(times.size());
    const auto known = std::ranges::find_if(times, [](const auto& time) { return time.has_value(); });
    double last = known == times.end() ? 0.0 : **known;
    for (const std::optional<double>& time : times) {
        last = std::max(last, time.value_or(last));
        filled.push_back(last);
    }
    return filled;
}

}  // namespace whittle::inline v0
