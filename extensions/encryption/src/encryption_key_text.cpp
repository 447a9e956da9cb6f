#include "whittle/encryption/encryption_key_text.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace whittle::inline v0 {
namespace {

/// 64 hexadecimal digits as 32 bytes.
std::optional<std::string> bytes_of_hex(std::string_view digits) {
    constexpr std::size_t wanted = 64;
    if (digits.size() != wanted) return std::nullopt;
    std::string bytes;
    for (std::size_t at = 0; at < wanted; at += 2) {
        unsigned char byte = 0;
        const auto [end, error] = std::from_chars(digits.data() + at, digits.data() + at + 2, byte, 16);
        if (error != std::errc() || end != digits.data() + at + 2) return std::nullopt;
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

}  // namespace

std::vector<EncryptionKey> parse_encryption_keys(std::string_view text, std::string_view name) {
    std::vector<EncryptionKey> keys;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        ++number;
        if (line.empty() || line.front() == '#') continue;
        const std::size_t space = line.find(' ');
        auto bytes = space == std::string_view::npos ? std::nullopt : bytes_of_hex(line.substr(space + 1));
        if (!bytes || space == 0)
            throw Error(Errc::parse_failed,
                        fmt::format("{}:{}: not an id, a space and 64 hexadecimal digits", name, number));
        keys.push_back({std::string(line.substr(0, space)), std::move(*bytes)});
    }
    if (keys.empty()) throw Error(Errc::parse_failed, fmt::format("{}: no key", name));
    return keys;
}

EncryptionOptions encryption_options(std::vector<EncryptionKey> keys) {
    const auto shared = std::make_shared<const std::vector<EncryptionKey>>(std::move(keys));
    return {.current_key = [shared] { return shared->back(); },
            .find_key = [shared](std::string_view id) -> std::optional<EncryptionKey> {
                const auto found = std::find_if(shared->rbegin(), shared->rend(),
                                                [&](const EncryptionKey& key) { return key.id == id; });
                return found == shared->rend() ? std::nullopt : std::optional(*found);
            }};
}

}  // namespace whittle::inline v0
