#include "ledger.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

/// Below the minimum nothing is cached, and nothing is paid for writing.
double price_of(const CacheProfile& cache, std::int64_t total, std::int64_t cached) {
    if (total < cache.min_prefix_tokens) return static_cast<double>(total);
    return cache.read * static_cast<double>(cached) + cache.write * static_cast<double>(total - cached);
}

using Points = std::vector<std::pair<double, double>>;

/// log(i) and log(sum up to call i), without the first tenth of the calls.
Points growth_of(const std::vector<double>& money) {
    const std::size_t first = std::max<std::size_t>(5, money.size() / 10);
    Points points;
    double sum = 0;
    for (std::size_t i = 1; i <= money.size(); ++i) {
        sum += money[i - 1];
        if (i >= first && sum > 0) points.emplace_back(std::log(static_cast<double>(i)), std::log(sum));
    }
    return points;
}

/// Least squares.
std::optional<double> slope_of(const Points& points) {
    constexpr std::size_t fewest = 5;
    if (points.size() < fewest) return std::nullopt;
    std::pair<double, double> mean;
    for (const auto& [x, y] : points) mean.first += x, mean.second += y;
    mean.first /= static_cast<double>(points.size());
    mean.second /= static_cast<double>(points.size());
    double above = 0;
    double below = 0;
    for (const auto& [x, y] : points) {
        above += (x - mean.first) * (y - mean.second);
        below += (x - mean.first) * (x - mean.first);
    }
    return below > 0 ? std::optional(above / below) : std::nullopt;
}

}  // namespace

Ledger::Ledger(std::span<const CostProfile> profiles) : profiles_(profiles), accounts_(profiles.size()) {}

void Ledger::add_call(const RequestTokens& raw, const RequestTokens& sent, std::int64_t reply) {
    for (std::size_t p = 0; p < profiles_.size(); ++p) {
        const CacheProfile& cache = profiles_[p].cache;
        Account& account = accounts_[p];
        const double rest = profiles_[p].output * static_cast<double>(reply);
        const double aside = std::exchange(account.aside, 0);
        account.raw.push_back(price_of(cache, raw.total, raw.cached[p].best) + rest);
        account.sent.push_back(price_of(cache, sent.total, sent.cached[p].best) + rest + aside);
        Money& money = account.money;
        money.raw += account.raw.back();
        money.sent += account.sent.back();
        money.raw_strict += price_of(cache, raw.total, raw.cached[p].strict) + rest;
        money.sent_strict += price_of(cache, sent.total, sent.cached[p].strict) + rest + aside;
        money.cached_raw += raw.cached[p].best;
        money.cached_sent += sent.cached[p].best;
        money.cached_sent_strict += sent.cached[p].strict;
    }
}

void Ledger::add_aside(const RequestTokens& request, std::int64_t reply) {
    for (std::size_t p = 0; p < profiles_.size(); ++p) {
        accounts_[p].aside += price_of(profiles_[p].cache, request.total, request.cached[p].best) +
                              profiles_[p].output * static_cast<double>(reply);
    }
}

std::vector<Money> Ledger::finish(std::span<const double> refetches, std::span<const double> line_refetches) const {
    std::vector<Money> all;
    for (std::size_t p = 0; p < profiles_.size(); ++p) {
        Money money = accounts_[p].money;
        money.with_refetches = money.sent + refetches[p];
        money.with_refetches_strict = money.sent_strict + refetches[p];
        money.with_line_refetches = money.sent + line_refetches[p];
        money.with_line_refetches_strict = money.sent_strict + line_refetches[p];
        money.exponent_raw = slope_of(growth_of(accounts_[p].raw));
        money.exponent_sent = slope_of(growth_of(accounts_[p].sent));
        all.push_back(money);
    }
    return all;
}

}  // namespace whittle::inline v0::evaluation
