#include "replay.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

void RequestTotals::add(const CacheAccount& account, const ModelProfile& profile) noexcept {
    *this += {.input = account.tokens,
              .peak = account.tokens,
              .cached = account.cached,
              .written = account.written,
              .uncached = account.uncached,
              .invalidated = account.invalidated,
              .resets = account.reset ? 1 : 0,
              .over_window = profile.context_window > 0 && account.tokens > profile.context_window ? 1 : 0,
              .input_cost = account.input_cost(profile.cache)};
}

RequestTotals& RequestTotals::operator+=(const RequestTotals& other) noexcept {
    input = add_saturating(input, other.input);
    peak = std::max(peak, other.peak);
    cached = add_saturating(cached, other.cached);
    written = add_saturating(written, other.written);
    uncached = add_saturating(uncached, other.uncached);
    invalidated = add_saturating(invalidated, other.invalidated);
    resets += other.resets;
    over_window += other.over_window;
    input_cost += other.input_cost;
    return *this;
}

double RequestTotals::hit_rate() const noexcept {
    return input > 0 ? static_cast<double>(cached) / static_cast<double>(input) : 0.0;
}

ReplayTotals& ReplayTotals::operator+=(const ReplayTotals& other) {
    trajectories += other.trajectories;
    calls += other.calls;
    output = add_saturating(output, other.output);
    raw += other.raw;
    sent += other.sent;
    side_calls += other.side_calls;
    side_input = add_saturating(side_input, other.side_input);
    side_output = add_saturating(side_output, other.side_output);
    commits += other.commits;
    for (const auto& [reason, messages] : other.edits) edits[reason] += messages;
    bytes_stored = add_saturating(bytes_stored, other.bytes_stored);
    changed_bytes = add_saturating(changed_bytes, other.changed_bytes);
    restored_bytes = add_saturating(restored_bytes, other.restored_bytes);
    not_undone += other.not_undone;
    failed_hooks += other.failed_hooks;
    failed_writes += other.failed_writes;
    violations.insert(violations.end(), other.violations.begin(), other.violations.end());
    for (const std::string& error : other.errors) add_error(error);
    return *this;
}

double ReplayTotals::restorable() const noexcept {
    return changed_bytes > 0 ? static_cast<double>(restored_bytes) / static_cast<double>(changed_bytes) : 1.0;
}

void ReplayTotals::add_error(std::string text) {
    if (errors.size() < 20) errors.push_back(std::move(text));
}

double money(const RequestTotals& requests, std::int64_t output, const PricesPerMillion& prices) noexcept {
    return (requests.input_cost * prices.input + static_cast<double>(output) * prices.output) / 1e6;
}

double money_sent(const ReplayTotals& totals, const PricesPerMillion& prices) noexcept {
    constexpr double per_million = 1e-6;
    const double side =
        static_cast<double>(totals.side_input) * prices.input + static_cast<double>(totals.side_output) * prices.output;
    return money(totals.sent, totals.output, prices) + side * per_million;
}

}  // namespace whittle::inline v0
