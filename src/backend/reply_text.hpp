#pragma once

#include "whittle/adapter/detail/json_tree.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// A response, or an event of one, as a tree; bytes that are not UTF-8 are read as U+FFFD, since some servers cut
/// characters. Throws ModelError of class server for what is no JSON object; the text is not shown in it.
[[nodiscard]] ordered_json read_answer(std::string_view text);

}  // namespace whittle::inline v0::detail
