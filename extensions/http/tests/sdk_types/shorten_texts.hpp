#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>

namespace whittle::sdk_types {

/// Cuts every text in `json` to `most_bytes`: the checker looks at types, not at texts.
void shorten_texts(nlohmann::ordered_json& json, std::size_t most_bytes);

}  // namespace whittle::sdk_types
