#pragma once

#include <whittle/conversation/tool.hpp>

#include <string>

namespace real_model {

/// The text of note `number`: about 400 tokens, with a path and a rule that a summary must not lose.
[[nodiscard]] std::string note_text(int number);

/// The tool `read_note`, whose argument is the number as a text, "1" to "9".
[[nodiscard]] whittle::Tool read_note();

}  // namespace real_model
