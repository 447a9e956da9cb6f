#include "whittle/base/clock.hpp"
#include "whittle/base/error.hpp"
#include "whittle/storage/detail/commit_once.hpp"
#include "whittle/storage/detail/range.hpp"
#include "whittle/storage/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {
namespace {

std::int64_t content_bytes(std::string_view text) noexcept { return static_cast<std::int64_t>(text.size()); }

/// Key and content lie in what `owner` keeps.
struct Object {
    std::string_view key{};
    std::string_view content{};
    std::shared_ptr<const void> owner{};
    std::int64_t stored_at_seconds = 0;
};

ObjectInfo to_info(const Object& object) {
    return {std::string(object.key), content_bytes(object.content), object.stored_at_seconds};
}

struct Owned {
    std::string key{};
    std::string content{};
};

/// Both in one block: a store of many objects is made of few allocations.
Object copy_of(std::string_view key, std::string_view content) {
    const auto block = std::make_shared_for_overwrite<char[]>(key.size() + content.size());
    key.copy(block.get(), key.size());
    content.copy(block.get() + key.size(), content.size());
    return {{block.get(), key.size()}, {block.get() + key.size(), content.size()}, block};
}

struct ByKey {
    using is_transparent = void;
    static std::string_view key_of(const Object& object) noexcept { return object.key; }
    static std::string_view key_of(std::string_view key) noexcept { return key; }
    bool operator()(const auto& a, const auto& b) const noexcept { return key_of(a) < key_of(b); }
};

/// The objects and their sum; shared by the storage and its writers, so that a writer may outlive the storage.
class StoredEntries {
public:
    explicit StoredEntries(const MemoryStorageOptions& options)
        : max_bytes_(options.max_bytes), clock_(options.clock ? options.clock : system_clock()) {}

    void put(std::string_view key, std::string_view content) {
        put(key, content, [&] { return copy_of(key, content); });
    }

    /// Takes `content` unless it refuses it with an Error.
    void put(std::string_view key, std::string&& content) {
        put(key, content, [&] {
            const auto owned = std::make_shared<const Owned>(Owned{std::string(key), std::move(content)});
            return Object{owned->key, owned->content, owned};
        });
    }

    /// Refuses early what `put` would refuse later, so that a stream without end does not fill the memory.
    void require_space_for_stream(std::int64_t bytes) {
        const std::scoped_lock lock(mutex_);
        require_space(bytes, "(stream)");
    }

    /// Without an owner if there is no such object.
    Object find(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.find(key);
        return found == objects_.end() ? Object{} : *found;
    }

    std::optional<ObjectInfo> info_of(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.find(key);
        return found == objects_.end() ? std::nullopt : std::optional(to_info(*found));
    }

    /// The first object whose key starts with `prefix` and comes after `last` (or is `last`, the first time).
    std::optional<ObjectInfo> next(std::string_view prefix, const std::string* last) {
        const std::scoped_lock lock(mutex_);
        const auto at = last ? objects_.upper_bound(*last) : objects_.lower_bound(prefix);
        if (at == objects_.end() || !at->key.starts_with(prefix)) return std::nullopt;
        return to_info(*at);
    }

    bool erase(std::string_view key) {
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.find(key);
        if (found == objects_.end()) return false;
        used_bytes_ -= content_bytes(found->content);
        objects_.erase(found);
        return true;
    }

private:
    template <typename Make>
    void put(std::string_view key, std::string_view content, Make&& make) {
        require_valid_key("put", key);
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.lower_bound(key);
        if (found != objects_.end() && found->key == key) {
            if (found->content == content) return;
            throw Error(Errc::already_exists, fmt::format("put \"{}\": the key exists with other content", key));
        }
        require_space(content_bytes(content), key);
        const std::int64_t bytes = content_bytes(content);
        Object object = make();
        object.stored_at_seconds = clock_->now() / 1'000;
        objects_.insert(found, std::move(object));
        used_bytes_ += bytes;
    }

    void require_space(std::int64_t bytes, std::string_view key) const {
        if (max_bytes_ <= 0 || bytes <= max_bytes_ - used_bytes_) return;
        throw Error(Errc::storage_failed,
                    fmt::format("put \"{}\": {} bytes more than the quota of {} bytes leaves ({})", key, bytes,
                                max_bytes_, max_bytes_ - used_bytes_));
    }

    std::mutex mutex_;
    std::int64_t max_bytes_;
    std::shared_ptr<Clock> clock_;
    std::int64_t used_bytes_ = 0;
    std::set<Object, ByKey> objects_;
};

class MemoryWriter final : public StorageWriter {
public:
    explicit MemoryWriter(std::shared_ptr<StoredEntries> entries) : entries_(std::move(entries)) {}

    void write(std::string_view chunk) override {
        require_open("write");
        if (complete_) throw Error(Errc::invalid_argument, "write: after commit");
        entries_->require_space_for_stream(content_bytes(content_) + content_bytes(chunk));
        content_ += chunk;
    }

    void commit(std::string_view key) override {
        require_open("commit");
        complete_ = true;
        commit_once([&] { entries_->put(key, std::move(content_)); }, [&] { entries_.reset(); });
    }

private:
    void require_open(std::string_view operation) const {
        if (!entries_) throw Error(Errc::invalid_argument, fmt::format("{}: the writer is used up", operation));
    }

    std::shared_ptr<StoredEntries> entries_;
    std::string content_;
    bool complete_ = false;  // a commit was tried
};

class MemoryStorage final : public Storage {
public:
    explicit MemoryStorage(const MemoryStorageOptions& options) : entries_(std::make_shared<StoredEntries>(options)) {}

    void put_if_absent(std::string_view key, std::string_view content) override { entries_->put(key, content); }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        require_range(key, offset, max_bytes);
        const Object object = entries_->find(key);
        if (!object.owner) return std::nullopt;
        const auto from = static_cast<std::size_t>(std::min(offset, content_bytes(object.content)));
        const auto size = static_cast<std::size_t>(std::min(max_bytes, content_bytes(object.content)));
        return std::string(object.content.substr(from, size));
    }

    std::unique_ptr<StorageWriter> open_writer() override { return std::make_unique<MemoryWriter>(entries_); }
    bool can_stream() override { return true; }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        require_valid_key("stat", key);
        return entries_->info_of(key);
    }

    /// Takes the lock for one object at a time: `visit` may use the storage.
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        auto info = entries_->next(prefix, nullptr);
        while (info && visit(*info)) info = entries_->next(prefix, &info->key);
    }

    bool remove(std::string_view key) override {
        require_valid_key("remove", key);
        return entries_->erase(key);
    }

private:
    std::shared_ptr<StoredEntries> entries_;
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
