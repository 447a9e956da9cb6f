#pragma once

#include "support/catch.hpp"
#include "whittle/base/error.hpp"
#include "whittle/port/storage.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace whittle::testing {

/// The code of the Error that `action` throws; nullopt if it throws none.
template <typename Action>
std::optional<Errc> errc_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.errc();
    }
    return std::nullopt;
}

inline std::vector<std::string> keys_below(Storage& storage, std::string_view prefix) {
    std::vector<std::string> keys;
    storage.list(prefix, [&](const ObjectInfo& info) {
        keys.push_back(info.key);
        return true;
    });
    return keys;
}

/// Names that must never reach a file system, a database or a shell.
inline std::vector<std::string> hostile_keys() {
    using namespace std::string_literals;
    return {"",
            "/",
            "/etc/x",
            "../../etc/x",
            "..",
            ".",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            ".hidden",
            "a/.hidden",
            "a\0b"s,
            "a\nb",
            "a b",
            "%2e%2e/x",
            "%2e%2e%2fx",
            "\xef\xbc\x8e\xef\xbc\x8e\xef\xbc\x8fx",  // full-width "../x"
            "\xd0\xb0/x",                             // a Cyrillic letter that looks like "a"
            "a\xcc\x81",                              // a combining accent
            "\xe2\x88\x95x",                          // DIVISION SLASH
            "-rf /",
            "CON:",
            "NUL\0.txt"s,
            "a\\b",
            "C:x",
            "caf\xc3\xa9",
            "\xff",
            "a/..",
            "...",
            "a;rm",
            "a*",
            "$(x)",
            "~",
            "a\x7f",
            std::string(513, 'k'),
            std::string(10'240, 'k'),
            "a/.b.meta",
            ".whittle-lock",
            "\xe2\x80\xae"};
}

/// What every backend promises (docs/storage.md). `fresh` makes an empty storage.
inline void check_storage_contract(const std::function<std::shared_ptr<Storage>()>& fresh) {
    const std::shared_ptr<Storage> storage = fresh();

    SECTION("an object comes back byte for byte") {
        const std::string bytes("\0\xff\r\n\xe4\xb8\xad ", 8);
        storage->put_if_absent("c1/a.txt", bytes);
        CHECK(storage->get("c1/a.txt") == bytes);
        storage->put_if_absent("empty", "");
        CHECK(storage->get("empty") == "");
    }
    SECTION("a megabyte comes back byte for byte") {
        std::string bytes(1'000'003, 'x');
        for (std::size_t i = 0; i < bytes.size(); i += 7) bytes[i] = static_cast<char>(i / 7);
        storage->put_if_absent("big", bytes);
        CHECK(storage->get("big") == bytes);
    }
    SECTION("an absent object is nullopt") {
        CHECK_FALSE(storage->get("c1/none"));
        CHECK_FALSE(storage->stat("c1/none"));
        CHECK_FALSE(storage->remove("c1/none"));
    }
    SECTION("the same content again is a no-op, other content is refused and changes nothing") {
        storage->put_if_absent("k", "one");
        CHECK_NOTHROW(storage->put_if_absent("k", "one"));
        CHECK(errc_of([&] { storage->put_if_absent("k", "two"); }) == Errc::already_exists);
        CHECK(errc_of([&] { storage->put_if_absent("k", ""); }) == Errc::already_exists);
        CHECK(storage->get("k") == "one");
    }
    SECTION("ranges are cut to the object") {
        storage->put_if_absent("k", "0123456789");
        CHECK(storage->get("k", 3, 4) == "3456");
        CHECK(storage->get("k", 0, 0) == "");
        CHECK(storage->get("k", 8, 100) == "89");
        CHECK(storage->get("k", 10, 5) == "");
        CHECK(storage->get("k", INT64_MAX, INT64_MAX) == "");
        CHECK(storage->get("k", 1, INT64_MAX) == "123456789");
        CHECK(errc_of([&] { (void)storage->get("k", -1, 5); }) == Errc::invalid_argument);
        CHECK(errc_of([&] { (void)storage->get("k", 0, -1); }) == Errc::invalid_argument);
    }
    SECTION("hostile keys are refused everywhere") {
        for (const std::string& key : hostile_keys()) {
            CAPTURE(key.substr(0, 40), key.size());
            CHECK(errc_of([&] { storage->put_if_absent(key, "x"); }) == Errc::invalid_key);
            CHECK(errc_of([&] { (void)storage->get(key); }) == Errc::invalid_key);
            CHECK(errc_of([&] { (void)storage->stat(key); }) == Errc::invalid_key);
            CHECK(errc_of([&] { (void)storage->remove(key); }) == Errc::invalid_key);
            if (const auto writer = storage->open_writer()) {
                writer->write("x");
                CHECK(errc_of([&] { writer->commit(key); }) == Errc::invalid_key);
            }
        }
        CHECK(keys_below(*storage, "").empty());
    }
    SECTION("keys at the edges of the rule are accepted") {
        const std::string longest = std::string(200, 'a') + "/" + std::string(200, 'b') + "/" + std::string(110, 'c');
        REQUIRE(longest.size() == 512);
        for (const std::string& key :
             {longest, std::string("-dash"), std::string("a..b"), std::string("CON"), std::string("-rf"),
              std::string("con.txt"), std::string("a/b.../c."), std::string("_"), std::string("0")}) {
            CAPTURE(key);
            storage->put_if_absent(key, key);
            CHECK(storage->get(key) == key);
        }
    }
    SECTION("list is in byte order of the keys and honours the prefix") {
        for (const char* key : {"a/b/2", "a/b/10", "a/b", "a-b", "a.b/x", "a/B", "ab", "b", "a/b.c"}) {
            if (std::string_view(key) != "a/b") storage->put_if_absent(key, key);
        }
        CHECK(keys_below(*storage, "") ==
              std::vector<std::string>{"a-b", "a.b/x", "a/B", "a/b.c", "a/b/10", "a/b/2", "ab", "b"});
        CHECK(keys_below(*storage, "a/b") == std::vector<std::string>{"a/b.c", "a/b/10", "a/b/2"});
        CHECK(keys_below(*storage, "a/b/") == std::vector<std::string>{"a/b/10", "a/b/2"});
        CHECK(keys_below(*storage, "a/b/1") == std::vector<std::string>{"a/b/10"});
        CHECK(keys_below(*storage, "zzz").empty());
        CHECK(keys_below(*storage, "../").empty());
    }
    SECTION("list tells the length and stops when asked to") {
        storage->put_if_absent("a", "12345");
        storage->put_if_absent("b", "1");
        std::vector<ObjectInfo> seen;
        storage->list("", [&](const ObjectInfo& info) {
            seen.push_back(info);
            return false;
        });
        REQUIRE(seen.size() == 1);
        CHECK(seen[0].key == "a");
        CHECK(seen[0].bytes == 5);
    }
    SECTION("objects may be removed while they are listed") {
        for (const char* key : {"a", "b", "c"}) storage->put_if_absent(key, key);
        storage->list("", [&](const ObjectInfo& info) { return storage->remove(info.key); });
        CHECK(keys_below(*storage, "").empty());
    }
    SECTION("stat tells the length") {
        storage->put_if_absent("c/k", "12345");
        const auto info = storage->stat("c/k");
        REQUIRE(info);
        CHECK(info->key == "c/k");
        CHECK(info->bytes == 5);
    }
    SECTION("a removed key may be written again, with other content") {
        storage->put_if_absent("c/k", "one");
        CHECK(storage->remove("c/k"));
        CHECK_FALSE(storage->get("c/k"));
        CHECK_FALSE(storage->remove("c/k"));
        storage->put_if_absent("c/k", "two");
        CHECK(storage->get("c/k") == "two");
    }
    SECTION("a writer shows nothing before commit and everything after") {
        const auto writer = storage->open_writer();
        REQUIRE(writer);
        writer->write("one ");
        writer->write("");
        writer->write("two");
        CHECK(keys_below(*storage, "").empty());
        CHECK_FALSE(storage->get("c/k"));
        writer->commit("c/k");
        CHECK(storage->get("c/k") == "one two");
        CHECK(errc_of([&] { writer->commit("c/other"); }) == Errc::invalid_argument);
        CHECK(errc_of([&] { writer->write("more"); }) == Errc::invalid_argument);
        CHECK(keys_below(*storage, "") == std::vector<std::string>{"c/k"});
    }
    SECTION("a dropped writer leaves nothing") {
        storage->open_writer()->write("lost");
        CHECK(keys_below(*storage, "").empty());
    }
    SECTION("a writer obeys write-once") {
        storage->put_if_absent("k", "one");
        const auto same = storage->open_writer();
        same->write("one");
        CHECK_NOTHROW(same->commit("k"));
        const auto other = storage->open_writer();
        other->write("two");
        CHECK(errc_of([&] { other->commit("k"); }) == Errc::already_exists);
        CHECK(errc_of([&] { other->write("more"); }) == Errc::invalid_argument);
        CHECK_NOTHROW(other->commit("free"));  // nothing written is lost
        CHECK(errc_of([&] { other->commit("free-2"); }) == Errc::invalid_argument);
        CHECK(storage->get("k") == "one");
        CHECK(storage->get("free") == "two");
    }
    SECTION("an empty writer commits an empty object") {
        storage->open_writer()->commit("empty");
        CHECK(storage->get("empty") == "");
    }
    SECTION("threads write, read, list and remove at once") {
        std::atomic<int> wins{0};
        std::atomic<int> failures{0};
        const auto work = [&](int thread) {
            for (int i = 0; i < 25; ++i) {
                const std::string own = "t" + std::to_string(thread) + "/" + std::to_string(i);
                storage->put_if_absent(own, own);
                if (storage->get(own) != own) ++failures;
                const std::string shared = "shared/" + std::to_string(i);
                const auto error = errc_of([&] { storage->put_if_absent(shared, own); });
                if (!error) ++wins;
                if (error && error != Errc::already_exists) ++failures;
                if (!storage->get(shared)) ++failures;
                if (keys_below(*storage, own).empty()) ++failures;
                if (i % 2 == 0 && !storage->remove(own)) ++failures;
            }
        };
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
        for (std::thread& thread : threads) thread.join();
        CHECK(failures == 0);
        CHECK(wins == 25);
    }
    SECTION("threads that write the same content under one key all succeed") {
        std::atomic<int> errors{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 25; ++i) {
                    const std::string key = "same/" + std::to_string(i);
                    if (errc_of([&] { storage->put_if_absent(key, "content of " + key); })) ++errors;
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(errors == 0);
    }
}

}  // namespace whittle::testing
