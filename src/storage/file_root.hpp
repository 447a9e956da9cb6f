#pragma once

#include "sidecar.hpp"
#include "temporary_file.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// The directory that holds an object, and the object's name in it.
struct Place {
    OpenFile directory;
    std::string name;
};

/// Holds a file's lock. Unlocks before it closes: a child that was forked meanwhile has the open file too, and
/// `close` alone would leave the file locked as long as the child lives.
class HeldLock {
public:
    explicit HeldLock(OpenFile file = OpenFile()) noexcept : file_(std::move(file)) {}
    HeldLock(HeldLock&&) noexcept = default;
    HeldLock& operator=(HeldLock&&) = delete;
    ~HeldLock() {
        if (file_) FileSystem::unlock(file_.get());
    }

private:
    OpenFile file_;
};

/// The open root of a file storage: finds places below it and publishes finished files there. Shared by a storage and
/// its writers, which may outlive it. Thread-safe.
class FileRoot {
public:
    FileRoot(FileOps ops, std::string_view path, const FileStorageOptions& options);

    /// The directory of `key`, created as needed. Under `Durability::full` every directory on the way down is synced.
    [[nodiscard]] Place place_for_writing(const FileAttempt& attempt, std::string_view key) const;
    /// Nullopt if a directory on the way does not exist.
    [[nodiscard]] std::optional<Place> find_place(const FileAttempt& attempt, std::string_view key) const;

    /// The key with the names of its files between the slashes.
    [[nodiscard]] static std::string names_of(std::string_view key);

    /// Where temporary files are, apart from the objects, so that a sweep reads this directory and nothing else.
    [[nodiscard]] OpenFile temporary_directory(const FileAttempt& attempt) const;

    /// Held while names change, by any process.
    [[nodiscard]] HeldLock lock(const FileAttempt& attempt) const;
    /// Held by a reader, who does without where nothing can be written.
    [[nodiscard]] HeldLock try_lock(const FileAttempt& attempt) const;

    /// True if the object is there with that content, whole, checkable and as durable as the options ask. Throws
    /// Error(already_exists) if it has other content.
    [[nodiscard]] bool has(const FileAttempt& attempt, const Place& place, const Fingerprint& fingerprint) const;
    /// Gives the finished `content` its name, or finds that the same content is there already. A torn object of that
    /// content is replaced.
    void publish(const FileAttempt& attempt, TemporaryFile& content, const Fingerprint& fingerprint,
                 const Place& place) const;
    /// Returns once the names in `directory` are as durable as the options ask.
    void sync_names(const FileAttempt& attempt, NativeFile directory) const;

    [[nodiscard]] const FileOps& ops() const noexcept { return ops_; }
    [[nodiscard]] Durability durability() const noexcept { return options_.durability; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// What the model is told in its place.
    [[nodiscard]] const std::string& shown_path() const noexcept {
        return options_.shown_root.empty() ? path_ : options_.shown_root;
    }
    [[nodiscard]] NativeFile directory() const noexcept { return directory_.get(); }

private:
    enum class State { absent, whole, without_sidecar, torn };
    struct Existing {
        State state = State::absent;
        OpenFile object{};
    };

    [[nodiscard]] OpenFile open_in_one_call(const FileAttempt& attempt, const std::string& path, int& error) const;
    [[nodiscard]] bool are_ours(const FileAttempt& attempt, const std::string& path, NativeFile last) const;
    [[nodiscard]] Existing examine(const FileAttempt& attempt, const Place& place,
                                   const Fingerprint& fingerprint) const;
    [[nodiscard]] bool link_new(const FileAttempt& attempt, TemporaryFile& content, TemporaryFile& sidecar,
                                const Place& place) const;
    [[nodiscard]] bool mend(const FileAttempt& attempt, TemporaryFile& content, TemporaryFile& sidecar,
                            const Place& place, const Existing& existing) const;
    void sync_object(const FileAttempt& attempt, const Place& place, const OpenFile& object) const;
    void sync_parent(const FileAttempt& attempt, const std::string& directory_path) const;
    void sync(const FileAttempt& attempt, NativeFile file, std::string_view what,
              const std::function<int(NativeFile)>& call) const;
    void rename(const FileAttempt& attempt, TemporaryFile& file, const Place& place, const std::string& name) const;

    FileOps ops_;
    FileStorageOptions options_;
    std::string path_;
    OpenFile directory_;
    bool has_open_beneath_ = false;

    mutable std::mutex mutex_;
    mutable std::set<std::pair<std::uint64_t, std::uint64_t>> unsyncable_;  ///< files whose sync failed
};

}  // namespace whittle::inline v0
