#pragma once

#include "input.hpp"
#include "logs/logs.hpp"
#include "shape.hpp"
#include "skipped_files.hpp"

#include <optional>
#include <string>

namespace whittle::cli {

/// A session of a scan, and whose it is.
struct FoundSession {
    logs::Session log{};
    std::string agent{};  ///< name of the log's format, or "recorded"
    bool is_anthropic = false;
};

/// What is to be said of a file that was read.
struct FileNotes {
    std::optional<logs::Format> format{};  ///< nullopt: sessions of the library's own form, or none
    logs::LogNotes notes{};
    std::optional<SkippedFile> skipped{};  ///< there is no session in it
};

/// How files are read for a scan.
struct ScanInput {
    InputLimits limits{};
    std::optional<Shape> shape{};  ///< of messages, where the format does not tell
    bool bills_only = false;       ///< as `logs::LogOptions` has it
    bool is_again = false;         ///< what is to be said of the sessions was said
};

/// Reads the sessions of a file, of whatever kind it is; `buffer` is of the file `path`. `is_found`: it was found in a
/// folder and may be anything, so that what it is not is no error. Throws what reading throws.
FileNotes read_sessions_of(const std::string& path, InputBuffer& buffer, bool is_found, const ScanInput& input,
                           FunctionRef<void(FoundSession&&)> visit);

}  // namespace whittle::cli
