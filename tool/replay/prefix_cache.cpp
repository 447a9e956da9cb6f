#include "replay/detail/prefix_cache.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace whittle::inline v0 {
namespace {

/// The hash of a prefix that is one piece longer.
Hash128 hash_of_longer(const Hash128& prefix, const PrefixElement& element) noexcept {
    const std::array<std::uint64_t, 2> words{element.fingerprint.low, element.fingerprint.high};
    const auto bytes = std::bit_cast<std::array<char, sizeof(words)>>(words);
    return hash128(std::string_view(bytes.data(), bytes.size()), prefix);
}

}  // namespace

double CacheAccount::input_cost(const CacheProfile& profile) const noexcept {
    return profile.read * static_cast<double>(cached) + profile.write * static_cast<double>(tokens - cached);
}

bool PrefixCache::is_fresh(double used, double seconds) const noexcept {
    return seconds - used <= static_cast<double>(profile_.ttl_seconds);
}

std::int64_t PrefixCache::tokens_of_prefix(std::size_t pieces) const noexcept {
    return pieces == 0 ? 0 : newest_[pieces - 1].tokens;
}

/// Notes when the prefixes of the newest request that the next one does not have were last used.
void PrefixCache::leave_behind(std::size_t common) {
    for (std::size_t i = common; i < newest_.size(); ++i) last_used_[newest_[i].hash] = newest_seconds_;
    newest_.resize(common);
    previous_.resize(common);
}

/// Takes over the pieces behind the common prefix. Tokens of those that are still there: a prefix was used whenever a
/// longer one was, so that the first one that is too old or unknown ends the search.
std::int64_t PrefixCache::extend(std::span<const PrefixElement> rest, bool is_there, double seconds) {
    std::int64_t read = 0;
    for (const PrefixElement& element : rest) {
        const Hash128 hash = hash_of_longer(newest_.empty() ? Hash128{} : newest_.back().hash, element);
        if (is_there) {
            const auto entry = last_used_.find(hash);
            is_there = entry != last_used_.end() && is_fresh(entry->second, seconds);
            if (is_there) read = add_saturating(read, element.tokens);
        }
        newest_.push_back({hash, add_saturating(tokens_of_prefix(newest_.size()), element.tokens)});
    }
    previous_.insert(previous_.end(), rest.begin(), rest.end());
    return read;
}

std::int64_t PrefixCache::to_cacheable(std::int64_t tokens) const noexcept {
    if (profile_.ttl_seconds <= 0) return 0;
    const std::int64_t whole = tokens - tokens % std::max<std::int64_t>(1, profile_.prefix_step_tokens);
    return whole < profile_.min_prefix_tokens ? 0 : whole;
}

CacheAccount PrefixCache::add(std::span<const PrefixElement> request, double seconds) {
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(previous_, request).in1 - previous_.begin());
    const std::int64_t before = tokens_of_prefix(newest_.size());
    const std::int64_t kept = tokens_of_prefix(common);
    const bool is_there = common == 0 || is_fresh(newest_seconds_, seconds);
    leave_behind(common);
    const std::int64_t read = add_saturating(is_there ? kept : 0, extend(request.subspan(common), is_there, seconds));
    CacheAccount account{.tokens = tokens_of_prefix(newest_.size())};
    account.cached = to_cacheable(read);
    account.written = std::max<std::int64_t>(0, to_cacheable(account.tokens) - account.cached);
    account.uncached = sub_saturating(account.tokens, add_saturating(account.cached, account.written));
    if (has_previous_) account.invalidated = before - kept;
    account.reset = account.invalidated > reset_slack_tokens;
    newest_seconds_ = seconds;
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
