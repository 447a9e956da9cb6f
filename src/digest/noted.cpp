#include "whittle/digest/noted.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::detail {

std::string describe_unfinished(const DigestState& state, std::size_t messages) {
    return fmt::format(
        "summary not finished: {} of {} messages are read, the hook's model calls or time are used up; the next hook "
        "goes on",
        state.next_message, messages);
}

}  // namespace whittle::inline v0::detail
