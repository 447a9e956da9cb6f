#include "directory_tree.hpp"
#include "posix_files.hpp"
#include "sidecar.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr const char* lock_name = ".whittle-lock";

/// The directory that holds an object, and the object's name in it.
struct Place {
    Fd directory;
    std::string name;
};

/// What storage and writers share; writers may outlive the storage.
class Root {
public:
    Root(PosixOps ops, std::string_view path, const FileStorageOptions& options);

    /// The directory of `key`, created as needed. Under `Durability::full` every directory on the way down is synced.
    [[nodiscard]] Place place_for_writing(const Attempt& attempt, std::string_view key) const;
    /// Nullopt if a directory on the way does not exist.
    [[nodiscard]] std::optional<Place> find_place(const Attempt& attempt, std::string_view key) const;

    /// Held while names change, by any process; released with the Fd.
    [[nodiscard]] Fd lock(const Attempt& attempt) const;
    /// The same for a reader, who does without where nothing can be written.
    [[nodiscard]] Fd try_lock(const Attempt& attempt) const;

    /// Gives the finished `content` its name, or finds that the same content is there already.
    void publish(const Attempt& attempt, TemporaryFile& content, const Fingerprint& fingerprint,
                 const Place& place) const;
    /// Whether `place` holds an object of that content; throws if it holds another one.
    [[nodiscard]] bool holds(const Attempt& attempt, const Place& place, const Fingerprint& fingerprint) const;
    [[nodiscard]] bool has_sidecar(const Attempt& attempt, const Place& place, const Fingerprint& fingerprint) const;
    /// Returns once the names in the directory of `place` are as durable as the options ask.
    void acknowledge(const Attempt& attempt, const Place& place) const;

    PosixOps ops;
    FileStorageOptions options;
    std::string path;
    Fd fd;

private:
    [[nodiscard]] bool link_new(const Attempt& attempt, TemporaryFile& content, TemporaryFile& sidecar,
                                const Place& place) const;
    void restore_sidecar(const Attempt& attempt, TemporaryFile& sidecar, const Place& place) const;
};

std::string real_path(const Attempt& attempt, const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
    if (!resolved) attempt.fail("resolve", errno);
    return resolved.get();
}

/// Without trailing slashes: behind one the system would follow a symbolic link.
std::string checked_root(const Attempt& attempt, std::string_view path) {
    if (path.empty()) attempt.fail("the root is empty");
    if (path.find('\0') != std::string_view::npos) Attempt{attempt.verb, "..."}.fail("the root has a NUL byte");
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return std::string(path);
}

Root::Root(PosixOps system, std::string_view given, const FileStorageOptions& given_options)
    : ops(std::move(system)), options(given_options) {
    const Attempt attempt{.verb = "open storage", .key = given};
    path = checked_root(attempt, given);
    fd = open_or_create_directory(ops, attempt, AT_FDCWD, path);
    path = real_path(attempt, path);
    if (path == "/") path.clear();
    sweep_temporary_files(fd.get(), options.temporary_max_age_seconds);
}

/// Cuts the next component off the front of `rest`; the last one stays.
std::optional<std::string> next_directory(std::string_view& rest) {
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    std::string name(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
    return name;
}

Place Root::place_for_writing(const Attempt& attempt, std::string_view key) const {
    Fd at = duplicate(attempt, fd.get());
    while (const auto name = next_directory(key)) {
        Fd child = open_or_create_directory(ops, attempt, at.get(), *name);
        if (options.durability == Durability::full) sync_directory(ops, attempt, at.get());
        at = std::move(child);
    }
    return {.directory = std::move(at), .name = std::string(key)};
}

std::optional<Place> Root::find_place(const Attempt& attempt, std::string_view key) const {
    Fd at = duplicate(attempt, fd.get());
    while (const auto name = next_directory(key)) {
        at = open_directory(ops, attempt, at.get(), *name, false);
        if (!at) return std::nullopt;
    }
    return Place{.directory = std::move(at), .name = std::string(key)};
}

Fd Root::lock(const Attempt& attempt) const {
    Fd file(ops.openat(fd.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!file) attempt.fail(fmt::format("open \"{}\"", lock_name), errno);
    while (ops.flock(file.get(), LOCK_EX) != 0) {
        if (errno != EINTR) attempt.fail(fmt::format("lock \"{}\"", lock_name), errno);
    }
    return file;
}

Fd Root::try_lock(const Attempt& attempt) const {
    try {
        return lock(attempt);
    } catch (const Error&) {
        return Fd();
    }
}

bool Root::holds(const Attempt& attempt, const Place& place, const Fingerprint& fingerprint) const {
    const Fd object = open_object(ops, attempt, place.directory.get(), place.name);
    if (!object) return false;
    if (length_of(attempt, object.get()) == fingerprint.bytes &&
        hash_of_file(ops, attempt, object.get()) == fingerprint.sha256)
        return true;
    throw Error(Errc::already_exists,
                fmt::format("{} \"{}\": the key exists with other content", attempt.verb, attempt.key));
}

bool Root::has_sidecar(const Attempt& attempt, const Place& place, const Fingerprint& fingerprint) const {
    return read_sidecar(ops, attempt, place.directory.get(), place.name) == fingerprint;
}

void Root::acknowledge(const Attempt& attempt, const Place& place) const {
    if (options.durability == Durability::full) sync_directory(ops, attempt, place.directory.get());
}

/// The sidecar first: an object that can be seen can be checked. False if the object's name is taken.
bool Root::link_new(const Attempt& attempt, TemporaryFile& content, TemporaryFile& sidecar, const Place& place) const {
    const int directory = place.directory.get();
    const std::string sidecar_name = sidecar_of(place.name);
    const Fd held = lock(attempt);
    if (open_object(ops, attempt, directory, place.name)) return false;
    if (ops.renameat(sidecar.directory(), sidecar.name(), directory, sidecar_name.c_str()) != 0)
        attempt.fail("rename", errno);
    sidecar.renamed();
    if (ops.linkat(content.directory(), content.name(), directory, place.name.c_str()) == 0) return true;
    const int error = errno;
    if (error == EEXIST) return false;
    ::unlinkat(directory, sidecar_name.c_str(), 0);
    attempt.fail("link", error);
}

/// An object whose sidecar was lost (a power failure without durability `full`) gets it back.
void Root::restore_sidecar(const Attempt& attempt, TemporaryFile& sidecar, const Place& place) const {
    const Fd held = lock(attempt);
    if (ops.renameat(sidecar.directory(), sidecar.name(), place.directory.get(), sidecar_of(place.name).c_str()) != 0)
        attempt.fail("rename", errno);
    sidecar.renamed();
}

void Root::publish(const Attempt& attempt, TemporaryFile& content, const Fingerprint& fingerprint,
                   const Place& place) const {
    TemporaryFile sidecar(ops, attempt, place.directory.get());
    sidecar.write(attempt, to_text(fingerprint));
    sidecar.finish(attempt, options.durability);
    if (!link_new(attempt, content, sidecar, place)) {
        if (!holds(attempt, place, fingerprint)) attempt.fail("the object was removed while it was being written");
        if (!has_sidecar(attempt, place, fingerprint)) restore_sidecar(attempt, sidecar, place);
    }
    acknowledge(attempt, place);
}

class FileWriter final : public StorageWriter {
public:
    explicit FileWriter(std::shared_ptr<const Root> root)
        : root_(std::move(root)), file_(std::in_place, root_->ops, attempt_, root_->fd.get()) {}

    void write(std::string_view chunk) override {
        if (!file_) throw Error(Errc::invalid_argument, "write: the writer is used up");
        if (failed_) attempt_.fail("an earlier write failed");
        failed_ = true;
        file_->write(attempt_, chunk);
        failed_ = false;
        hash_.update(chunk);
        bytes_ += static_cast<std::int64_t>(chunk.size());
    }

    void commit(std::string_view key) override {
        if (!file_) throw Error(Errc::invalid_argument, "commit: the writer is used up");
        const UsedUp used_up{file_};
        require_valid_key("put", key);
        const Attempt attempt{.verb = "put", .key = key};
        if (failed_) attempt.fail("an earlier write of this stream failed");
        file_->finish(attempt, root_->options.durability);
        const Fingerprint fingerprint{.bytes = bytes_, .sha256 = hash_.hex_digest()};
        root_->publish(attempt, *file_, fingerprint, root_->place_for_writing(attempt, key));
    }

private:
    struct UsedUp {
        std::optional<TemporaryFile>& file;
        ~UsedUp() { file.reset(); }
    };

    Attempt attempt_{.verb = "write", .key = "(stream)"};
    std::shared_ptr<const Root> root_;
    std::optional<TemporaryFile> file_;
    Sha256 hash_;
    std::int64_t bytes_ = 0;
    bool failed_ = false;
};

class FileStorage final : public Storage {
public:
    explicit FileStorage(std::shared_ptr<const Root> root) : root_(std::move(root)) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        const Attempt attempt{.verb = "put", .key = key};
        const Fingerprint fingerprint{.bytes = static_cast<std::int64_t>(content.size()),
                                      .sha256 = sha256_hex(content)};
        const Place place = root_->place_for_writing(attempt, key);
        if (root_->holds(attempt, place, fingerprint) && root_->has_sidecar(attempt, place, fingerprint))
            return root_->acknowledge(attempt, place);
        TemporaryFile file(root_->ops, attempt, place.directory.get());
        file.write(attempt, content);
        file.finish(attempt, root_->options.durability);
        root_->publish(attempt, file, fingerprint, place);
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        if (offset < 0 || max_bytes < 0)
            throw Error(Errc::invalid_argument, fmt::format("get \"{}\": offset and max_bytes are 0 or more", key));
        const Attempt attempt{.verb = "get", .key = key};
        const auto place = root_->find_place(attempt, key);
        if (!place) return std::nullopt;
        Reading reading = read(attempt, *place, offset, max_bytes);
        if (reading.damage.empty()) return std::move(reading.content);
        return read_again(attempt, *place, offset, max_bytes);
    }

    std::unique_ptr<StorageWriter> open_writer() override { return std::make_unique<FileWriter>(root_); }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        require_valid_key("stat", key);
        const Attempt attempt{.verb = "stat", .key = key};
        const auto place = root_->find_place(attempt, key);
        if (!place) return std::nullopt;
        const Fd object = open_object(root_->ops, attempt, place->directory.get(), place->name);
        if (!object) return std::nullopt;
        return ObjectInfo{.key = std::string(key), .bytes = length_of(attempt, object.get())};
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        TreeWalk walk(root_->ops, {.verb = "list", .key = prefix}, root_->fd.get(), prefix);
        while (const Entry* entry = walk.next()) {
            if (!is_valid_key(walk.path())) continue;
            if (!visit({.key = walk.path(), .bytes = entry->bytes})) return;
        }
    }

    bool remove(std::string_view key) override;

    std::string locate(std::string_view key) const override {
        require_valid_key("locate", key);
        return fmt::format("{}/{}", root_->path, key);
    }

private:
    struct Reading {
        std::optional<std::string> content{};
        std::string damage{};
    };

    Reading read(const Attempt& attempt, const Place& place, std::int64_t offset, std::int64_t max_bytes) const;
    std::optional<std::string> read_again(const Attempt& attempt, const Place& place, std::int64_t offset,
                                          std::int64_t max_bytes) const;

    std::shared_ptr<const Root> root_;
};

FileStorage::Reading FileStorage::read(const Attempt& attempt, const Place& place, std::int64_t offset,
                                       std::int64_t max_bytes) const {
    const Fd object = open_object(root_->ops, attempt, place.directory.get(), place.name);
    if (!object) return {};
    const auto expected = read_sidecar(root_->ops, attempt, place.directory.get(), place.name);
    if (!expected) return {.damage = "its length and hash are not known: the sidecar is missing or not readable"};
    const std::int64_t length = length_of(attempt, object.get());
    if (length != expected->bytes)
        return {.damage = fmt::format("expected {} bytes, found {}", expected->bytes, length)};
    const std::int64_t from = std::min(offset, length);
    const std::int64_t wanted = std::min(max_bytes, length - from);
    std::string content = read_at(root_->ops, attempt, object.get(), from, wanted);
    const auto got = static_cast<std::int64_t>(content.size());
    if (got != wanted) return {.damage = fmt::format("expected {} bytes, found {}", expected->bytes, from + got)};
    if (wanted == length) {
        const std::string found = sha256_hex(content);
        if (found != expected->sha256)
            return {.damage = fmt::format("expected SHA-256 {}, found {}", expected->sha256, found)};
    }
    return {.content = std::move(content)};
}

/// Under the lock, so that an object that was just being removed and written again is not called damaged.
std::optional<std::string> FileStorage::read_again(const Attempt& attempt, const Place& place, std::int64_t offset,
                                                   std::int64_t max_bytes) const {
    const Fd held = root_->try_lock(attempt);
    Reading reading = read(attempt, place, offset, max_bytes);
    if (reading.damage.empty()) return std::move(reading.content);
    throw Error(Errc::damaged, fmt::format("get \"{}\": {}", attempt.key, reading.damage));
}

bool FileStorage::remove(std::string_view key) {
    require_valid_key("remove", key);
    const Attempt attempt{.verb = "remove", .key = key};
    const auto place = root_->find_place(attempt, key);
    if (!place) return false;
    const int directory = place->directory.get();
    const Fd held = root_->lock(attempt);
    if (!open_object(root_->ops, attempt, directory, place->name)) return false;
    if (::unlinkat(directory, place->name.c_str(), 0) != 0) attempt.fail("unlink", errno);
    if (::unlinkat(directory, sidecar_of(place->name).c_str(), 0) != 0 && errno != ENOENT)
        attempt.fail("unlink the sidecar", errno);
    if (root_->options.durability == Durability::full) sync_directory(root_->ops, attempt, directory);
    return true;
}

}  // namespace

std::shared_ptr<Storage> file_storage_on(PosixOps ops, std::string_view root, const FileStorageOptions& options) {
    if (options.temporary_max_age_seconds < 0) {
        Problems problems;
        problems.error("temporary_max_age_seconds", std::to_string(options.temporary_max_age_seconds), "0 or more");
        problems.throw_if_errors("file_storage");
    }
    return std::make_shared<FileStorage>(std::make_shared<const Root>(std::move(ops), root, options));
}

std::shared_ptr<Storage> file_storage(std::string_view root, const FileStorageOptions& options) {
    return file_storage_on({}, root, options);
}

}  // namespace whittle::inline v0
