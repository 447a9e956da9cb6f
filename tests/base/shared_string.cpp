#include "whittle/base/detail/shared_string.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

using namespace whittle;

TEST_CASE("a shared string is its text, and its copies are one block", "[shared_string]") {
    const SharedString id = "call_0123456789abcdef";
    SharedString copy = id;
    CHECK(copy.shares_with(id));
    CHECK(copy == id);
    CHECK(copy == "call_0123456789abcdef");
    CHECK(std::string("call_0123456789abcdef") == copy);
    CHECK(copy.size() == 21);
    CHECK(copy.str() == copy.view());

    const SharedString same(std::string("call_0123456789abcdef"));
    CHECK(same == id);
    CHECK_FALSE(same.shares_with(id));

    copy = "another";
    CHECK(copy == "another");
    CHECK(id == "call_0123456789abcdef");
    CHECK(copy < id);
}

TEST_CASE("an empty shared string is none", "[shared_string]") {
    const SharedString none;
    CHECK(none.empty());
    CHECK(none == "");
    CHECK(none.view().data() == nullptr);
    CHECK(SharedString(std::string_view()).shares_with(none));
    CHECK(SharedString("").shares_with(none));
    CHECK(sizeof(SharedString) == sizeof(void*));
}

TEST_CASE("a shared string holds any bytes", "[shared_string]") {
    const std::string bytes("a\0\xff", 3);
    CHECK(SharedString(bytes).view() == bytes);
}

TEST_CASE("a shared string can be moved, and assigned to itself", "[shared_string]") {
    SharedString a = "text";
    SharedString b = std::move(a);
    CHECK(b == "text");
    const SharedString& self = b;
    b = self;
    CHECK(b == "text");
    b = SharedString();
    CHECK(b.empty());
}

TEST_CASE("equal shared strings have one hash", "[shared_string]") {
    std::unordered_set<SharedString> names{"a", "b"};
    CHECK(names.contains(std::string("a")));
    CHECK_FALSE(names.contains("c"));
}

TEST_CASE("copies of a shared string may come and go in several threads", "[shared_string]") {
    SharedString text = "held by all";
    std::vector<std::thread> threads;
    std::vector<int> same(4);
    for (int& count : same) {
        threads.emplace_back([&count, text] {
            for (int i = 0; i < 10'000; ++i) {
                const SharedString copy = text;
                count += copy == "held by all" ? 1 : 0;
            }
        });
    }
    text = SharedString();
    for (std::thread& thread : threads) thread.join();
    CHECK(same == std::vector<int>(4, 10'000));
}

TEST_CASE("a shared string stands beside views in comparisons, searches and maps", "[shared_string]") {
    const std::string_view view = "b";
    const std::vector<SharedString> ids{"a", "b", "c"};
    CHECK(ids[0] < view);
    CHECK(view < ids[2]);
    CHECK(view == ids[1]);
    CHECK(ids[1] >= std::string("b"));
    CHECK(std::ranges::find(ids, view) == ids.begin() + 1);
    CHECK(std::ranges::lower_bound(ids, view) == ids.begin() + 1);
    const std::map<SharedString, int, std::less<>> by_id{{"a", 1}, {"b", 2}};
    CHECK(by_id.find(view)->second == 2);
}

TEST_CASE("an equal text is held once where that is asked for", "[shared_string]") {
    const SharedString kept = "call_1";
    SharedString same = std::string("call_1");
    same.share_if_equal(kept);
    CHECK(same.shares_with(kept));
    SharedString other = "call_2";
    other.share_if_equal(kept);
    CHECK(other == "call_2");
}
