#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

/// `text` without what looks like a secret: words that begin as keys of well-known services do, long words of mixed
/// letters and digits, and values behind a name such as "password" or "token". The first four characters stay.
[[nodiscard]] std::string masked(std::string_view text);

/// JSON text with its strings masked one by one, and a string of 8 bytes or more under a key such as "password" as a
/// whole. Everything else keeps its bytes, so that JSON stays JSON.
[[nodiscard]] std::string masked_json(std::string_view json);

/// What a command prints: `text` as it is if `--no-mask` was given, else masked as the text, or the JSON, that it is.
[[nodiscard]] std::string masked_unless(bool no_mask, std::string text, bool is_json = false);

}  // namespace whittle::cli
