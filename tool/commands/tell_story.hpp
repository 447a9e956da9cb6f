#pragma once

#include "memory_store.hpp"

#include <cstddef>
#include <utility>

namespace whittle::cli {

struct StoryOptions {
    std::size_t text_bytes = 0;  ///< that the texts may take in the report's data
    bool is_masked = true;       ///< without what looks like a secret
};

/// A configuration for chains whose stories are told: they say why, and leave nothing behind.
[[nodiscard]] inline ChainSettings for_story(ChainSettings settings) {
    settings = with_memory_storage(std::move(settings));
    settings.config.explain = true;
    return settings;
}

}  // namespace whittle::cli
