#include "support/catch.hpp"
#include "whittle/message/part.hpp"

#include <cstdint>

using namespace whittle;

TEST_CASE("usage is added count by count, and held at the maximum", "[message]") {
    Usage sum{1, 2, 3, 4, 5, 6};
    sum += {10, 20, 30, 40, 50, 60};
    CHECK(sum == Usage{11, 22, 33, 44, 55, 66});
    sum += {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    CHECK(sum == Usage{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX});
    CHECK(sum.total() == INT64_MAX);
}

TEST_CASE("no more of what was written to a cache is told to live than was written", "[message]") {
    const Usage written{.uncached_input = 7, .cache_write = 10};
    CHECK(written.with_lifetimes(4, 6) == Usage{7, 0, 10, 0, 4, 6});
    CHECK(written.with_lifetimes(4, 3) == Usage{7, 0, 10, 0, 4, 3});
    CHECK(written.with_lifetimes(9, 6) == Usage{7, 0, 10, 0, 4, 6});
    CHECK(written.with_lifetimes(9, 99) == Usage{7, 0, 10, 0, 0, 10});
    CHECK(written.with_lifetimes(-1, -1) == written);
    CHECK(Usage{.cache_write = -5}.with_lifetimes(1, 1) == Usage{0, 0, -5, 0});
    CHECK(written.with_lifetimes(4, 6).total() == written.total());
}
