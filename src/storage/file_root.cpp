#include "file_root.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace whittle::inline v0 {
namespace {

constexpr const char* lock_name = ".whittle-lock";
constexpr const char* temporary_directory_name = ".whittle-tmp";
constexpr int most_rounds = 100;

std::string absolute_path(const FileAttempt& attempt, NativeFile directory, const std::string& path) {
    std::string absolute = FileSystem::absolute_path(directory, path);
    if (absolute.empty()) attempt.fail("resolve", errno);
    return absolute;
}

/// Without trailing slashes: behind one the system would follow a symbolic link.
std::string checked_root(const FileAttempt& attempt, std::string_view path) {
    if (path.empty()) attempt.fail("the root is empty");
    if (path.find('\0') != std::string_view::npos) FileAttempt{attempt.verb, "..."}.fail("the root has a NUL byte");
    std::string root = FileSystem::with_slashes(std::string(path));
    while (root.size() > 1 && root.ends_with('/') && root[root.size() - 2] != ':') root.pop_back();
    return root;
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
std::vector<std::string> make_parents(const FileOps& ops, const std::string& root) {
    std::vector<std::string> made;
    const std::size_t last = root.rfind('/');
    if (last == std::string::npos || last == 0 || FileSystem::exists(root.substr(0, last))) return made;
    for (std::size_t end = root.find('/', 1); end != std::string::npos; end = root.find('/', end + 1)) {
        std::string parent = root.substr(0, end);
        if (ops.make_directory(working_directory, parent.c_str()) == 0) made.push_back(std::move(parent));
    }
    return made;
}

}  // namespace

FileRoot::FileRoot(FileOps ops, std::string_view path, const FileStorageOptions& options)
    : ops_(std::move(ops)), options_(options) {
    if (options_.shown_root.ends_with('/')) options_.shown_root.pop_back();
    const FileAttempt attempt{.verb = "open storage", .key = path};
    path_ = checked_root(attempt, path);
    const std::vector<std::string> made = make_parents(ops_, path_);
    directory_ = open_or_create_directory(ops_, attempt, working_directory, path_);
    path_ = absolute_path(attempt, directory(), path_);
    if (path_ == "/") path_.clear();
    if (durability() == Durability::full) {
        for (const std::string& parent : made) sync_parent(attempt, parent);
        sync_parent(attempt, path_);
    }
    has_open_beneath_ = static_cast<bool>(OpenFile(ops_.open_beneath(directory(), ".")));
    const OpenFile temporary(ops_.open(directory(), temporary_directory_name, OpenAs::directory));
    if (temporary) sweep_temporary_files(temporary.get(), options_.temporary_max_age_seconds);
}

/// The name of the root itself, or of a directory above it. A parent that we may not read is not ours to sync.
void FileRoot::sync_parent(const FileAttempt& attempt, const std::string& directory_path) const {
    if (directory_path.empty() || !FileSystem::syncs_names()) return;  // "" is "/"
    std::string parent = directory_path.substr(0, directory_path.rfind('/') + 1);
    if (parent.empty()) parent = ".";
    const OpenFile directory(ops_.open(working_directory, parent.c_str(), OpenAs::directory));
    if (!directory && errno == EACCES) return;
    if (!directory) attempt.fail("open the parent directory", errno);
    sync_names(attempt, directory.get());
}

/// Only its owner can change a name in a directory that nobody else can write, so a check from the top down holds.
bool FileRoot::are_ours(const FileAttempt& attempt, const std::string& path, NativeFile last) const {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
        FileStatus status;
        if (FileSystem::status_at(directory(), path.substr(0, end).c_str(), status) != 0) return false;
        if (!status.is_directory || !status.distrust.empty()) return false;
    }
    return status_of(attempt, last).distrust.empty();
}

/// An empty OpenFile where only a walk can tell what is wrong, or where the system has no such call.
OpenFile FileRoot::open_in_one_call(const FileAttempt& attempt, const std::string& path, int& error) const {
    error = ENOSYS;
    if (!has_open_beneath_) return OpenFile();
    OpenFile found(ops_.open_beneath(directory(), path.c_str()));
    error = found ? 0 : errno;
    if (found && !are_ours(attempt, path, found.get())) return OpenFile();
    return found;
}

std::string FileRoot::names_of(std::string_view key) {
    std::string names;
    while (const auto component = next_directory(key)) names += FileSystem::name_of_component(*component) + '/';
    return names + FileSystem::name_of_component(key);
}

Place FileRoot::place_for_writing(const FileAttempt& attempt, std::string_view key) const {
    const std::string names = names_of(key);
    SplitKey parts = split(names);
    if (parts.directory.empty()) return {.directory = duplicate(attempt, directory()), .name = std::move(parts.name)};
    if (durability() != Durability::full) {
        int error = 0;
        OpenFile found = open_in_one_call(attempt, parts.directory, error);
        if (found) return {.directory = std::move(found), .name = std::move(parts.name)};
    }
    OpenFile at = duplicate(attempt, directory());
    std::string_view rest = names;
    while (const auto name = next_directory(rest)) {
        OpenFile child = open_or_create_directory(ops_, attempt, at.get(), *name);
        sync_names(attempt, at.get());
        at = std::move(child);
    }
    return {.directory = std::move(at), .name = std::move(parts.name)};
}

std::optional<Place> FileRoot::find_place(const FileAttempt& attempt, std::string_view key) const {
    const std::string names = names_of(key);
    SplitKey parts = split(names);
    if (parts.directory.empty()) return Place{duplicate(attempt, directory()), std::move(parts.name)};
    int error = 0;
    OpenFile found = open_in_one_call(attempt, parts.directory, error);
    if (found) return Place{.directory = std::move(found), .name = std::move(parts.name)};
    if (error == ENOENT) return std::nullopt;
    OpenFile at = duplicate(attempt, directory());
    std::string_view rest = names;
    while (const auto name = next_directory(rest)) {
        at = open_directory(ops_, attempt, at.get(), *name, false);
        if (!at) return std::nullopt;
    }
    return Place{.directory = std::move(at), .name = std::move(parts.name)};
}

OpenFile FileRoot::temporary_directory(const FileAttempt& attempt) const {
    return open_or_create_directory(ops_, attempt, directory(), temporary_directory_name);
}

HeldLock FileRoot::lock(const FileAttempt& attempt) const {
    OpenFile file(ops_.open(directory(), lock_name, OpenAs::lock_file));
    if (!file) attempt.fail(fmt::format("open \"{}\"", lock_name), errno);
    while (ops_.lock(file.get()) != 0) {
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

/// Never syncs a file again once it failed: the system may have dropped what it could not write, and would
/// report a success that is none.
void FileRoot::sync(const FileAttempt& attempt, NativeFile file, std::string_view what,
                    const std::function<int(NativeFile)>& call) const {
    const auto id = status_of(attempt, file).id;
    const std::lock_guard guard(mutex_);
    if (unsyncable_.contains(id)) attempt.fail(fmt::format("{} failed before; open the storage anew", what));
    if (call(file) == 0) return;
    const int error = errno;
    unsyncable_.insert(id);
    attempt.fail(what, error);
}

void FileRoot::sync_names(const FileAttempt& attempt, NativeFile directory) const {
    if (durability() == Durability::full) sync(attempt, directory, "fsync of the directory", ops_.sync_names);
}

/// An object that another storage wrote, perhaps with less durability.
void FileRoot::sync_object(const FileAttempt& attempt, const Place& place, const OpenFile& object) const {
    if (durability() == Durability::none) return;
    sync(attempt, object.get(), "fdatasync", ops_.sync_data);
    const OpenFile sidecar = open_object(ops_, attempt, place.directory.get(), sidecar_of(place.name));
    if (sidecar) sync(attempt, sidecar.get(), "fdatasync of the sidecar", ops_.sync_data);
    sync_names(attempt, place.directory.get());
}

FileRoot::Existing FileRoot::examine(const FileAttempt& attempt, const Place& place,
                                     const Fingerprint& fingerprint) const {
    const NativeFile directory = place.directory.get();
    OpenFile object = open_object(ops_, attempt, directory, place.name);
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
    if (ops_.rename(file.directory(), file.name(), place.directory.get(), name.c_str()) != 0)
        attempt.fail("rename", errno);
    file.renamed();
}

/// The sidecar first: an object that can be seen can be checked. False if the object's name is taken.
bool FileRoot::link_new(const FileAttempt& attempt, TemporaryFile& content, TemporaryFile& sidecar,
                        const Place& place) const {
    const NativeFile directory = place.directory.get();
    const std::string sidecar_name = sidecar_of(place.name);
    const HeldLock held = lock(attempt);
    if (open_object(ops_, attempt, directory, place.name)) return false;
    rename(attempt, sidecar, place, sidecar_name);
    if (ops_.link(content.directory(), content.name(), directory, place.name.c_str()) == 0) return true;
    const int error = errno;
    ops_.remove(directory, sidecar_name.c_str());  // if it stays, the next writer of the key replaces it
    attempt.fail("link", error);
}

/// Replaces what a power failure took of an object: its content or its sidecar. False if the object is not the one that
/// was examined any more.
bool FileRoot::mend(const FileAttempt& attempt, TemporaryFile& content, TemporaryFile& sidecar, const Place& place,
                    const Existing& existing) const {
    const HeldLock held = lock(attempt);
    const OpenFile object = open_object(ops_, attempt, place.directory.get(), place.name);
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
