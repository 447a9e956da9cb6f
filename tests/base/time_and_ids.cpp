#include "whittle/base/clock.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/base/language.hpp"
#include "whittle/base/random.hpp"

#include "support/catch.hpp"

#include <array>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace whittle;
using namespace std::chrono_literals;

TEST_CASE("a time is written in ISO 8601 with milliseconds", "[clock]") {
    CHECK(to_iso8601(0) == "1970-01-01T00:00:00.000Z");
    CHECK(to_iso8601(1'769'903'999'123) == "2026-01-31T23:59:59.123Z");
    CHECK(to_iso8601(951'782'400'000) == "2000-02-29T00:00:00.000Z");
    CHECK(to_iso8601(-1) == "1969-12-31T23:59:59.999Z");
    CHECK(to_iso8601(253'402'300'799'999) == "9999-12-31T23:59:59.999Z");
    CHECK_FALSE(to_iso8601(std::numeric_limits<UnixMillis>::max()).empty());
    CHECK_FALSE(to_iso8601(std::numeric_limits<UnixMillis>::min()).empty());
}

TEST_CASE("sleeping on a manual clock moves it at once", "[clock]") {
    ManualClock clock(1'000);
    CHECK(clock.sleep_for(1h, {}));
    CHECK(clock.now() == 3'601'000);
    CHECK(clock.sleep_for(-5ms, {}));
    CHECK(clock.now() == 3'601'000);
    clock.advance(std::chrono::milliseconds::max());
    CHECK(clock.now() == std::numeric_limits<UnixMillis>::max());
}

TEST_CASE("a stopped sleep returns false and a manual clock stands", "[clock]") {
    StopSource source;
    source.request_stop();
    ManualClock clock;
    CHECK_FALSE(clock.sleep_for(1s, source.get_token()));
    CHECK(clock.now() == 0);
    CHECK_FALSE(system_clock()->sleep_for(1h, source.get_token()));
}

TEST_CASE("the system clock wakes when a stop is asked for", "[clock]") {
    StopSource source;
    const detail::JoiningThread stopper([&] {
        std::this_thread::sleep_for(20ms);
        source.request_stop();
    });
    CHECK_FALSE(system_clock()->sleep_for(std::chrono::milliseconds::max(), source.get_token()));
}

TEST_CASE("the system clock runs and sleeps", "[clock]") {
    const auto clock = system_clock();
    const UnixMillis before = clock->now();
    CHECK(before > 1'700'000'000'000);
    CHECK(clock->sleep_for(5ms, {}));
    CHECK(clock->now() >= before + 4);
}

TEST_CASE("a seeded source is SplitMix64 and repeats itself", "[random]") {
    SeededRandom random(1234567);
    CHECK(random.next() == 6457827717110365317U);
    CHECK(random.next() == 3203168211198807973U);
    SeededRandom again(1234567);
    CHECK(again.next() == 6457827717110365317U);
}

TEST_CASE("random ids are 32 hex digits and differ", "[random]") {
    const auto ids = random_ids();
    std::set<std::string> seen;
    for (int i = 0; i < 1'000; ++i) {
        const std::string id = ids->next();
        CHECK(id.size() == 32);
        CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
        seen.insert(id);
    }
    CHECK(seen.size() == 1'000);
    CHECK(random_ids(std::make_shared<SeededRandom>(1))->next() ==
          random_ids(std::make_shared<SeededRandom>(1))->next());
    CHECK(random_ids(nullptr)->next().size() == 32);
}

TEST_CASE("counting ids count, also from several threads", "[random]") {
    const auto ids = counting_ids("call");
    CHECK(ids->next() == "call1");
    std::vector<std::string> left;
    std::vector<std::string> right;
    {
        const detail::JoiningThread thread([&] {
            for (int i = 0; i < 500; ++i) left.push_back(ids->next());
        });
        for (int i = 0; i < 500; ++i) right.push_back(ids->next());
    }
    std::set<std::string> all(left.begin(), left.end());
    all.insert(right.begin(), right.end());
    CHECK(all.size() == 1'000);
}

TEST_CASE("a prefix that would break the promise on ids is refused", "[random]") {
    CHECK_THROWS_AS(counting_ids("Upper"), Error);
    CHECK_THROWS_AS(counting_ids("a-b"), Error);
    CHECK_THROWS_AS(counting_ids(std::string(21, 'a')), Error);
    CHECK(counting_ids("")->next() == "1");
}

TEST_CASE("an event sink that throws or is not there does no harm", "[event]") {
    int calls = 0;
    const Event event{.source = "chain", .kind = "warning", .text = "a sentence"};
    emit({}, event);
    emit([&](const Event& e) { calls += e.kind == "warning" ? 1 : 0; }, event);
    emit([](const Event&) { throw std::runtime_error("the host's logger is broken"); }, event);
    CHECK(calls == 1);
}

TEST_CASE("the default language is English until it is set", "[language]") {
    CHECK(default_language() == Language::english);
    set_language(Language::chinese);
    CHECK(default_language() == Language::chinese);
    CHECK(to_string(default_language()) == "zh");
    set_language(Language::english);
    CHECK(to_string(default_language()) == "en");
}

TEST_CASE("a safe name is short and starts with no dot", "[names]") {
    for (const char* name : {"a", "A-b_c.9", "_", "-x", "a..b"}) CHECK(is_safe_name(name));
    for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "a\\b", "é", "a\n"})
        CHECK_FALSE(is_safe_name(name));
    CHECK(is_safe_name(std::string(64, 'a')));
    CHECK_FALSE(is_safe_name(std::string(65, 'a')));
    CHECK_FALSE(is_safe_name(std::string_view("a\0", 2)));
}

TEST_CASE("a name that is not safe becomes safe and stays its own", "[names]") {
    CHECK(to_safe_name("already.safe") == "already.safe");
    CHECK(to_safe_name("") == "unnamed-e3b0c44298fc1c14");
    CHECK(to_safe_name("../../etc/passwd") == "etcpasswd-" + sha256_hex("../../etc/passwd").substr(0, 16));

    const std::vector<std::string> names{"a/b",
                                         "a\\b",
                                         "a b",
                                         "..",
                                         ".",
                                         "/",
                                         "ab/",
                                         std::string(65, 'a'),
                                         std::string(66, 'a'),
                                         std::string(10'000, 'x'),
                                         "你好",
                                         "\xFF"};
    std::set<std::string> results;
    for (const std::string& name : names) {
        CHECK(is_safe_name(to_safe_name(name)));
        results.insert(to_safe_name(name));
    }
    CHECK(results.size() == names.size());
    CHECK(to_safe_name(std::string(65, 'a')).size() == 64);
}

TEST_CASE("a qualified tool name is matched by its bare name too", "[names]") {
    const std::vector<std::string> names{"read_file", "github__search"};
    CHECK(matches_tool(names, "read_file"));
    CHECK(matches_tool(names, "files__read_file"));
    CHECK(matches_tool(names, "mcp__files__read_file"));
    CHECK(matches_tool(names, "github__search"));
    CHECK(matches_tool(names, "Read_File"));
    CHECK(matches_tool(names, "mcp__Files__READ_FILE"));
    CHECK_FALSE(matches_tool(names, "search"));
    CHECK_FALSE(matches_tool(names, "read"));
    CHECK_FALSE(matches_tool(std::vector<std::string>{}, "read_file"));
}

TEST_CASE("a function reference calls what it was made from", "[function_ref]") {
    int sum = 0;
    auto add = [&sum](int value) { return sum += value; };
    const FunctionRef<int(int)> reference = add;
    CHECK(reference(2) == 2);
    CHECK(reference(3) == 5);
    CHECK(sum == 5);
}

TEST_CASE("one rule finds a tool's settings: its very name, else the longest name that means it", "[names]") {
    const std::map<std::string, int> settings{{"", 0}, {"*", 1}, {"grep", 2}, {"mcp__srv__grep", 3}, {"Grep", 4}};
    const auto found = [&](std::string_view tool) {
        const int* value = find_for_tool(settings, tool);
        return value == nullptr ? -1 : *value;
    };
    CHECK(found("grep") == 2);
    CHECK(found("Grep") == 4);
    CHECK(found("mcp__srv__grep") == 3);
    CHECK(found("MCP__srv__Grep") == 3);
    CHECK(found("mcp__other__grep") >= 2);
    CHECK(found("read") == -1);
    for (const char* name : {"", "*", "mcp__*", "two words", "a\n"}) CHECK_FALSE(may_name_tool(name));
    for (const char* name : {"grep", "mcp__srv__grep", "a.b-c/d:e", "\xE6\x90\x9C"}) CHECK(may_name_tool(name));
}
