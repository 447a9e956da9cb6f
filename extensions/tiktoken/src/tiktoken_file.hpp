#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::bpe {

/// The tokens of a `.tiktoken` file by id; empty where there is no token of that id. Throws Error(parse_failed) that
/// names the line, also for an id or a token that comes twice, or a single byte that is missing.
[[nodiscard]] std::vector<std::string> read_tiktoken_file(std::string_view text);

}  // namespace whittle::inline v0::bpe
