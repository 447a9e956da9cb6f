#include "whittle/storage/storage.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t largest_key = 512;
constexpr std::size_t shown_bytes_of_key = 80;

constexpr std::array<bool, 256> key_bytes = [] {
    std::array<bool, 256> bytes{};
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.-"))
        bytes[static_cast<unsigned char>(c)] = true;
    return bytes;
}();

bool is_key_byte(char c) noexcept { return key_bytes[static_cast<unsigned char>(c)]; }

/// The rule that `key` breaks, or empty.
std::string_view broken_rule(std::string_view key) noexcept {
    if (key.empty()) return "a key has at least one byte";
    if (key.size() > largest_key) return "a key has at most 512 bytes";
    if (!std::ranges::all_of(key, is_key_byte)) return "a key has only the characters A-Z a-z 0-9 / _ . -";
    if (key.front() == '/' || key.back() == '/' || key.find("//") != std::string_view::npos)
        return "a key has no empty component";
    if (key.front() == '.' || key.find("/.") != std::string_view::npos)
        return "no component of a key starts with a dot";
    return {};
}

/// A key that may hold anything, fit for one line of an error text.
std::string printable(std::string_view key) {
    std::string out;
    for (const char c : key.substr(0, shown_bytes_of_key)) {
        if (c >= 0x20 && c < 0x7f) {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    if (key.size() > shown_bytes_of_key) out += fmt::format("... ({} bytes)", key.size());
    return out;
}

}  // namespace

bool is_valid_key(std::string_view key) noexcept { return broken_rule(key).empty(); }

void require_valid_key(std::string_view operation, std::string_view key) {
    const std::string_view rule = broken_rule(key);
    if (rule.empty()) return;
    throw Error(Errc::invalid_key, fmt::format("{} \"{}\": {}", operation, printable(key), rule));
}

std::optional<ObjectInfo> Storage::stat(std::string_view key) {
    const std::optional<std::string> content = get(key);
    if (!content) return std::nullopt;
    return ObjectInfo{.key = std::string(key), .bytes = static_cast<std::int64_t>(content->size())};
}

void Storage::list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>&) {
    throw Error(Errc::not_offered, fmt::format("list \"{}\": this backend cannot list its objects", printable(prefix)));
}

bool Storage::remove(std::string_view key) {
    throw Error(Errc::not_offered, fmt::format("remove \"{}\": this backend cannot remove objects", printable(key)));
}

}  // namespace whittle::inline v0
