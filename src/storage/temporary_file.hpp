#pragma once

#include "files.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// A new file of its owner alone in `directory`. Removed in the end, whatever happens; locked from its creation to
/// its end, so that a sweep sees that its writer lives.
class TemporaryFile {
public:
    TemporaryFile(const FileOps& ops, const FileAttempt& attempt, OpenFile directory);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void write(const FileAttempt& attempt, std::string_view bytes);
    /// Syncs as `durability` asks and closes; the lock stays. A failure is final: a second sync would report a success
    /// that is none.
    void finish(const FileAttempt& attempt, Durability durability);

    [[nodiscard]] NativeFile directory() const noexcept { return directory_.get(); }
    [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
    /// It got another name by rename: nothing is left to remove.
    void renamed() noexcept { name_.clear(); }

private:
    TemporaryFile(const FileOps& ops, OpenFile directory) noexcept;
    [[nodiscard]] bool create(const FileAttempt& attempt);

    const FileOps& ops_;
    OpenFile directory_;
    std::string name_;
    OpenFile file_;
    OpenFile lock_;  ///< the same open file as `file_`: holds the lock when that is closed
};

/// Removes the temporary files in `directory` whose writer is dead, or that are older than `max_age_seconds`, unless
/// somebody holds their lock. Errors are ignored: litter costs space, nothing else.
void sweep_temporary_files(NativeFile directory, int max_age_seconds);

inline constexpr std::string_view temporary_prefix = ".whittle-tmp-";

}  // namespace whittle::inline v0
