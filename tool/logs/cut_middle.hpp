#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0::logs {

/// What an agent sends of a result that is longer than it allows: the head, a notice, and the tail.
struct MiddleCut {
    std::size_t most = 0;       ///< characters (code points) of a text that is sent whole
    std::size_t head = 0;       ///< of a longer one, in characters
    std::size_t tail = 0;       ///< the same; at most `most` together with `head`
    std::string_view notice{};  ///< between them

    /// `text` as it is sent; must be UTF-8.
    [[nodiscard]] std::string operator()(std::string_view text) const;
};

}  // namespace whittle::inline v0::logs
