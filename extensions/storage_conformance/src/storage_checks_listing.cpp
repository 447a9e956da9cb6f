#include "check_run.hpp"

#include <stdexcept>

namespace whittle::inline v0 {
namespace {

/// `_` and `%` stand for anything in some query languages, and `/` sorts behind `-` and `.`.
void listing_is_in_byte_order(CheckRun& run) {
    for (const char* key : {"a/b/2", "a/b/10", "a-b", "a.b/x", "a/B", "ab", "b", "a/b.c", "a_b", "axb"})
        run.put(key, key);
    run.expect_keys("", {"a-b", "a.b/x", "a/B", "a/b.c", "a/b/10", "a/b/2", "a_b", "ab", "axb", "b"});
    run.expect_keys("a/b", {"a/b.c", "a/b/10", "a/b/2"});
    run.expect_keys("a/b/", {"a/b/10", "a/b/2"});
    run.expect_keys("a/b/1", {"a/b/10"});
    run.expect_keys("a/b/10", {"a/b/10"});
    run.expect_keys("a_", {"a_b"});
    for (const char* nowhere : {"zzz", "../", "a/b/100", "%", "a%", "A", "\xff", "a\xff"}) run.expect_keys(nowhere, {});
}

void listing_stops(CheckRun& run) {
    run.put("a", "12345");
    run.put("b", "1");
    std::vector<ObjectInfo> seen;
    run.storage().list("", [&](const ObjectInfo& info) {
        seen.push_back(info);
        return false;
    });
    run.expect(seen.size() == 1, fmt::format("visits: expected 1, found {}", seen.size()));
    run.expect(!seen.empty() && seen[0].key == "a" && seen[0].bytes == 5, "the first visit: expected \"a\" of 5 bytes");
}

void visit_may_use_the_storage(CheckRun& run) {
    for (const char* key : {"a", "b", "c"}) run.put(key, key);
    run.storage().list("", [&](const ObjectInfo& info) {
        run.expect_content("get in a visit", run.storage().get(info.key), info.key);
        run.put("seen-" + info.key.substr(0, 1), info.key);
        run.expect(!run.keys(info.key).empty(), "list in a visit: expected the object");
        return info.key < "c";
    });
    for (const char* key : {"a", "b", "c"})
        run.expect_content("put in a visit", run.storage().get(std::string("seen-") + key), key);
}

void objects_go_while_listed(CheckRun& run) {
    for (int i = 0; i < run.options().objects; ++i) run.put("o/" + std::to_string(i), "x");
    int visits = 0;
    run.storage().list("o/", [&](const ObjectInfo& info) {
        ++visits;
        return run.storage().remove(info.key);
    });
    run.expect(visits == run.options().objects,
               fmt::format("visits: expected {}, found {}", run.options().objects, visits));
    run.expect_keys("", {});
}

void visit_may_throw(CheckRun& run) {
    run.put("a", "x");
    bool came_out = false;
    try {
        run.storage().list("", [](const ObjectInfo&) -> bool { throw std::runtime_error("of the visit"); });
    } catch (const std::runtime_error& error) {
        came_out = error.what() == std::string_view("of the visit");
    }
    run.expect(came_out, "what a visit throws: expected that it gets out of list");
    run.put("b", "y");
    run.expect_keys("", {"a", "b"});
}

void long_listing_is_whole(CheckRun& run) {
    std::vector<std::string> expected;
    for (int i = 0; i < run.options().objects; ++i) expected.push_back(fmt::format("c/{:08}", i));
    for (std::size_t i = expected.size(); i-- > 0;) run.put(expected[i], expected[i]);
    run.put("b", "before");
    run.put("d", "behind");
    const std::vector<std::string> found = run.keys("c/");
    run.expect(found == expected,
               fmt::format("list: expected {} keys in order, found {}", expected.size(), found.size()));
}

}  // namespace

StorageChecks checks_of_listing() {
    return {
        {"list is in byte order of the keys and honours the prefix", CheckNeeds::listing, listing_is_in_byte_order},
        {"list tells the length and stops when asked to", CheckNeeds::listing, listing_stops},
        {"a visit may use the storage", CheckNeeds::listing, visit_may_use_the_storage},
        {"objects may be removed while they are listed", CheckNeeds::listing_and_removal, objects_go_while_listed},
        {"what a visit throws gets out and leaves the storage usable", CheckNeeds::listing, visit_may_throw},
        {"a long listing has every object once", CheckNeeds::listing, long_listing_is_whole},
    };
}

}  // namespace whittle::inline v0
