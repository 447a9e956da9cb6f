#include "check_run.hpp"

namespace whittle::inline v0 {
namespace {

void hostile_keys_are_refused(CheckRun& run) {
    int number = 0;
    for (const std::string& key : refused_storage_keys()) {
        const auto refuses = [&](std::string_view call, auto&& action) {
            run.expect_error(fmt::format("{} of refused_storage_keys()[{}]", call, number), Errc::invalid_key, action);
        };
        refuses("put", [&] { run.put(key, "x"); });
        refuses("get", [&] { (void)run.storage().get(key); });
        refuses("stat", [&] { (void)run.storage().stat(key); });
        if (run.removes()) refuses("remove", [&] { (void)run.storage().remove(key); });
        if (run.streams()) refuses("commit", [&] { run.put(key, "x", 1); });
        ++number;
    }
    if (run.lists()) run.expect_keys("", {});
}

/// Names at the edges of the rule, words of shells, systems, numbers and databases, and pairs that differ by one byte.
std::vector<std::string> odd_names() {
    return {std::string(200, 'a') + "/" + std::string(200, 'b') + "/" + std::string(110, 'c'),
            std::string(249, 'n'),
            std::string(248, 'n') + "m",
            "-dash",
            "-rf",
            "--",
            "_",
            "0",
            "00",
            "1e3",
            "0x10",
            "-1",
            "a..b",
            "b...",
            "c.",
            "d/e.../f.",
            "CON",
            "con.txt",
            "NUL.txt",
            "lpt1",
            "null",
            "true",
            "NaN",
            "select",
            "rowid",
            "a_b",
            "axb",
            "a-b",
            "a.b",
            "ab",
            "a--b",
            "x/y/z/1",
            "x/y/z/2",
            "x/y-z",
            "x-y/z",
            "index.html",
            "etc/passwd",
            "sqlite_master",
            "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20"};
}

void odd_names_stay_distinct(CheckRun& run) {
    const std::vector<std::string> names = odd_names();
    for (const std::string& name : names) run.put(name, "content of " + name);
    run.reopen();
    for (const std::string& name : names) {
        run.expect_content(fmt::format("get \"{}\"", name), run.storage().get(name), "content of " + name);
        run.expect_bytes(name, static_cast<std::int64_t>(name.size()) + 11);
    }
    if (run.lists())
        run.expect(run.keys("").size() == names.size(),
                   fmt::format("list: expected {} keys, found {}", names.size(), run.keys("").size()));
}

}  // namespace

std::vector<std::string> refused_storage_keys() {
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
            "'; DROP TABLE objects; --",
            "a'b",
            "a\"b",
            std::string(513, 'k'),
            std::string(10'240, 'k'),
            "a/.b.meta",
            ".whittle-lock",
            "\xe2\x80\xae"};  // right-to-left override
}

StorageChecks checks_of_keys() {
    return {
        {"hostile keys are refused everywhere", CheckNeeds::nothing, hostile_keys_are_refused},
        {"names of every kind are kept apart", CheckNeeds::nothing, odd_names_stay_distinct},
    };
}

}  // namespace whittle::inline v0
