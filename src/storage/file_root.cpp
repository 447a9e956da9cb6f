#include "file_root.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

namespace whittle::inline v0 {
namespace {

constexpr const char* lock_name = ".whittle-lock";
constexpr const char* temporary_directory_name = ".whittle-tmp";
constexpr int most_rounds = 100;

std::string real_path(const FileAttempt& attempt, const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
    if (!resolved) attempt.fail("resolve", errno);
    return resolved.get();
}

/// Without trailing slashes: behind one the system would follow a symbolic link.
std::string checked_root(const FileAttempt& attempt, std::string_view path) {
    if (path.empty()) attempt.fail("the root is empty");
    if (path.find('\0') != std::string_view::npos) FileAttempt{attempt.verb, "..."}.fail("the root has a NUL byte");
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return std::string(path);
}

/// Cuts the next component off the front of `rest`; the last one stays.
std::optional<std::string> next_directory(std::string_view& rest) {
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    std::string name(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
    return name;
}

struct SplitKey {
    std::string directory;  ///< without a slash at its end; empty for the root
    std::string name;
};

SplitKey split(std::string_view key) {
    const std::size_t slash = key.rfind('/');
    if (slash == std::string_view::npos) return {.directory = {}, .name = std::string(key)};
    return {.directory = std::string(key.substr(0, slash)), .name = std::string(key.substr(slash + 1))};
}

/// Makes the directories above the root that are not there, and names them, outermost first. What it cannot make is
/// told when the root is opened.
std::vector<std::string> make_parents(const PosixOps& ops, const std::string& root) {
    std::vector<std::string> made;
    const std::size_t last = root.rfind('/');
    if (last == std::string::npos || last == 0 || ::access(root.substr(0, last).c_str(), F_OK) == 0) return made;
    for (std::size_t end = root.find('/', 1); end != std::string::npos; end = root.find('/', end + 1)) {
        std::string parent = root.substr(0, end);
        if (ops.mkdirat(AT_FDCWD, parent.c_str(), 0700) == 0) made.push_back(std::move(parent));
    }
    return made;
}

}  // namespace

FileRoot::FileRoot(PosixOps ops, std::string_view path, const FileStorageOptions& options)
    : ops_(std::move(ops)), options_(options) {
    if (options_.shown_root.ends_with('/')) options_.shown_root.pop_back();
    const FileAttempt attempt{.verb = "open storage", .key = path};
    path_ = checked_root(attempt, path);
    const std::vector<std::string> made = make_parents(ops_, path_);
    fd_ = open_or_create_directory(ops_, attempt, AT_FDCWD, path_);
    path_ = real_path(attempt, path_);
    if (path_ == "/") path_.clear();
    if (durability() == Durability::full) {
        for (const std::string& parent : made) sync_parent(attempt, parent);
        sync_parent(attempt, path_);
    }
    beneath_ = static_cast<bool>(Fd(ops_.open_beneath(fd_.get(), ".", directory_flags)));
    const Fd temporary(ops_.openat(fd_.get(), temporary_directory_name, directory_flags, 0));
    if (temporary) sweep_temporary_files(temporary.get(), options_.temporary_max_age_seconds);
}

/// The name of the root itself, or of a directory above it. A parent that we may not read is not ours to sync.
void FileRoot::sync_parent(const FileAttempt& attempt, const std::string& directory_path) const {
    if (directory_path.empty()) return;  // "/"
    std::string parent = directory_path.substr(0, directory_path.rfind('/') + 1);
    if (parent.empty()) parent = ".";
    const Fd directory(ops_.openat(AT_FDCWD, parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (!directory && errno == EACCES) return;
    if (!directory) attempt.fail("open the parent directory", errno);
    sync_names(attempt, directory.get());
}

/// Only its owner can change a name in a directory that nobody else can write, so a check from the top down holds.
bool FileRoot::are_ours(const FileAttempt& attempt, const std::string& directory, int fd) const {
    for (std::size_t end = directory.find('/'); end != std::string::npos; end = directory.find('/', end + 1)) {
        struct stat status {};
        if (::fstatat(fd_.get(), directory.substr(0, end).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
        if (!S_ISDIR(status.st_mode) || !distrust_of(status).empty()) return false;
    }
    return distrust_of(status_of(attempt, fd)).empty();
}

/// An empty Fd where only a walk can tell what is wrong, or where the system has no openat2.
Fd FileRoot::open_in_one_call(const FileAttempt& attempt, const std::string& directory, int& error) const {
    error = ENOSYS;
    if (!beneath_) return Fd();
    Fd fd(ops_.open_beneath(fd_.get(), directory.c_str(), directory_flags));
    error = fd ? 0 : errno;
    if (fd && !are_ours(attempt, directory, fd.get())) return Fd();
    return fd;
}

Place FileRoot::place_for_writing(const FileAttempt& attempt, std::string_view key) const {
    SplitKey parts = split(key);
    if (parts.directory.empty()) return {.directory = duplicate(attempt, fd_.get()), .name = std::move(parts.name)};
    if (durability() != Durability::full) {
        int error = 0;
        Fd fd = open_in_one_call(attempt, parts.directory, error);
        if (fd) return {.directory = std::move(fd), .name = std::move(parts.name)};
    }
    Fd at = duplicate(attempt, fd_.get());
    while (const auto name = next_directory(key)) {
        Fd child = open_or_create_directory(ops_, attempt, at.get(), *name);
        sync_names(attempt, at.get());
        at = std::move(child);
    }
    return {.directory = std::move(at), .name = std::string(key)};
}

std::optional<Place> FileRoot::find_place(const FileAttempt& attempt, std::string_view key) const {
    SplitKey parts = split(key);
    if (parts.directory.empty()) return Place{duplicate(attempt, fd_.get()), std::move(parts.name)};
    int error = 0;
    Fd fd = open_in_one_call(attempt, parts.directory, error);
    if (fd) return Place{.directory = std::move(fd), .name = std::move(parts.name)};
    if (error == ENOENT) return std::nullopt;
    Fd at = duplicate(attempt, fd_.get());
    while (const auto name = next_directory(key)) {
        at = open_directory(ops_, attempt, at.get(), *name, false);
        if (!at) return std::nullopt;
    }
    return Place{.directory = std::move(at), .name = std::string(key)};
}

Fd FileRoot::temporary_directory(const FileAttempt& attempt) const {
    return open_or_create_directory(ops_, attempt, fd_.get(), temporary_directory_name);
}

HeldLock FileRoot::lock(const FileAttempt& attempt) const {
    Fd file(ops_.openat(fd_.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!file) attempt.fail(fmt::format("open \"{}\"", lock_name), errno);
    while (ops_.flock(file.get(), LOCK_EX) != 0) {
        if (errno != EINTR) attempt.fail(fmt::format("lock \"{}\"", lock_name), errno);
    }
    return HeldLock(std::move(file));
}

HeldLock FileRoot::try_lock(const FileAttempt& attempt) const {
    try {
        return lock(attempt);
    } catch (const Error&) {
        return HeldLock();
    }
}

/// Never calls fsync for a file again once it failed: the system may have dropped what it could not write, and would
/// report a success that is none.
void FileRoot::sync(const FileAttempt& attempt, int fd, std::string_view what,
                    const std::function<int(int)>& call) const {
    const struct stat status = status_of(attempt, fd);
    const std::pair file{status.st_dev, status.st_ino};
    const std::lock_guard guard(mutex_);
    if (unsyncable_.contains(file)) attempt.fail(fmt::format("{} failed before; open the storage anew", what));
    if (call(fd) == 0) return;
    const int error = errno;
    unsyncable_.insert(file);
    attempt.fail(what, error);
}

void FileRoot::sync_names(const FileAttempt& attempt, int directory) const {
    if (durability() == Durability::full) sync(attempt, directory, "fsync of the directory", ops_.fsync);
}

/// An object that another storage wrote, perhaps with less durability.
void FileRoot::sync_object(const FileAttempt& attempt, const Place& place, const Fd& object) const {
    if (durability() == Durability::none) return;
    sync(attempt, object.get(), "fdatasync", ops_.fdatasync);
    const Fd sidecar = open_object(ops_, attempt, place.directory.get(), sidecar_of(place.name));
    if (sidecar) sync(attempt, sidecar.get(), "fdatasync of the sidecar", ops_.fdatasync);
    sync_names(attempt, place.directory.get());
}

FileRoot::Existing FileRoot::examine(const FileAttempt& attempt, const Place& place,
                                     const Fingerprint& fingerprint) const {
    const int directory = place.directory.get();
    Fd object = open_object(ops_, attempt, directory, place.name);
    if (!object) return {};
    const bool has_sidecar = read_sidecar(ops_, attempt, directory, place.name) == fingerprint;
    if (length_of(attempt, object.get()) == fingerprint.bytes &&
        hash_of_file(ops_, attempt, object.get()) == fingerprint.sha256)
        return {.state = has_sidecar ? State::whole : State::without_sidecar, .object = std::move(object)};
    if (has_sidecar) return {.state = State::torn, .object = std::move(object)};
    throw Error(Errc::already_exists,
                fmt::format("{} \"{}\": the key exists with other content", attempt.verb, attempt.key));
}

bool FileRoot::has(const FileAttempt& attempt, const Place& place, const Fingerprint& fingerprint) const {
    const Existing existing = examine(attempt, place, fingerprint);
    if (existing.state != State::whole) return false;
    sync_object(attempt, place, existing.object);
    return true;
}

void FileRoot::rename(const FileAttempt& attempt, TemporaryFile& file, const Place& place,
                      const std::string& name) const {
    if (ops_.renameat(file.directory(), file.name(), place.directory.get(), name.c_str()) != 0)
        attempt.fail("rename", errno);
    file.renamed();
}

/// The sidecar first: an object that can be seen can be checked. False if the object's name is taken.
bool FileRoot::link_new(const FileAttempt& attempt, TemporaryFile& content, TemporaryFile& sidecar,
                        const Place& place) const {
    const int directory = place.directory.get();
    const std::string sidecar_name = sidecar_of(place.name);
    const HeldLock held = lock(attempt);
    if (open_object(ops_, attempt, directory, place.name)) return false;
    rename(attempt, sidecar, place, sidecar_name);
    if (ops_.linkat(content.directory(), content.name(), directory, place.name.c_str()) == 0) return true;
    const int error = errno;
    ops_.unlinkat(directory, sidecar_name.c_str());  // if it stays, the next writer of the key replaces it
    attempt.fail("link", error);
}

/// Replaces what a power failure took of an object: its content or its sidecar. False if the object is not the one that
/// was examined any more.
bool FileRoot::mend(const FileAttempt& attempt, TemporaryFile& content, TemporaryFile& sidecar, const Place& place,
                    const Existing& existing) const {
    const HeldLock held = lock(attempt);
    const Fd object = open_object(ops_, attempt, place.directory.get(), place.name);
    if (!object || !is_same_file(attempt, object.get(), existing.object.get())) return false;
    if (existing.state == State::torn) {
        rename(attempt, content, place, place.name);
    } else {
        rename(attempt, sidecar, place, sidecar_of(place.name));
    }
    return true;
}

void FileRoot::publish(const FileAttempt& attempt, TemporaryFile& content, const Fingerprint& fingerprint,
                       const Place& place) const {
    TemporaryFile sidecar(ops_, attempt, temporary_directory(attempt));
    sidecar.write(attempt, to_text(fingerprint));
    sidecar.finish(attempt, durability());
    for (int round = 0; round < most_rounds; ++round) {
        if (link_new(attempt, content, sidecar, place)) return sync_names(attempt, place.directory.get());
        const Existing existing = examine(attempt, place, fingerprint);
        if (existing.state == State::absent) continue;
        if (existing.state == State::whole) return sync_object(attempt, place, existing.object);
        if (mend(attempt, content, sidecar, place, existing))
            return sync_object(attempt, place, open_object(ops_, attempt, place.directory.get(), place.name));
    }
    attempt.fail("the object kept changing while it was being written");
}

}  // namespace whittle::inline v0
