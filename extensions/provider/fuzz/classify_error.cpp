// Any bytes as the answer of a server: two bytes of status, a header up to the first line feed, the body. It is put
// into a class, with numbers and a message that a program can use.
#include "whittle/provider/classify_error.hpp"
#include "whittle/base/text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const int status = data[0] * 256 + data[1];
    const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
    const std::size_t end = rest.find('\n');
    const std::string header(rest.substr(0, end));
    const std::string_view body = end == std::string_view::npos ? rest : rest.substr(end + 1);
    const whittle::HttpHeaders headers{{"Retry-After", header}, {"Date", header}, {"Location", header}};

    const whittle::ClassifiedError error = whittle::classify_error(status, headers, body);
    const bool is_right = !error.message.empty() && error.message.size() <= 500 &&
                          whittle::is_valid_utf8(error.message) && whittle::is_valid_utf8(error.request_id) &&
                          error.context_limit_tokens >= 0 && error.requested_tokens >= 0 &&
                          (!error.retry_after || error.retry_after->count() >= 0);
    const bool is_overflow = error.error_class == whittle::ModelErrorClass::overflow;
    if (!is_right || (!is_overflow && (error.context_limit_tokens > 0 || error.requested_tokens > 0))) __builtin_trap();
    if (error != whittle::classify_error(status, headers, body)) __builtin_trap();

    const whittle::ModelError thrown = whittle::to_model_error(error, "fuzz");
    if (thrown.error_class() != error.error_class) __builtin_trap();
    return 0;
}
