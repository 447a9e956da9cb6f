#include "directory_tree.hpp"
#include "file_root.hpp"
#include "whittle/storage/detail/commit_once.hpp"
#include "whittle/storage/detail/range.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace whittle::inline v0 {
namespace {

class FileWriter final : public StorageWriter {
public:
    explicit FileWriter(std::shared_ptr<const FileRoot> root)
        : root_(std::move(root)), file_(std::in_place, root_->ops(), attempt_, root_->temporary_directory(attempt_)) {}

    void write(std::string_view chunk) override {
        if (!file_ || fingerprint_) throw Error(Errc::invalid_argument, "write: after commit");
        if (failed_) attempt_.fail("an earlier write failed");
        failed_ = true;
        file_->write(attempt_, chunk);
        failed_ = false;
        hash_.update(chunk);
        bytes_ += static_cast<std::int64_t>(chunk.size());
    }

    void commit(std::string_view key) override {
        if (!file_) throw Error(Errc::invalid_argument, "commit: the writer is used up");
        commit_once([&] { publish(key); }, [&] { file_.reset(); });
    }

private:
    void publish(std::string_view key) {
        require_valid_key("put", key);
        const FileAttempt attempt{.verb = "put", .key = key};
        if (failed_) attempt.fail("an earlier write of this stream failed");
        if (!fingerprint_) {
            file_->finish(attempt, root_->durability());
            fingerprint_ = {.bytes = bytes_, .sha256 = hash_.hex_digest()};
        }
        root_->publish(attempt, *file_, *fingerprint_, root_->place_for_writing(attempt, key));
    }

    FileAttempt attempt_{.verb = "write", .key = "(stream)"};
    std::shared_ptr<const FileRoot> root_;
    std::optional<TemporaryFile> file_;
    Sha256 hash_;
    std::int64_t bytes_ = 0;
    std::optional<Fingerprint> fingerprint_{};  // set when all is written
    bool failed_ = false;
};

class FileStorage final : public Storage {
public:
    explicit FileStorage(std::shared_ptr<const FileRoot> root) : root_(std::move(root)) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        const FileAttempt attempt{.verb = "put", .key = key};
        const Fingerprint fingerprint{.bytes = static_cast<std::int64_t>(content.size()),
                                      .sha256 = sha256_hex(content)};
        const Place place = root_->place_for_writing(attempt, key);
        if (root_->has(attempt, place, fingerprint)) return;
        TemporaryFile file(root_->ops(), attempt, root_->temporary_directory(attempt));
        file.write(attempt, content);
        file.finish(attempt, root_->durability());
        root_->publish(attempt, file, fingerprint, place);
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        require_range(key, offset, max_bytes);
        const FileAttempt attempt{.verb = "get", .key = key};
        const auto place = root_->find_place(attempt, key);
        if (!place) return std::nullopt;
        Reading reading = read(attempt, *place, offset, max_bytes);
        if (reading.damage.empty()) return std::move(reading.content);
        return read_again(attempt, *place, offset, max_bytes);
    }

    std::unique_ptr<StorageWriter> open_writer() override { return std::make_unique<FileWriter>(root_); }
    bool can_stream() override { return true; }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        require_valid_key("stat", key);
        const FileAttempt attempt{.verb = "stat", .key = key};
        const auto place = root_->find_place(attempt, key);
        if (!place) return std::nullopt;
        const OpenFile object = open_object(root_->ops(), attempt, place->directory.get(), place->name);
        if (!object) return std::nullopt;
        const FileStatus status = status_of(attempt, object.get());
        return ObjectInfo{.key = std::string(key), .bytes = status.bytes, .stored_at_seconds = status.modified};
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        TreeWalk walk(root_->ops(), {.verb = "list", .key = prefix}, root_->directory(), prefix);
        while (const Entry* entry = walk.next()) {
            if (!is_valid_key(walk.path())) continue;
            if (!visit({.key = walk.path(), .bytes = entry->bytes, .stored_at_seconds = entry->modified})) return;
        }
    }

    bool remove(std::string_view key) override;

    std::string locate(std::string_view key) const override {
        require_valid_key("locate", key);
        return fmt::format("{}/{}", root_->shown_path(), FileRoot::names_of(key));
    }

private:
    struct Reading {
        std::optional<std::string> content{};
        std::string damage{};
    };

    Reading read(const FileAttempt& attempt, const Place& place, std::int64_t offset, std::int64_t max_bytes) const;
    std::optional<std::string> read_again(const FileAttempt& attempt, const Place& place, std::int64_t offset,
                                          std::int64_t max_bytes) const;

    std::shared_ptr<const FileRoot> root_;
};

FileStorage::Reading FileStorage::read(const FileAttempt& attempt, const Place& place, std::int64_t offset,
                                       std::int64_t max_bytes) const {
    const OpenFile object = open_object(root_->ops(), attempt, place.directory.get(), place.name);
    if (!object) return {};
    const auto expected = read_sidecar(root_->ops(), attempt, place.directory.get(), place.name);
    if (!expected) return {.damage = "its length and hash are not known: the sidecar is missing or not readable"};
    const std::int64_t length = length_of(attempt, object.get());
    if (length != expected->bytes)
        return {.damage = fmt::format("expected {} bytes, found {}", expected->bytes, length)};
    const std::int64_t from = std::min(offset, length);
    const std::int64_t wanted = std::min(max_bytes, length - from);
    std::string content = read_at(root_->ops(), attempt, object.get(), from, wanted);
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
std::optional<std::string> FileStorage::read_again(const FileAttempt& attempt, const Place& place, std::int64_t offset,
                                                   std::int64_t max_bytes) const {
    const HeldLock held = root_->try_lock(attempt);
    Reading reading = read(attempt, place, offset, max_bytes);
    if (reading.damage.empty()) return std::move(reading.content);
    throw Error(Errc::damaged, fmt::format("get \"{}\": {}", attempt.key, reading.damage));
}

bool FileStorage::remove(std::string_view key) {
    require_valid_key("remove", key);
    const FileAttempt attempt{.verb = "remove", .key = key};
    const auto place = root_->find_place(attempt, key);
    if (!place) return false;
    const NativeFile directory = place->directory.get();
    const HeldLock held = root_->lock(attempt);
    if (!open_object(root_->ops(), attempt, directory, place->name)) return false;
    if (root_->ops().remove(directory, place->name.c_str()) != 0) attempt.fail("unlink", errno);
    if (root_->ops().remove(directory, sidecar_of(place->name).c_str()) != 0 && errno != ENOENT)
        attempt.fail("unlink the sidecar", errno);
    root_->sync_names(attempt, directory);
    return true;
}

}  // namespace

std::shared_ptr<Storage> file_storage_on(FileOps ops, std::string_view root, const FileStorageOptions& options) {
    if (options.temporary_max_age_seconds < 0) {
        Problems problems;
        problems.error("temporary_max_age_seconds", std::to_string(options.temporary_max_age_seconds), "0 or more");
        problems.throw_if_errors("file_storage");
    }
    return std::make_shared<FileStorage>(std::make_shared<const FileRoot>(std::move(ops), root, options));
}

std::shared_ptr<Storage> file_storage(std::string_view root, const FileStorageOptions& options) {
    return file_storage_on({}, root, options);
}

}  // namespace whittle::inline v0
