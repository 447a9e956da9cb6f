#include "whittle/base/error.hpp"

#include "support/catch.hpp"

#include <set>
#include <string>

using namespace whittle;

TEST_CASE("what() is the message and nothing else", "[error]") {
    const Error error(Errc::storage_failed, "put \"k\": disk full");
    CHECK(std::string(error.what()) == "put \"k\": disk full");
    CHECK(error.errc() == Errc::storage_failed);
    CHECK(error.code() == Errc::storage_failed);
    CHECK(&error.code().category() == &error_category());
}

TEST_CASE("an error can be caught as a system_error and copied", "[error]") {
    try {
        throw Error(Errc::pinned, "erase message 3: it is pinned");
    } catch (const std::system_error& caught) {
        const std::system_error copy = caught;
        CHECK(copy.code() == make_error_code(Errc::pinned));
        CHECK(std::string(caught.what()) == "erase message 3: it is pinned");
    }
}

TEST_CASE("every code has a name and a meaning of its own", "[error]") {
    std::set<std::string> names;
    std::set<std::string> meanings;
    for (int code = 1; code <= static_cast<int>(Errc::callback_failed); ++code) {
        names.insert(std::string(to_string(static_cast<Errc>(code))));
        meanings.insert(error_category().message(code));
    }
    CHECK(names.size() == 16);
    CHECK(meanings.size() == 16);
    CHECK(names.count("unknown") == 0);
    CHECK(to_string(Errc::invalid_history) == "invalid_history");
    CHECK(to_string(static_cast<Errc>(99)) == "unknown");
    CHECK(error_category().message(0) == "unknown error");
}

TEST_CASE("all problems of a configuration are thrown at once, warnings not", "[error]") {
    Problems problems;
    problems.warning("summarization.trigger", "190000", "below the window");
    CHECK_FALSE(problems.has_errors());
    CHECK_NOTHROW(problems.throw_if_errors("make a chain"));

    problems.error("reduction.keep_rounds", "-1", "0 or more");
    problems.error("reduction.root", "", "a safe name");
    CHECK(problems.has_errors());
    try {
        problems.throw_if_errors("make a chain");
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_config);
        CHECK(std::string(error.what()) ==
              "make a chain: reduction.keep_rounds = -1: 0 or more; reduction.root: a safe name");
    }
}

TEST_CASE("problems can be appended, also to themselves", "[error]") {
    Problems problems;
    problems.error("a", "1", "2");
    Problems more;
    more.warning("b", "3", "4");
    problems.append(more);
    problems.append(problems);
    REQUIRE(problems.all().size() == 4);
    CHECK(problems.all()[1] == Problem{Problem::Severity::warning, "b", "3", "4"});
    CHECK(problems.all()[3] == problems.all()[1]);
}

TEST_CASE("a problem is one line even if its value is not", "[error]") {
    CHECK(to_string(Problem{Problem::Severity::error, "text", "two\nlines", "one line"}) ==
          "text = two lines: one line");
}
