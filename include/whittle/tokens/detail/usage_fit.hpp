#pragma once

#include <cstdint>

namespace whittle::inline v0 {

/// How a provider's counts follow ours: reported = ratio * counted + overhead. The ratio is learnt from what changed
/// between two replies. Of one reply alone nobody can tell a ratio from an overhead: it is taken for a ratio within
/// [1/2, 4]. What the ratio leaves is overhead, such as a system text that the server adds.
class UsageFit {
public:
    /// No ratio is below this.
    static constexpr double lowest_ratio = 0.5;
    /// No ratio is above this.
    static constexpr double highest_ratio = 4.0;

    /// All that was learnt, for saving.
    struct State {
        std::int64_t reported = 0;    ///< the last usage
        std::int64_t counted = 0;     ///< and our count of the same
        double first_ratio = 1.0;     ///< of one reply alone
        double first_weight = 0.0;    ///< in tokens of ours; fades with each reply
        double grown_reported = 0.0;  ///< billed tokens of what changed between usages; fades with each reply
        double grown_counted = 0.0;   ///< our count of the same changes
        double own_weight = 0.0;      ///< of the belief that new text is what we count
        double spread = 0.0;          ///< see `spread()`

        friend bool operator==(const State&, const State&) = default;
    };

    UsageFit() = default;
    /// Takes over what was saved; numbers that no fit has are brought within their bounds.
    explicit UsageFit(const State& saved) noexcept;
    /// For saving.
    [[nodiscard]] const State& state() const noexcept { return now_; }

    /// A provider said `reported` of what is `counted` by us. 0 and less say nothing and change nothing.
    void observe(std::int64_t reported, std::int64_t counted) noexcept;
    /// At the last usage, that much more was there than we had counted.
    void add_counted(std::int64_t tokens) noexcept;
    /// What follows is another model's: this fit stands in until its first usage, which alone counts then.
    void lend() noexcept { is_lent_ = is_known(); }

    /// Whether there was a usage.
    [[nodiscard]] bool is_known() const noexcept { return now_.reported > 0; }
    /// Whether it is another model's, for want of one of its own.
    [[nodiscard]] bool is_lent() const noexcept { return is_lent_; }
    /// What the provider counts for one token of ours, within [1/2, 4]; 1 without a usage.
    [[nodiscard]] double ratio() const noexcept;
    /// What the ratio leaves of the last usage; never below 0.
    [[nodiscard]] std::int64_t overhead() const noexcept;
    /// How far `expected` was off the usages that came, as a part of these: a mean in which each reply leaves four
    /// fifths of the weight of those before it. 0 before the second usage.
    [[nodiscard]] double spread() const noexcept { return now_.spread; }

    /// What the provider would say now. What came since the last usage is taken for as much as we count until growth
    /// has shown another ratio; what went since goes at `ratio()`, and never more than all of it. Saturates.
    [[nodiscard]] std::int64_t expected(std::int64_t counted) const noexcept;

private:
    [[nodiscard]] double ratio_of_new() const noexcept;
    void start(std::int64_t reported, std::int64_t counted) noexcept;
    void note_error(std::int64_t reported, std::int64_t counted) noexcept;
    void learn(double reported, double counted) noexcept;

    State now_{};
    bool is_lent_ = false;
};

/// What a limit on a request's size means for messages that we count: a request takes ratio * counted + overhead.
struct TokenScale {
    double ratio = 1.0;         ///< tokens of the request for one that we count
    std::int64_t overhead = 0;  ///< tokens of the request that we do not count

    /// Of a request that is judged to have `total` tokens and that we count as `counted`. `ratio`: what was learnt; the
    /// rest is overhead. A ratio that gives more than there is gives way.
    [[nodiscard]] static TokenScale of(std::int64_t total, std::int64_t counted, double ratio) noexcept;

    /// What that much of our count takes in a request, without overhead.
    [[nodiscard]] std::int64_t to_request(std::int64_t counted) const noexcept;
    /// What we may count where a request has that much room left; rounded down.
    [[nodiscard]] std::int64_t to_counted(std::int64_t request_tokens) const noexcept;
};

}  // namespace whittle::inline v0
