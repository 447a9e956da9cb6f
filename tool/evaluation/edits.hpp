#pragma once

#include "pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::evaluation {

/// A text that an edit replaces and that stood in one piece in the conversation before it.
struct EditProbe {
    std::string old_text{};                 ///< as `CopiedText` has it
    std::vector<std::uint32_t> messages{};  ///< that hold it, in front of the edit, in order
    std::size_t age = 0;                    ///< model calls since the last of them
};

/// What the edits of a session needed, by model call.
[[nodiscard]] std::vector<std::vector<EditProbe>> find_edits(const SessionInput& input,
                                                             const std::vector<std::size_t>& calls,
                                                             const std::vector<std::size_t>& turns);

/// A text as an agent copies from it: as it is, without line numbers, without the blank behind them, or out of a JSON
/// string. White space at the ends of lines is left out.
class CopiedText {
public:
    explicit CopiedText(std::string_view text);
    /// `old_text`: as `EditProbe` has it.
    [[nodiscard]] bool holds(std::string_view old_text) const;

private:
    std::vector<std::string> forms_;
};

/// The texts of a message as an agent copies from them: its content as it is, without line numbers, and without the
/// blank behind them; and each string of its calls. White space at the ends of lines is left out.
[[nodiscard]] std::vector<std::string> copied_texts(const Message& message);

}  // namespace whittle::inline v0::evaluation
