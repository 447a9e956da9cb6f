#pragma once

#include "cost_basis.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// By which prices sessions are paid, and what stands in front of their messages.
class CostBases {
public:
    void add(const CostBasis& basis);
    CostBases& operator+=(const CostBases& other);

    /// Of most sessions; empty without any.
    [[nodiscard]] std::string most_frequent_cache() const;
    /// Sentences, a line each: what is assumed says so.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] nlohmann::ordered_json json() const;

private:
    std::map<std::pair<std::string, CacheSource>, std::int64_t> caches_{};  // sessions
    std::vector<std::int64_t> fronts_{};                                    // of sessions whose bill says it
    std::vector<double> billed_per_counted_{};                              // of these
    bool are_fronts_chosen_ = false;
    std::int64_t unknown_fronts_ = 0;  // sessions
};

/// What sessions cost under one chain, against sending everything: in tokens at the plain input price, output included.
/// tool/docs/evaluation.md has C0, C and C*.
struct SessionCost {
    double everything = 0;
    double sent = 0;
    double with_refetches = 0;
    // The same in tokens that the provider bills, for prices.
    double billed_everything = 0;
    double billed_with_refetches = 0;

    /// `figures`: with the profile that the session is paid by as its first.
    void add(const CostBasis& basis, const evaluation::Figures& figures);
    SessionCost& operator+=(const SessionCost& other) noexcept;
    [[nodiscard]] nlohmann::ordered_json json() const;
};

/// In the currency of `prices`.
[[nodiscard]] double money_of(double tokens, const PricesPerMillion& prices) noexcept;

}  // namespace whittle::cli
