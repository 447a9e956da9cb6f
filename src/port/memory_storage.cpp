#include "whittle/base/error.hpp"
#include "whittle/port/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace whittle::inline v0 {
namespace {

std::int64_t size_of(std::string_view text) noexcept { return static_cast<std::int64_t>(text.size()); }

/// The objects and their sum; shared by the storage and its writers, so that a writer may outlive the storage.
class Shelf {
public:
    explicit Shelf(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

    /// Takes `content` only if it keeps it.
    void put(std::string_view key, std::string&& content) {
        require_valid_key("put", key);
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.lower_bound(key);
        if (found != objects_.end() && found->first == key) {
            if (*found->second == content) return;
            throw Error(Errc::already_exists, fmt::format("put \"{}\": the key exists with other content", key));
        }
        require_space(size_of(content), key);
        const std::int64_t bytes = size_of(content);
        objects_.emplace_hint(found, std::string(key), std::make_shared<const std::string>(std::move(content)));
        used_bytes_ += bytes;
    }

    /// Refuses early what `put` would refuse later, so that a stream without end does not fill the memory.
    void require_space_for_stream(std::int64_t bytes) {
        const std::scoped_lock lock(mutex_);
        require_space(bytes, "(stream)");
    }

    std::shared_ptr<const std::string> find(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.find(key);
        return found == objects_.end() ? nullptr : found->second;
    }

    /// The first object whose key starts with `prefix` and comes after `last` (or is `last`, the first time).
    std::optional<ObjectInfo> next(std::string_view prefix, const std::string* last) {
        const std::scoped_lock lock(mutex_);
        const auto at = last ? objects_.upper_bound(*last) : objects_.lower_bound(prefix);
        if (at == objects_.end() || !at->first.starts_with(prefix)) return std::nullopt;
        return ObjectInfo{.key = at->first, .bytes = size_of(*at->second)};
    }

    bool erase(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.find(key);
        if (found == objects_.end()) return false;
        used_bytes_ -= size_of(*found->second);
        objects_.erase(found);
        return true;
    }

private:
    void require_space(std::int64_t bytes, std::string_view key) const {
        if (max_bytes_ <= 0 || bytes <= max_bytes_ - used_bytes_) return;
        throw Error(Errc::storage_failed,
                    fmt::format("put \"{}\": {} bytes more than the quota of {} bytes leaves ({})", key, bytes,
                                max_bytes_, max_bytes_ - used_bytes_));
    }

    std::mutex mutex_;
    std::int64_t max_bytes_;
    std::int64_t used_bytes_ = 0;
    std::map<std::string, std::shared_ptr<const std::string>, std::less<>> objects_;
};

class MemoryWriter final : public StorageWriter {
public:
    explicit MemoryWriter(std::shared_ptr<Shelf> shelf) : shelf_(std::move(shelf)) {}

    void write(std::string_view chunk) override {
        require_open("write");
        if (complete_) throw Error(Errc::invalid_argument, "write: after commit");
        shelf_->require_space_for_stream(size_of(content_) + size_of(chunk));
        content_ += chunk;
    }

    void commit(std::string_view key) override {
        require_open("commit");
        complete_ = true;
        try {
            shelf_->put(key, std::move(content_));
            shelf_.reset();
        } catch (const Error& error) {
            if (error.errc() != Errc::already_exists) shelf_.reset();
            throw;
        }
    }

private:
    void require_open(std::string_view attempted) const {
        if (!shelf_) throw Error(Errc::invalid_argument, fmt::format("{}: the writer is used up", attempted));
    }

    std::shared_ptr<Shelf> shelf_;
    std::string content_;
    bool complete_ = false;  // a commit was tried
};

class MemoryStorage final : public Storage {
public:
    explicit MemoryStorage(const MemoryStorageOptions& options) : shelf_(std::make_shared<Shelf>(options.max_bytes)) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        shelf_->put(key, std::string(content));
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        if (offset < 0 || max_bytes < 0)
            throw Error(Errc::invalid_argument, fmt::format("get \"{}\": offset and max_bytes are 0 or more", key));
        const auto content = shelf_->find(key);
        if (!content) return std::nullopt;
        const auto from = static_cast<std::size_t>(std::min(offset, size_of(*content)));
        return content->substr(from, static_cast<std::size_t>(std::min(max_bytes, size_of(*content))));
    }

    std::unique_ptr<StorageWriter> open_writer() override { return std::make_unique<MemoryWriter>(shelf_); }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        require_valid_key("stat", key);
        const auto content = shelf_->find(key);
        if (!content) return std::nullopt;
        return ObjectInfo{.key = std::string(key), .bytes = size_of(*content)};
    }

    /// Takes the lock for one object at a time: `visit` may use the storage.
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        auto info = shelf_->next(prefix, nullptr);
        while (info && visit(*info)) info = shelf_->next(prefix, &info->key);
    }

    bool remove(std::string_view key) override {
        require_valid_key("remove", key);
        return shelf_->erase(key);
    }

private:
    std::shared_ptr<Shelf> shelf_;
};

}  // namespace

std::shared_ptr<Storage> memory_storage(const MemoryStorageOptions& options) {
    if (options.max_bytes < 0) {
        Problems problems;
        problems.error("max_bytes", std::to_string(options.max_bytes), "0 (no limit) or more");
        problems.throw_if_errors("memory_storage");
    }
    return std::make_shared<MemoryStorage>(options);
}

}  // namespace whittle::inline v0
