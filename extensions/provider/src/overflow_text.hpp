#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whittle::inline v0::detail {

/// What a sentence about an overflow says in numbers; 0: not said.
struct OverflowNumbers {
    std::int64_t limit = 0;
    std::int64_t input = 0;   ///< tokens of the request, or all that was compared with the limit
    std::int64_t output = 0;  ///< tokens asked for as output, where they are counted beside `input`
};

/// Whether `text` (ASCII lower case) says that the request is larger than the model's window. Knows the sentences of
/// the servers, not any mention of tokens: rate limits and limits of the output speak of tokens as well.
[[nodiscard]] std::optional<OverflowNumbers> read_overflow(std::string_view text) noexcept;

}  // namespace whittle::inline v0::detail
