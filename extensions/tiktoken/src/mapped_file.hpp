#pragma once

#include "whittle/base/version.hpp"

#include <span>
#include <string>

namespace whittle::inline v0::bpe {

/// A file in memory, read-only and shared between processes.
class MappedFile {
public:
    /// Throws Error(not_found) with the system's reason, Error(damaged) for what is empty or no regular file.
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    [[nodiscard]] std::span<const unsigned char> bytes() const noexcept { return bytes_; }

private:
    std::span<const unsigned char> bytes_{};
};

}  // namespace whittle::inline v0::bpe
