#include "whittle/base/text.hpp"
#include "whittle/tokens/vocabulary.hpp"

namespace whittle::inline v0 {

std::int64_t tokens_upper_bound(std::string_view text) {
    const std::size_t bytes = is_valid_utf8(text) ? text.size() : to_valid_utf8(text).size();
    return static_cast<std::int64_t>(bytes);
}

}  // namespace whittle::inline v0
