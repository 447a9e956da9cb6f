#pragma once

#include "prefix_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace whittle::inline v0::evaluation {

/// Tokens of a request, and what of them is read from the cache, by profile.
struct RequestTokens {
    std::int64_t total = 0;
    std::vector<Cached> cached{};
};

/// What the calls of a session cost, by profile.
class Ledger {
public:
    explicit Ledger(std::span<const CostProfile> profiles);

    void add_call(const RequestTokens& raw, const RequestTokens& sent, std::int64_t reply);
    /// A summarizer's call for the next request.
    void add_aside(const RequestTokens& request, std::int64_t reply);
    /// Of the call that was added last, by a profile.
    [[nodiscard]] double last_raw(std::size_t profile) const noexcept { return accounts_[profile].raw.back(); }
    [[nodiscard]] double last_sent(std::size_t profile) const noexcept { return accounts_[profile].sent.back(); }
    /// Money, by profile.
    [[nodiscard]] std::vector<Money> finish(std::span<const double> refetches,
                                            std::span<const double> line_refetches) const;

private:
    struct Account {
        Money money{};
        std::vector<double> raw{};  // of each call
        std::vector<double> sent{};
        double aside = 0;  // not yet charged to a call
    };

    std::span<const CostProfile> profiles_;
    std::vector<Account> accounts_;
};

}  // namespace whittle::inline v0::evaluation
