#pragma once

// An encrypted object: a header of 64 bytes, then pieces of 64 KiB, each with 16 bytes that prove it. The last piece
// may be shorter, and says that it is the last; an empty object has one of no bytes. The header: `whseal`, the version
// 1, one byte that says whether the object is bound to its key in the store, the id of the encryption key padded with
// zeros, 24 bytes of salt. An object's key is BLAKE2b of the encryption key and the salt; a piece's nonce is its number
// and whether it is the last. The header, and the key in the store if the object is bound to it, are proved with each
// piece.

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::encryption {

inline constexpr std::int64_t header_bytes = 64;
inline constexpr std::int64_t piece_bytes = 65'536;
inline constexpr std::int64_t proof_bytes = 16;
inline constexpr std::int64_t encrypted_piece_bytes = piece_bytes + proof_bytes;
inline constexpr std::size_t longest_key_id = 32;
inline constexpr std::size_t salt_bytes = 24;

struct EncryptedHeader {
    std::string key_id{};
    std::string salt{};     ///< of this object: gives it a key of its own
    bool is_bound = false;  ///< to the key under which it is stored
};

[[nodiscard]] std::string to_bytes(const EncryptedHeader& header);
/// Nullopt if `object` does not begin with one.
[[nodiscard]] std::optional<EncryptedHeader> header_of(std::string_view object);

[[nodiscard]] bool is_key_id(std::string_view id) noexcept;

/// Of an object with `content` bytes; at least 1.
[[nodiscard]] std::int64_t pieces_of(std::int64_t content) noexcept;
/// The length of the content of an encrypted object of that length; nullopt if none has it.
[[nodiscard]] std::optional<std::int64_t> content_in(std::int64_t encrypted) noexcept;

}  // namespace whittle::inline v0::encryption
