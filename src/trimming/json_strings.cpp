#include "json_strings.hpp"
#include "whittle/base/detail/json.hpp"

namespace whittle::inline v0::detail {

namespace {

std::size_t end_of_literal(std::string_view json, std::size_t at) noexcept {
    std::size_t end = at + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    return end < json.size() ? end + 1 : json.size();
}

std::string decoded(std::string_view literal) {
    const JsonValue value = parse_json(literal);
    return value.string() != nullptr ? *value.string() : std::string();
}

/// An object or array that is open.
struct Level {
    bool is_object = false;
    bool expects_key = false;
    std::string key{};  // of the member at hand, or that the array is
};

}  // namespace

std::vector<JsonString> json_strings(std::string_view json) {
    std::vector<JsonString> strings;
    std::vector<Level> levels;
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char c = json[at];
        if (c == '{' || c == '[') {
            levels.push_back({c == '{', c == '{', levels.empty() ? std::string() : levels.back().key});
        } else if ((c == '}' || c == ']') && !levels.empty()) {
            levels.pop_back();
        } else if (c == ',' && !levels.empty()) {
            levels.back().expects_key = levels.back().is_object;
        } else if (c == '"') {
            const std::size_t end = end_of_literal(json, at);
            std::string text = decoded(json.substr(at, end - at));
            if (!levels.empty() && levels.back().expects_key) {
                levels.back().key = std::move(text);
                levels.back().expects_key = false;
            } else {
                strings.push_back(
                    {levels.empty() ? std::string() : levels.back().key, std::move(text), at, end, levels.size()});
            }
            at = end - 1;
        }
    }
    return strings;
}

}  // namespace whittle::inline v0::detail
