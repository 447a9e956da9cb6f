#include "encrypted_format.hpp"

#include <algorithm>

namespace whittle::inline v0::encryption {
namespace {

/// What an encrypted object begins with: the name of its layout, and the version of that. Who masks knows these bytes,
/// too: extensions/redaction/src/redacted_storage.cpp.
constexpr std::string_view encrypted_magic{"whseal\1"};
constexpr std::size_t start_bytes = 8;  // mark, flags
static_assert(encrypted_magic.size() + 1 == start_bytes);
static_assert(start_bytes + longest_key_id + salt_bytes == header_bytes);

}  // namespace

bool is_key_id(std::string_view id) noexcept {
    static constexpr std::string_view others = "_.-";
    const auto is_ok = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               others.find(c) != std::string_view::npos;
    };
    return !id.empty() && id.size() <= longest_key_id && std::ranges::all_of(id, is_ok);
}

std::string to_bytes(const EncryptedHeader& header) {
    std::string bytes(encrypted_magic);
    bytes += header.is_bound ? '\1' : '\0';
    bytes += header.key_id;
    bytes.resize(start_bytes + longest_key_id, '\0');
    return bytes + header.salt;
}

std::optional<EncryptedHeader> header_of(std::string_view object) {
    if (object.size() < header_bytes || !object.starts_with(encrypted_magic)) return {};
    const char flags = object[encrypted_magic.size()];
    const std::string_view padded = object.substr(start_bytes, longest_key_id);
    const std::string_view id = padded.substr(0, padded.find('\0'));
    const bool is_padded = padded.find_first_not_of('\0', id.size()) == std::string_view::npos;
    if ((flags != '\0' && flags != '\1') || !is_key_id(id) || !is_padded) return {};
    return EncryptedHeader{std::string(id), std::string(object.substr(start_bytes + longest_key_id, salt_bytes)),
                           flags == '\1'};
}

std::int64_t pieces_of(std::int64_t content) noexcept {
    return std::max<std::int64_t>(1, content / piece_bytes + (content % piece_bytes == 0 ? 0 : 1));
}

std::optional<std::int64_t> content_in(std::int64_t encrypted) noexcept {
    const std::int64_t body = encrypted - header_bytes;
    if (body < proof_bytes) return {};
    const std::int64_t pieces = body / encrypted_piece_bytes + (body % encrypted_piece_bytes == 0 ? 0 : 1);
    const std::int64_t content = body - pieces * proof_bytes;
    if (content < 0 || pieces_of(content) != pieces) return {};
    return content;
}

}  // namespace whittle::inline v0::encryption
