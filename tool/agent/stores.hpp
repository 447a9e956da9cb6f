#pragma once

#include <whittle/config/config_json.hpp>

#include <filesystem>

namespace agent {

/// Where the agent keeps originals below `folder`, which is created (mode 0700) if it is absent: in the file
/// `objects.db` of SQLite, or as files in a build without whittle::sqlite. Masked and encrypted as `configured` says.
/// Throws whittle::Error(storage_failed).
[[nodiscard]] whittle::StorageSettings default_store(const std::filesystem::path& folder,
                                                     whittle::StorageSettings configured = {});

}  // namespace agent
