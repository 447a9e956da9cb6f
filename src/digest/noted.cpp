#include "whittle/digest/noted.hpp"

#include <fmt/format.h>

#include <utility>

namespace whittle::inline v0::detail {

DigestError not_smaller() {
    return {.failure = DigestFailure::refused,
            .refusal = Refusal::not_smaller,
            .message = "the new list is not smaller than the old one"};
}

DigestError not_stored(std::exception_ptr thrown) {
    return {.message = "the originals could not be stored", .thrown = std::move(thrown)};
}

std::string describe_unfinished(const DigestState& state, std::size_t messages) {
    return fmt::format(
        "summary not finished: {} of {} messages are read, the hook's model calls or time are used up; the next hook "
        "goes on",
        state.next_message, messages);
}

}  // namespace whittle::inline v0::detail
