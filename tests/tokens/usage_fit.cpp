// How a provider's counts are set against ours.
#include "whittle/tokens/detail/usage_fit.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// Each pair: what was reported, what we counted.
UsageFit fit_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& replies) {
    UsageFit fit;
    for (const auto& [reported, counted] : replies) fit.observe(reported, counted);
    return fit;
}

bool is_near(double value, double wanted) { return value > wanted - 0.05 && value < wanted + 0.05; }

/// `replies` of a chat that grows by 2,000 of our tokens, billed by that rule.
UsageFit growing(int replies, double ratio, std::int64_t overhead, std::int64_t first = 1'000) {
    UsageFit fit;
    for (int i = 0; i < replies; ++i) {
        const std::int64_t counted = first + 2'000 * i;
        fit.observe(static_cast<std::int64_t>(ratio * static_cast<double>(counted)) + overhead, counted);
    }
    return fit;
}

}  // namespace

TEST_CASE("without a usage our own count is expected", "[usage]") {
    const UsageFit fit;
    CHECK_FALSE(fit.is_known());
    CHECK(fit.ratio() == 1.0);
    CHECK(fit.overhead() == 0);
    CHECK(fit.expected(1'234) == 1'234);
}

TEST_CASE("what one reply bills above our count is taken for a ratio, not for overhead", "[usage]") {
    const UsageFit fit = fit_of({{128'000, 80'000}});
    CHECK(fit.ratio() == 1.6);
    CHECK(fit.overhead() == 0);
    CHECK(fit.expected(80'000) == 128'000);
    CHECK(fit.expected(25'000) == 40'000);
    CHECK(fit.expected(0) == 0);
    CHECK(fit.expected(80'100) == 128'100);  // of new text nothing is known yet
}

TEST_CASE("the ratio of one reply alone is at most 4 and at least a half", "[usage]") {
    const UsageFit high = fit_of({{50'000, 1'000}});
    CHECK(high.ratio() == 4.0);
    CHECK(high.overhead() == 46'000);
    CHECK(high.expected(500) == 48'000);
    const UsageFit low = fit_of({{1'000, 50'000}});
    CHECK(low.ratio() == 0.5);
    CHECK(low.overhead() == 0);
    CHECK(low.expected(25'000) == 500);  // never below nothing
    CHECK(low.expected(0) == 0);
}

TEST_CASE("growth between replies tells a ratio from an overhead", "[usage]") {
    const UsageFit hidden = growing(12, 1.0, 50'000);
    CHECK(is_near(hidden.ratio(), 1.0));
    CHECK(is_near(static_cast<double>(hidden.overhead()) / 50'000, 1.0));
    const UsageFit denser = growing(12, 1.6, 0);
    CHECK(is_near(denser.ratio(), 1.6));
    CHECK(denser.overhead() < 500);
    CHECK(denser.expected(23'000 + 1'000) - denser.expected(23'000) > 1'500);  // new text is billed so, too
    const UsageFit both = growing(20, 2.0, 7'000);
    CHECK(is_near(both.ratio(), 2.0));
    CHECK(is_near(static_cast<double>(both.overhead()) / 7'000, 1.0));
}

TEST_CASE("a usage below our count lowers the ratio", "[usage]") {
    const UsageFit fit = growing(12, 0.7, 0);
    CHECK(is_near(fit.ratio(), 0.7));
    CHECK(fit.overhead() < 200);
    CHECK(fit.expected(10'000) < 8'000);
}

TEST_CASE("a history that was cut between two replies teaches as growth does", "[usage]") {
    const UsageFit fit = fit_of({{128'000, 80'000}, {68'000, 20'000}, {70'000, 22'000}, {20'000, 22'000 - 50'000}});
    CHECK(fit.ratio() < 1.2);  // 60,000 tokens of ours were 60,000 of theirs; a negative count is nobody's
    CHECK(fit.overhead() > 40'000);
}

TEST_CASE("usages that say nothing change nothing", "[usage]") {
    UsageFit fit = fit_of({{1'000, 800}});
    for (const std::int64_t nothing : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) fit.observe(nothing, 900);
    CHECK(fit.expected(800) == 1'000);
    CHECK_FALSE(fit_of({{0, 100}, {-5, 100}}).is_known());
    CHECK(fit_of({{500, 0}}).overhead() == 500);
    CHECK(fit_of({{500, 0}}).expected(100) == 600);
}

TEST_CASE("absurd usages neither overflow nor last", "[usage]") {
    UsageFit fit = fit_of({{INT64_MAX, 1'000}});
    CHECK(fit.ratio() == 4.0);
    CHECK(fit.expected(INT64_MAX) == INT64_MAX);
    CHECK(fit.expected(0) > INT64_MAX / 2);
    fit.observe(INT64_MAX, INT64_MAX);
    CHECK(fit.expected(INT64_MAX) == INT64_MAX);
    fit.observe(1'100, 1'000);
    CHECK(fit.expected(1'000) == 1'100);
    CHECK(fit.overhead() <= 100);
    for (int i = 1; i <= 40; ++i) fit.observe(1'100 + 3'200 * i, 1'000 + 2'000 * i);
    CHECK(is_near(fit.ratio(), 1.6));
}

TEST_CASE("another model is learnt anew, and a small surprise is not one", "[usage]") {
    UsageFit fit = growing(12, 1.6, 0, 60'000);
    fit.observe(82'000, 84'000);  // the same chat by another tokenizer
    CHECK(is_near(fit.ratio(), 82.0 / 84.0));
    UsageFit noisy = growing(12, 1.6, 0, 60'000);
    noisy.observe(static_cast<std::int64_t>(1.6 * 82'050) + 2'000, 82'050);  // 50 tokens more, 2,000 of hidden thinking
    CHECK(is_near(noisy.ratio(), 1.6));
}

TEST_CASE("what we had not counted when the usage came is added to our side", "[usage]") {
    UsageFit fit = fit_of({{3'000, 1'000}});
    fit.add_counted(1'000);
    CHECK(fit.ratio() == 1.5);
    CHECK(fit.expected(2'000) == 3'000);
    UsageFit unknown;
    unknown.add_counted(1'000);
    CHECK_FALSE(unknown.is_known());
}

TEST_CASE("a scale goes from our count to a request's and back", "[usage]") {
    const TokenScale dense = TokenScale::of(128'000, 80'000, 1.6);
    CHECK(dense.overhead == 0);
    CHECK(dense.to_counted(40'000) == 25'000);
    CHECK(dense.to_request(25'000) == 40'000);
    const TokenScale hidden = TokenScale::of(60'000, 10'000, 1.0);
    CHECK(hidden.overhead == 50'000);
    CHECK(hidden.to_request(10'000) == 10'000);
    CHECK(TokenScale::of(10, 100, 1.0).to_request(100) == 10);  // a ratio that gives more than there is gives way
    CHECK(TokenScale::of(0, 100, 1.0).to_counted(1) > 0);
    CHECK(TokenScale::of(77, 0, 2.0).overhead == 77);
    CHECK(TokenScale::of(-5, 0, 2.0).overhead == 0);
}
