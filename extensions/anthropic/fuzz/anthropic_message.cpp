// Any bytes: what parses as an Anthropic message can be read, saved and edited, and obeys the laws of the traits.
#include "../../provider/fuzz/wire_message.hpp"

#include "whittle/anthropic/anthropic.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzing::check_bytes<whittle::anthropic::Message>({reinterpret_cast<const char*>(data), size});
    return 0;
}
