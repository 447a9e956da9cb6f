#pragma once

#include "pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace whittle::inline v0::evaluation {

/// A text that an edit replaces and that stood in one piece in the conversation before it.
struct EditProbe {
    std::string old_text{};                 ///< as `lines_as_copied`
    std::vector<std::uint32_t> messages{};  ///< that hold it, in front of the edit, in order
    std::size_t age = 0;                    ///< model calls since the last of them
};

/// What the edits of a session needed, by model call.
[[nodiscard]] std::vector<std::vector<EditProbe>> find_edits(const SessionInput& input,
                                                             const std::vector<std::size_t>& calls,
                                                             const std::vector<std::size_t>& turns);

/// The texts of a message as an agent copies from them: its content as it is, without line numbers, and without the
/// blank behind them; and each string of its calls. White space at the ends of lines is left out.
[[nodiscard]] std::vector<std::string> copied_texts(const Message& message);

}  // namespace whittle::inline v0::evaluation
