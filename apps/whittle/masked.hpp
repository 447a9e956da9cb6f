#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

/// `text` without what looks like a secret: words that begin as keys of well-known services do, long words of mixed
/// letters and digits, and values behind a name such as "password" or "token". The first four characters stay.
[[nodiscard]] std::string masked(std::string_view text);

}  // namespace whittle::cli
