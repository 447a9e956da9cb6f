#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// What the body of an error says, wherever in it.
struct ErrorBody {
    enum class Kind { empty, json, html, text };
    Kind kind = Kind::empty;
    std::vector<std::string> words{};     ///< codes, types and states, ASCII lower case: "overloaded_error"
    std::vector<std::string> messages{};  ///< sentences, as sent
    std::int64_t code = 0;                ///< a numeric code from 100 to 599
    std::int64_t prompt_tokens = 0;       ///< llama.cpp's `n_prompt_tokens`
    std::int64_t context_size = 0;        ///< llama.cpp's `n_ctx`
    std::optional<std::chrono::milliseconds> retry_delay{};  ///< Gemini's `retryDelay`
    std::string request_id{};
};

/// Takes any bytes. JSON is searched without recursion: `error`, `errors`, `detail(s)`, `message`, `innererror`,
/// `metadata.raw`, in arrays and as JSON inside strings, up to a bound.
[[nodiscard]] ErrorBody read_error_body(std::string_view body);

/// One line of valid UTF-8 without control characters, at most `max_bytes`.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t max_bytes);

}  // namespace whittle::inline v0::detail
