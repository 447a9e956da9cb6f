#pragma once

#include "bpe_splitter.hpp"

#include <string_view>

namespace whittle::inline v0::bpe {

/// Throws Error(invalid_argument) for a name that is not known.
[[nodiscard]] Pattern pattern_of(std::string_view encoding);

}  // namespace whittle::inline v0::bpe
