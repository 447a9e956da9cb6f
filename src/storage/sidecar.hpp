#pragma once

#include "files.hpp"
#include "whittle/storage/detail/fingerprint.hpp"

namespace whittle::inline v0 {

/// The name of the hidden file beside an object that holds its fingerprint. No key component starts with a dot.
[[nodiscard]] std::string sidecar_of(std::string_view object_name);

/// "{bytes} {sha256}\n"
[[nodiscard]] std::string to_text(const Fingerprint& fingerprint);

/// Nullopt if the sidecar is missing or is not what `to_text` writes.
[[nodiscard]] std::optional<Fingerprint> read_sidecar(const FileOps& ops, const FileAttempt& attempt,
                                                      NativeFile directory, std::string_view object_name);

}  // namespace whittle::inline v0
