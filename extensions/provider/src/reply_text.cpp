#include "whittle/provider/detail/reply_text.hpp"

#include "whittle/base/text.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/detail/json_message.hpp"

namespace whittle::inline v0::detail {

ordered_json read_answer(std::string_view text) {
    constexpr std::string_view operation = "read the reply";
    // Room for the levels of the response around its message.
    const JsonLimits limits{.max_depth = max_message_depth + 8};
    try {
        ordered_json answer = is_valid_utf8(text) ? parse_json(operation, text, limits)
                                                  : parse_json(operation, to_valid_utf8(text), limits);
        if (answer.is_object()) return answer;
        throw ModelError(ModelErrorClass::server,
                         "read the reply: expected a JSON object, found " + found_text(answer));
    } catch (const ModelError&) {
        throw;
    } catch (const Error& error) {
        throw ModelError(ModelErrorClass::server, error.what());
    }
}

}  // namespace whittle::inline v0::detail
