// The model of the programs of this folder: it reads the parts of a log one after the other, and answers from what
// stands in its request and from nothing else. No network, no weights.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace scripted {

/// A message of a request, whatever the runtime.
struct SeenMessage {
    std::string role{};  ///< "user", "assistant", "tool"
    std::string text{};
    int part = 0;  ///< of a call of `read_log`, or of its result
};

struct Step {
    std::string answer{};     ///< empty: call `tool`
    std::string tool{};       ///< "read_log" or "read_offloaded"
    std::string arguments{};  ///< JSON
};

/// What the model does next. `reads_back`: the request offers `read_offloaded`.
[[nodiscard]] Step next_step(const std::vector<SeenMessage>& request, bool reads_back);

/// Some 9,000 bytes, with the serial number of the part in the middle.
[[nodiscard]] std::string log_part(int part);

/// The serial number that stands in part `part`.
[[nodiscard]] std::string serial_of(int part);

}  // namespace scripted
