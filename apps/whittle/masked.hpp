#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

/// `text` without what looks like a secret, by the library's rules (docs/redaction.md). The first four characters stay.
[[nodiscard]] std::string masked(std::string_view text);

/// JSON text, which stays JSON.
[[nodiscard]] std::string masked_json(std::string_view json);

/// What a command prints: `text` as it is if `--no-mask` was given, else masked as the text, or the JSON, that it is.
[[nodiscard]] std::string masked_unless(bool no_mask, std::string text, bool is_json = false);

}  // namespace whittle::cli
