#include "whittle/provider/detail/reply_stream.hpp"

#include "whittle/provider/classify_error.hpp"
#include "whittle/provider/detail/reply_text.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view reading = "read the reply";

}  // namespace

void fail_reply(ModelErrorClass error_class, std::string_view reason) {
    throw ModelError(error_class, fmt::format("{}: {}", reading, reason));
}

void fail_answered(std::string_view error, const HttpHeaders& headers) {
    throw to_model_error(classify_error(200, headers, error), reading);
}

void ReplyStream::take(const SseEvent& event) {
    if (is_done_ || event.data.empty()) return;
    if (is_end(event)) return set_done();
    take_answer(read_answer(event.data), event);
}

void ReplyStream::notify(Delta::Kind kind, std::string_view text, std::string_view call_id,
                         std::string_view tool) const {
    if (on_delta_ != nullptr && *on_delta_ && !text.empty()) (*on_delta_)({kind, text, call_id, tool});
}

}  // namespace whittle::inline v0::detail
