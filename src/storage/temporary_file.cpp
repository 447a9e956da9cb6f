#include "temporary_file.hpp"

#include "directory_tree.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <random>

namespace whittle::inline v0 {
namespace {

constexpr int most_tries = 100;

/// Different for every call in every process, as far as chance goes; O_EXCL catches the rest.
std::string temporary_name() {
    static std::atomic<std::uint64_t> calls{0};
    std::random_device device;
    const std::uint64_t random = (std::uint64_t{device()} << 32 | device()) + calls.fetch_add(1);
    return fmt::format("{}{}-{:016x}", temporary_prefix, FileSystem::process_id(), random);
}

/// The process id in the name of a temporary file, or 0 if the name is none of ours.
std::int64_t writer_of(std::string_view name) noexcept {
    if (!name.starts_with(temporary_prefix)) return 0;
    name.remove_prefix(temporary_prefix.size());
    std::int64_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end == name.data() + name.size() || *end != '-') return 0;
    return pid > 0 ? pid : 0;
}

bool looks_abandoned(const Entry& entry, std::int64_t oldest) {
    const std::int64_t writer = writer_of(entry.name);
    if (writer == 0) return false;
    return entry.modified < oldest || !FileSystem::is_running(writer);
}

/// Process ids and ages alone do not tell: a container has its own ids, a stream may be slow. A writer that comes to
/// the lock while this holds it finds its new file without a name, and makes another one.
void remove_unless_locked(NativeFile directory, const std::string& name) {
    const OpenFile file(FileSystem::open(directory, name.c_str(), OpenAs::reading));
    if (!file || FileSystem::try_lock(file.get()) != 0) return;
    FileSystem::remove(directory, name.c_str());
}

}  // namespace

TemporaryFile::TemporaryFile(const FileOps& ops, OpenFile directory) noexcept
    : ops_(ops), directory_(std::move(directory)) {}

TemporaryFile::TemporaryFile(const FileOps& ops, const FileAttempt& attempt, OpenFile directory)
    : TemporaryFile(ops, std::move(directory)) {
    for (int tries = 0; tries < most_tries; ++tries) {
        if (create(attempt)) return;
    }
    attempt.fail("create a temporary file: no name was free");
}

/// False if the name is taken, or was taken away by a sweep before the lock was held.
bool TemporaryFile::create(const FileAttempt& attempt) {
    name_ = temporary_name();
    file_ = OpenFile(ops_.open(directory(), name(), OpenAs::new_file));
    if (!file_) {
        const int error = errno;
        name_.clear();
        if (error == EEXIST || error == EINTR) return false;
        attempt.fail("create a temporary file", error);
    }
    while (ops_.lock(file_.get()) != 0) {
        if (errno != EINTR) attempt.fail("lock a temporary file", errno);
    }
    return status_of(attempt, file_.get()).names > 0;
}

TemporaryFile::~TemporaryFile() {
    if (!name_.empty()) ops_.remove(directory(), name());
    const OpenFile& locked = lock_ ? lock_ : file_;
    if (locked) FileSystem::unlock(locked.get());  // a child that was forked meanwhile keeps the file open
}

void TemporaryFile::write(const FileAttempt& attempt, std::string_view bytes) {
    while (!bytes.empty()) {
        const std::int64_t wrote = ops_.write(file_.get(), bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) attempt.fail("write", errno);
        if (wrote == 0) attempt.fail("write: the system took no bytes");
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void TemporaryFile::finish(const FileAttempt& attempt, Durability durability) {
    if (durability != Durability::none && ops_.sync_data(file_.get()) != 0) attempt.fail("fdatasync", errno);
    lock_ = duplicate(attempt, file_.get());
    // After EINTR the descriptor is closed on Linux, and what was to be synced is synced.
    if (ops_.close(file_.release()) != 0 && errno != EINTR) attempt.fail("close", errno);
}

void sweep_temporary_files(NativeFile directory, int max_age_seconds) {
    try {
        const std::int64_t oldest = std::time(nullptr) - max_age_seconds;
        for (const Entry& entry : read_directory({.verb = "sweep", .key = ""}, directory)) {
            if (!entry.is_directory && looks_abandoned(entry, oldest)) remove_unless_locked(directory, entry.name);
        }
    } catch (const Error&) {
        return;
    }
}

}  // namespace whittle::inline v0
