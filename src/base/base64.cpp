#include "whittle/base/detail/base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace whittle::inline v0 {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> make_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::uint8_t i = 0; i < base64_digits.size(); ++i) values[static_cast<unsigned char>(base64_digits[i])] = i;
    return values;
}

constexpr std::array<std::uint8_t, 256> values = make_values();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) noexcept {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t bits = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
        text += base64_digits[bits >> 18];
        text += base64_digits[bits >> 12 & 63];
        text += i + 1 < bytes.size() ? base64_digits[bits >> 6 & 63] : '=';
        text += i + 2 < bytes.size() ? base64_digits[bits & 63] : '=';
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < text.size() - padding; ++i) {
        const std::uint8_t value = values[static_cast<unsigned char>(text[i])];
        if (value == no_digit) return std::nullopt;
        bits = bits << 6 | value;
        const std::size_t in_group = i % 4;
        if (in_group > 0) bytes += static_cast<char>(bits >> (6 - 2 * in_group) & 0xff);
    }
    if (padding > 0 && (bits & (padding == 1 ? 3U : 15U)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace whittle::inline v0
