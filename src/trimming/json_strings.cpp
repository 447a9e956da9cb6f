#include "json_strings.hpp"
#include "whittle/base/detail/json_scanner.hpp"

namespace whittle::inline v0::detail {

std::vector<JsonString> json_strings(std::string_view json) {
    using Kind = JsonToken::Kind;
    std::vector<JsonString> strings;
    std::vector<std::string> keys{{}};  // of the member at hand, or that the array is; in front: of none
    JsonScanner scanner(json);
    for (JsonToken token = scanner.next(); token.kind != Kind::end; token = scanner.next()) {
        if (token.opens()) {
            keys.push_back(keys.back());
        } else if (token.closes() && keys.size() > 1) {
            keys.pop_back();
        } else if (token.kind == Kind::name) {
            keys.back() = unquoted_json(scanner.text(token));
        } else if (token.kind == Kind::string) {
            strings.push_back(
                {keys.back(), unquoted_json(scanner.text(token)), token.begin, token.end, keys.size() - 1});
        }
    }
    return strings;
}

}  // namespace whittle::inline v0::detail
