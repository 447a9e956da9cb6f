#include "whittle/base/detail/json_scanner.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using detail::JsonScanner;
using detail::JsonToken;
using Kind = detail::JsonToken::Kind;

namespace {

std::vector<Kind> kinds_in(std::string_view text) {
    std::vector<Kind> kinds;
    JsonScanner scanner(text);
    for (JsonToken token = scanner.next(); token.kind != Kind::end; token = scanner.next()) kinds.push_back(token.kind);
    return kinds;
}

std::vector<std::string_view> tokens_in(std::string_view text) {
    std::vector<std::string_view> tokens;
    JsonScanner scanner(text);
    for (JsonToken token = scanner.next(); token.kind != Kind::end; token = scanner.next())
        tokens.push_back(scanner.text(token));
    return tokens;
}

}  // namespace

TEST_CASE("a JSON text is cut into its tokens", "[base]") {
    const std::string_view json = " {\"a\" : [1, \"b\",\ttrue],\n\"c\\\"\":{}} ";
    CHECK(tokens_in(json) == std::vector<std::string_view>{"{", "\"a\"", ":", "[", "1", ",", "\"b\"", ",", "true", "]",
                                                           ",", "\"c\\\"\"", ":", "{", "}", "}"});
    CHECK(kinds_in(json) == std::vector{Kind::open_object, Kind::name, Kind::colon, Kind::open_array, Kind::scalar,
                                        Kind::comma, Kind::string, Kind::comma, Kind::scalar, Kind::close_array,
                                        Kind::comma, Kind::name, Kind::colon, Kind::open_object, Kind::close_object,
                                        Kind::close_object});
}

TEST_CASE("a token says where it stands, also when the scanner begins in the text", "[base]") {
    JsonScanner scanner("12 [3]", 3);
    const JsonToken open = scanner.next();
    CHECK(open.begin == 3);
    CHECK(open.end == 4);
    CHECK(scanner.next().begin == 4);
    CHECK(scanner.next().end == 6);
    const JsonToken end = scanner.next();
    CHECK(end.kind == Kind::end);
    CHECK(end.begin == 6);
    CHECK(scanner.next().kind == Kind::end);
}

TEST_CASE("the brackets that are open are counted", "[base]") {
    JsonScanner scanner("[{}]]1");
    std::vector<std::size_t> depths;
    while (scanner.next().kind != Kind::end) depths.push_back(scanner.depth());
    CHECK(depths == std::vector<std::size_t>{1, 2, 1, 0, 0, 0});
}

TEST_CASE("a string that does not end is the rest of the text", "[base]") {
    CHECK(tokens_in(R"([1,"a\"] )") == std::vector<std::string_view>{"[", "1", ",", R"("a\"] )"});
    CHECK(kinds_in(R"([1,"a\"] )").back() == Kind::cut);
    CHECK(kinds_in("\"") == std::vector{Kind::cut});
    CHECK(kinds_in("\"\\") == std::vector{Kind::cut});
    CHECK(kinds_in(R"("a\\")") == std::vector{Kind::string});
}

TEST_CASE("what is no JSON has tokens too", "[base]") {
    CHECK(tokens_in("a b\"c\"d:}") == std::vector<std::string_view>{"a", "b", "\"c\"", "d", ":", "}"});
    CHECK(kinds_in("a b\"c\"d:}") ==
          std::vector{Kind::scalar, Kind::scalar, Kind::string, Kind::scalar, Kind::colon, Kind::close_object});
    CHECK(kinds_in("\xEF\xBB\xBF\x80") == std::vector{Kind::scalar});
    CHECK(kinds_in("").empty());
    CHECK(kinds_in(" \r\n\t").empty());
}

TEST_CASE("nesting of any depth, and any number of quotes and backslashes, is gone through once", "[base]") {
    constexpr std::size_t many = 1'000'000;
    JsonScanner deep{std::string_view()};
    const std::string brackets(many, '[');
    deep = JsonScanner(brackets);
    while (deep.next().kind != Kind::end) {
    }
    CHECK(deep.depth() == many);
    CHECK(kinds_in(std::string(many, '"')).size() == many / 2);
    CHECK(kinds_in("\"" + std::string(many, '\\')) == std::vector{Kind::cut});
}

TEST_CASE("a string of JSON says its text", "[base]") {
    CHECK(detail::unquoted_json(R"("plain")") == "plain");
    CHECK(detail::unquoted_json(R"("a\nb \u00e4 \"")") == "a\nb \xC3\xA4 \"");
    CHECK(detail::unquoted_json(R"("")").empty());
}
