#pragma once

#include "whittle/model/model.hpp"
#include "whittle/provider/http_transport.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What a provider's refusal means. extensions/provider/README.md has the table.
struct ClassifiedError {
    ModelErrorClass error_class = ModelErrorClass::bad_request;  ///< decides what is done about it
    std::int64_t context_limit_tokens = 0;                       ///< overflow: tokens that the model takes; 0: not said
    std::int64_t requested_tokens =
        0;  ///< overflow: tokens of the request, with what it asked for as output; 0: not said
    std::optional<std::chrono::milliseconds> retry_after{};  ///< how long the provider asks to wait
    std::string message{};     ///< in the provider's words: one line of valid UTF-8, at most 500 bytes; never empty
    std::string request_id{};  ///< for the provider's support; empty: none

    friend bool operator==(const ClassifiedError&, const ClassifiedError&) = default;
};

/// Reads an answer that is no reply. `status` is that of HTTP; 200 to 299 for an error that came inside a stream, with
/// the error's JSON as `body`: then its own code and type decide. Pure; takes any bytes, and throws nothing but
/// std::bad_alloc. Servers say the same thing in many ways (JSON of a dozen shapes, JSON inside strings, plain text,
/// HTML, nothing): see extensions/provider/README.md. A `Retry-After` that is a date is counted from the answer's own
/// `Date`.
[[nodiscard]] ClassifiedError classify_error(int status, const HttpHeaders& headers, std::string_view body);

/// The error to throw: "{operation}: {message} (request {id})", with `context_limit_tokens`, `requested_tokens` and
/// `retry_after`.
[[nodiscard]] ModelError to_model_error(const ClassifiedError& error, std::string_view operation);

}  // namespace whittle::inline v0
