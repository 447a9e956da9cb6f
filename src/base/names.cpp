#include "whittle/base/detail/names.hpp"

#include "whittle/base/hash.hpp"

#include <algorithm>
#include <cstddef>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t max_name = 64;
constexpr std::size_t hash_digits = 16;

bool is_name_start(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_name_char(char c) noexcept { return is_name_start(c) || c == '.'; }

char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// What can be kept of `name` beside a dash and the digits.
std::string safe_part(std::string_view name) {
    std::string kept;
    for (const char c : name) {
        if (kept.size() == max_name - hash_digits - 1) break;
        if (kept.empty() ? is_name_start(c) : is_name_char(c)) kept += c;
    }
    return kept;
}

}  // namespace

bool is_safe_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= max_name && is_name_start(name.front()) &&
           std::ranges::all_of(name, is_name_char);
}

std::string to_safe_name(std::string_view name) {
    if (is_safe_name(name)) return std::string(name);
    std::string kept = safe_part(name);
    if (kept.empty()) kept = "unnamed";
    return kept + "-" + sha256_hex(name).substr(0, hash_digits);
}

bool names_tool(std::string_view name, std::string_view tool) noexcept {
    if (name.empty()) return false;
    if (equals_ignoring_case(name, tool)) return true;
    const auto at = tool.rfind("__");
    return at != std::string_view::npos && equals_ignoring_case(name, tool.substr(at + 2));
}

bool may_name_tool(std::string_view name) noexcept {
    return !name.empty() && std::ranges::none_of(name, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f || c == '*' || c == '?';
    });
}

}  // namespace whittle::inline v0
