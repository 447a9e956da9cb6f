#pragma once

#include "whittle/tiktoken/vocabulary.hpp"
#include "whittle/tokens/counter_type.hpp"

#include <string>
#include <vector>

namespace whittle::inline v0 {

/// Exact counting as configurations name it.
struct ExactCounterConfig {
    std::string vocabularies{};  ///< the directory of installed vocabularies. Empty: the user's
};

/// The types "o200k_base", "cl100k_base", ..., for `ConfigTypes::register_counter`. Opening throws what `open_encoding`
/// throws.
[[nodiscard]] std::vector<CounterType<ExactCounterConfig>> exact_counter_types();

}  // namespace whittle::inline v0
