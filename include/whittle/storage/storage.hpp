#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

class Clock;

/// What a store tells of an object without reading it.
struct ObjectInfo {
    std::string key{};                   ///< of the object
    std::int64_t bytes = 0;              ///< length of its content
    std::int64_t stored_at_seconds = 0;  ///< seconds since 1970, by the store's clock; 0: the store does not know
};

/// Streaming form of `Storage::put_if_absent`. Nothing is visible before `commit`; dropping the writer leaves nothing.
class StorageWriter {
public:
    virtual ~StorageWriter() = default;
    /// Appends to the content. Throws Error(storage_failed) if the store cannot take it.
    virtual void write(std::string_view chunk) = 0;
    /// As `put_if_absent`. Then the writer is used up, also when it throws, but for Error(already_exists): what was
    /// written, and nothing more, can then be committed under another key.
    virtual void commit(std::string_view key) = 0;
};

/// Keeps what is taken out of requests: written once, read rarely. All functions are thread-safe. An own backend must
/// implement `put_if_absent` and `get`; the others report `Errc::not_offered` or are built on these two.
class Storage {
public:
    virtual ~Storage() = default;

    /// Stores `content` under `key` unless the key exists. Same content again: no-op. Other content: throws
    /// Error(already_exists). Returns only after the bytes are as durable as the backend's setting says. Throws
    /// Error(invalid_key) for a key outside `is_valid_key`, Error(storage_failed) with the system's reason.
    virtual void put_if_absent(std::string_view key, std::string_view content) = 0;

    /// At most `max_bytes` from byte `offset`; nullopt if there is no such object; empty at or past its end. Throws
    /// Error(damaged) for a short or altered object with expected and found, Error(storage_failed), Error(invalid_key).
    [[nodiscard]] virtual std::optional<std::string> get(std::string_view key, std::int64_t offset = 0,
                                                         std::int64_t max_bytes = INT64_MAX) = 0;

    /// Null: this backend cannot stream.
    [[nodiscard]] virtual std::unique_ptr<StorageWriter> open_writer() { return nullptr; }

    /// Whether `open_writer` gives a writer. By default it is asked for one.
    [[nodiscard]] virtual bool can_stream() { return open_writer() != nullptr; }

    /// Nullopt if there is no such object.
    [[nodiscard]] virtual std::optional<ObjectInfo> stat(std::string_view key);

    /// Calls `visit` for every object whose key starts with `prefix`, in byte order of the keys, until it returns
    /// false.
    virtual void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit);

    /// True if there was such an object.
    virtual bool remove(std::string_view key);

    /// Whether it keeps other content than it is given where that holds secrets: the three functions below are for
    /// such.
    [[nodiscard]] virtual bool masks() const noexcept { return false; }
    /// What is kept in place of `content`; nullopt: it is kept as it is.
    [[nodiscard]] virtual std::optional<std::string> masked(std::string_view content) const {
        (void)content;
        return std::nullopt;
    }
    /// In how many places the object was masked; 0 if there is no such object.
    [[nodiscard]] virtual std::int64_t masked_places(std::string_view key) {
        (void)key;
        return 0;
    }
    /// As `put_if_absent`, for content whose texts are masked already, or that has none: a hash in it stays true.
    virtual void put_verbatim(std::string_view key, std::string_view content) { put_if_absent(key, content); }

    /// What the model is told where the agent's own file tool reads the object: a path that this tool can open. The
    /// library's own tool is told the key.
    [[nodiscard]] virtual std::string locate(std::string_view key) const { return std::string(key); }
};

/// `[A-Za-z0-9/_.-]`, no empty, "." or ".." component, no component with a leading dot, 1 to 512 bytes.
[[nodiscard]] bool is_valid_key(std::string_view key) noexcept;

/// Throws Error(invalid_key) that names the attempt and the rule that `key` breaks.
void require_valid_key(std::string_view operation, std::string_view key);

/// How a store in memory behaves.
struct MemoryStorageOptions {
    std::int64_t max_bytes = 0;      ///< sum of all contents; 0: no limit. More is Error(storage_failed)
    std::shared_ptr<Clock> clock{};  ///< of `ObjectInfo::stored_at_seconds`; null: the system's
};

/// Objects in memory, for tests and short runs.
[[nodiscard]] std::shared_ptr<Storage> memory_storage(const MemoryStorageOptions& options = {});

/// What a finished write survives. After a power failure no setting ever gives wrong bytes: what is torn is `damaged`.
enum class Durability {
    none,  ///< the end of the process, also by a signal; a power failure may take or tear the object
    data,  ///< as `none`; a power failure may take the object, but does not tear it (fdatasync before it gets its name)
    full,  ///< a power failure (the directories are synced too)
};

/// How a store in a directory behaves.
struct FileStorageOptions {
    /// What a finished write survives: `none`, `data`, `full`; see docs/storage.md.
    Durability durability = Durability::data;
    /// Seconds; on opening, older temporary files that no writer holds are removed.
    int temporary_max_age_seconds = 3'600;
    /// What references to objects begin with, where the agent's own file tool finds the directory elsewhere. `locate`
    /// shows it. Empty: the absolute path.
    std::string shown_root{};
};

/// Objects as files under the directory `root` (created with mode 0700 if absent, and so are those above it). Files are
/// 0600, written to a temporary file and linked into place without replacing. A symlink, FIFO or foreign owner on the
/// way is refused. Several processes may share a root. `locate` gives `shown_root/key`, or the absolute path. POSIX
/// only. Throws Error(storage_failed) if `root` cannot be opened, Error(invalid_config) for a negative age.
/// docs/storage.md tells the layout and what each fault leads to.
[[nodiscard]] std::shared_ptr<Storage> file_storage(std::string_view root, const FileStorageOptions& options = {});

}  // namespace whittle::inline v0
