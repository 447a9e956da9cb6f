#include "whittle/base/detail/small_vector.hpp"

#include "support/catch.hpp"

#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// Counts what is alive; copying throws when it is told to.
struct Tracked {
    static inline int alive = 0;
    static inline int copies_left = -1;

    explicit Tracked(int v = 0) : value(std::make_unique<int>(v)) { ++alive; }
    Tracked(const Tracked& other) : value(std::make_unique<int>(*other.value)) {
        if (copies_left == 0) throw std::runtime_error("no copy");
        if (copies_left > 0) --copies_left;
        ++alive;
    }
    Tracked(Tracked&& other) noexcept : value(std::move(other.value)) { ++alive; }
    Tracked& operator=(Tracked other) noexcept {
        value = std::move(other.value);
        return *this;
    }
    ~Tracked() { --alive; }

    std::unique_ptr<int> value;
};

std::vector<int> values(const SmallVector<Tracked>& v) {
    std::vector<int> all;
    for (const Tracked& t : v) all.push_back(*t.value);
    return all;
}

SmallVector<Tracked> up_to(int count) {
    SmallVector<Tracked> v;
    for (int i = 0; i < count; ++i) v.push_back(Tracked(i));
    return v;
}

}  // namespace

TEST_CASE("a small vector holds one element in itself and more elsewhere", "[small_vector]") {
    SmallVector<std::string> v{"one"};
    const auto is_inside = [&] {
        const auto* const at = reinterpret_cast<const char*>(v.data());
        const auto* const self = reinterpret_cast<const char*>(&v);
        return at >= self && at < self + sizeof(v);
    };
    CHECK(is_inside());
    v.push_back("two");
    CHECK_FALSE(is_inside());
    CHECK(v == SmallVector<std::string>{"one", "two"});
    CHECK(v.front() == "one");
    CHECK(v.back() == "two");
    v.clear();
    CHECK(v.empty());
}

TEST_CASE("copies and moves of small vectors of any size keep the elements and leak none", "[small_vector]") {
    REQUIRE(Tracked::alive == 0);
    for (int from = 0; from < 5; ++from) {
        for (int to = 0; to < 5; ++to) {
            const SmallVector<Tracked> source = up_to(from);
            SmallVector<Tracked> copied = up_to(to);
            copied = source;
            CHECK(values(copied) == values(source));
            SmallVector<Tracked> moved = up_to(to);
            moved = std::move(copied);
            CHECK(values(moved) == values(source));
            CHECK(copied.empty());  // NOLINT(bugprone-use-after-move): a moved-from one is empty
            copied.push_back(Tracked(7));
            CHECK(values(copied) == std::vector<int>{7});
            const SmallVector<Tracked>& self = moved;
            moved = self;
            CHECK(values(moved) == values(source));
        }
    }
    CHECK(Tracked::alive == 0);
}

TEST_CASE("a small vector does what a vector does", "[small_vector]") {
    std::mt19937 random(20261123);
    SmallVector<std::int64_t> small;
    std::vector<std::int64_t> vector;
    for (int step = 0; step < 20'000; ++step) {
        const auto n = static_cast<std::int64_t>(random() % 9);
        switch (random() % 6) {
            case 0:
                small.resize(static_cast<std::size_t>(n));
                vector.resize(static_cast<std::size_t>(n));
                break;
            case 1: small.reserve(static_cast<std::size_t>(n)); break;
            case 2:
                if (n == 0) small.clear(), vector.clear();
                break;
            case 3:
                if (!vector.empty()) small.push_back(small.front()), vector.push_back(vector.front());
                break;
            default: small.push_back(n); vector.push_back(n);
        }
        REQUIRE(std::vector<std::int64_t>(small.begin(), small.end()) == vector);
    }
}

TEST_CASE("a copy that fails half-way leaves the small vector as it was", "[small_vector]") {
    const SmallVector<Tracked> source = up_to(4);
    SmallVector<Tracked> target = up_to(2);
    for (int copies = 0; copies < 4; ++copies) {
        Tracked::copies_left = copies;
        CHECK_THROWS(target = source);
        CHECK_THROWS(SmallVector<Tracked>(source));
        CHECK(values(target) == std::vector<int>{0, 1});
    }
    Tracked::copies_left = -1;
    target.clear();
    CHECK(Tracked::alive == 4);
}

TEST_CASE("a small vector refuses more elements than it can count", "[small_vector]") {
    constexpr std::uint64_t too_many = (std::uint64_t{1} << 32) + 1;
    if (too_many > std::numeric_limits<std::size_t>::max()) return;  // no size is as large
    SmallVector<char> v{'a'};
    CHECK_THROWS_AS(v.reserve(static_cast<std::size_t>(too_many)), std::length_error);
    CHECK(v == SmallVector<char>{'a'});
}
