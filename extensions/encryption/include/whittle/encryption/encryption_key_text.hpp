#pragma once

#include "whittle/encryption/encrypted_storage.hpp"

#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Keys as a file or an environment value has them: a line each of an id, a space and 64 hexadecimal digits; empty
/// lines and those that begin with # say nothing. In their order. Throws Error(parse_failed) that begins with `name`
/// and tells the line's number, never what stands there; also if there is no key.
[[nodiscard]] std::vector<EncryptionKey> parse_encryption_keys(std::string_view text, std::string_view name);

/// Reads with all of `keys`, of two with one id with the later one, and writes with the last. `keys` is not empty.
[[nodiscard]] EncryptionOptions encryption_options(std::vector<EncryptionKey> keys);

}  // namespace whittle::inline v0
