#pragma once

#include "memory_store.hpp"

#include <cstddef>
#include <utility>

namespace whittle::cli {

struct SessionReportOptions {
    std::size_t text_bytes = 0;  ///< that the texts may take in the report's data
    bool is_masked = true;       ///< without what looks like a secret
};

/// A configuration for chains of a session report: they explain each edit, and store nothing on disk.
[[nodiscard]] inline ChainSettings for_session_report(ChainSettings settings) {
    settings = with_memory_storage(std::move(settings));
    settings.config.explain = true;
    return settings;
}

}  // namespace whittle::cli
