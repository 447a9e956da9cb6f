#include "whittle/base/detail/saturating.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <limits>

using namespace whittle;

TEST_CASE("a difference stays at the ends of the range", "[base]") {
    CHECK(sub_saturating(5, 3) == 2);
    CHECK(sub_saturating(INT64_MAX, -1) == INT64_MAX);
    CHECK(sub_saturating(INT64_MIN, 1) == INT64_MIN);
    CHECK(sub_saturating(0, INT64_MIN) == INT64_MAX);
    CHECK(sub_saturating(-1, INT64_MIN) == INT64_MAX);
    CHECK(sub_saturating(INT64_MIN, INT64_MIN) == 0);
    CHECK(sub_saturating(INT64_MAX, INT64_MAX) == 0);
}

TEST_CASE("a product stays at the ends of the range", "[base]") {
    CHECK(mul_saturating(6, 7) == 42);
    CHECK(mul_saturating(-6, 7) == -42);
    CHECK(mul_saturating(0, INT64_MIN) == 0);
    CHECK(mul_saturating(INT64_MAX, 2) == INT64_MAX);
    CHECK(mul_saturating(INT64_MAX, -2) == INT64_MIN);
    CHECK(mul_saturating(INT64_MIN, -1) == INT64_MAX);
    CHECK(mul_saturating(INT64_MIN, 1) == INT64_MIN);
    CHECK(mul_saturating(INT64_MIN / 2, 2) == INT64_MIN);
    CHECK(mul_saturating(3'037'000'500, 3'037'000'500) == INT64_MAX);
}

TEST_CASE("a number with a point becomes the nearest whole one towards zero that there is", "[base]") {
    CHECK(to_int64(2.9) == 2);
    CHECK(to_int64(-2.9) == -2);
    CHECK(to_int64(static_cast<double>(INT64_MAX)) == INT64_MAX);
    CHECK(to_int64(1e300) == INT64_MAX);
    CHECK(to_int64(-1e300) == INT64_MIN);
    CHECK(to_int64(std::numeric_limits<double>::infinity()) == INT64_MAX);
    CHECK(to_int64(std::numeric_limits<double>::quiet_NaN()) == 0);
}
