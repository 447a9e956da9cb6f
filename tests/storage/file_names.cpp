// Components of keys as the names of files on Windows.
#include "../../src/storage/file_names.hpp"

#include "support/catch.hpp"

#include <map>
#include <string>

using namespace whittle;

TEST_CASE("a component of a key is a name that Windows takes, and no other component's", "[storage][file]") {
    CHECK(to_windows_name("toolu_01aB-c.txt") == "toolu_01a+b-c.txt");
    CHECK(to_windows_name("ends.with.") == "ends.with+-");
    CHECK(to_windows_name("X.") == "+x+-");
    CHECK(to_windows_name("nul") == "+_nul");
    CHECK(to_windows_name("com7.log") == "+_com7.log");
    CHECK(to_windows_name("NUL") == "+n+u+l");
    CHECK(to_windows_name("nulls") == "nulls");
    CHECK(to_windows_name("com") == "com");
    CHECK(to_windows_name("con.") == "+_con+-");
}

TEST_CASE("names and components of up to four bytes are one to one, whatever the case", "[storage][file]") {
    const std::string bytes = "aAzZ0._-";
    std::map<std::string, std::string> names;
    std::vector<std::string> level{""};
    for (int length = 1; length <= 4; ++length) {
        std::vector<std::string> longer;
        for (const std::string& component : level)
            for (const char byte : bytes) longer.push_back(component + byte);
        level = longer;
        for (const std::string& component : level) {
            const std::string name = to_windows_name(component);
            CAPTURE(component, name);
            REQUIRE(std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }));
            REQUIRE_FALSE(name.ends_with('.'));
            REQUIRE(names.emplace(name, component).second);
            REQUIRE(from_windows_name(name) == component);
        }
    }
}

TEST_CASE("a name of a device is one to one, too", "[storage][file]") {
    for (const std::string component : {"con", "CON", "Con", "aux.txt", "lpt1", "lpt1.", "_con", "-"}) {
        CAPTURE(component);
        CHECK(from_windows_name(to_windows_name(component)) == component);
    }
}

TEST_CASE("a name that no component has stands for none", "[storage][file]") {
    for (const std::string name : {"Upper", "a+", "+_a", "a+-b", "con", "a.", "+1"}) {
        CAPTURE(name);
        CHECK(from_windows_name(name).empty());
    }
}
