#pragma once

#include "posix_files.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// A new file of mode 0600 in `directory`. Unlinked in the end, whatever happens; locked (flock) from its creation to
/// its end, so that a sweep sees that its writer lives.
class TemporaryFile {
public:
    TemporaryFile(const PosixOps& ops, const FileAttempt& attempt, Fd directory);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void write(const FileAttempt& attempt, std::string_view bytes);
    /// Syncs as `durability` asks and closes; the lock stays. A failure is final: a second fsync would report a success
    /// that is none.
    void finish(const FileAttempt& attempt, Durability durability);

    [[nodiscard]] int directory() const noexcept { return directory_.get(); }
    [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
    /// It got another name by rename: nothing is left to unlink.
    void renamed() noexcept { name_.clear(); }

private:
    TemporaryFile(const PosixOps& ops, Fd directory) noexcept;
    [[nodiscard]] bool create(const FileAttempt& attempt);

    const PosixOps& ops_;
    Fd directory_;
    std::string name_;
    Fd fd_;
    Fd lock_;  ///< the same open file as `fd_`: holds the lock when that is closed
};

/// Removes the temporary files in `directory` whose writer is dead, or that are older than `max_age_seconds`, unless
/// somebody holds their lock. Errors are ignored: litter costs space, nothing else.
void sweep_temporary_files(int directory, int max_age_seconds);

inline constexpr std::string_view temporary_prefix = ".whittle-tmp-";

}  // namespace whittle::inline v0
