#include "whittle/sqlite/sqlite_storage.hpp"

#include "sqlite_on.hpp"
#include "sqlite_publish.hpp"
#include "sqlite_schema.hpp"
#include "sqlite_upkeep.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/storage/detail/chunk_filler.hpp"
#include "whittle/storage/detail/commit_once.hpp"
#include "whittle/storage/detail/range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {
namespace {

/// Contents above it are written in pieces, so that the log stays small and others get their turns.
constexpr std::size_t largest_transaction = std::size_t{8} << 20;

class SqliteWriter final : public StorageWriter {
public:
    explicit SqliteWriter(std::shared_ptr<SqliteDatabase> database) : database_(std::move(database)) {}

    void write(std::string_view chunk) override {
        if (!database_ || fingerprint_) throw Error(Errc::invalid_argument, "write: after commit");
        if (failed_) throw Error(Errc::storage_failed, "write \"(stream)\": an earlier write failed");
        failed_ = true;
        hash_.update(chunk);
        bytes_ += static_cast<std::int64_t>(chunk.size());
        filler_.fill(chunk, [&](std::string_view full) { add_chunk(full); });
        failed_ = false;
    }

    void commit(std::string_view key) override {
        if (!database_) throw Error(Errc::invalid_argument, "commit: the writer is used up");
        commit_once([&] { publish(key); }, [&] { use_up(); });
    }

private:
    void add_chunk(std::string_view chunk) {
        if (stream_) return stream_->add("write \"(stream)\"", chunk);
        stream_ = std::make_unique<SqliteContentStream>(database_, "write \"(stream)\"", chunk);
    }

    void publish(std::string_view key) {
        require_valid_key("put", key);
        if (failed_)
            throw Error(Errc::storage_failed, fmt::format("put \"{}\": an earlier write of this stream failed", key));
        if (!fingerprint_) {
            if (stream_ && filler_.is_full()) filler_.flush([&](std::string_view full) { add_chunk(full); });
            fingerprint_ = {.bytes = bytes_, .sha256 = hash_.hex_digest()};
        }
        publish_sqlite_object(database_, key, *fingerprint_, stream_.get(), filler_.rest());
    }

    void use_up() noexcept {
        stream_.reset();
        database_.reset();
    }

    std::shared_ptr<SqliteDatabase> database_;
    std::unique_ptr<SqliteContentStream> stream_{};                     // once there is more than a chunk
    ChunkFiller filler_{static_cast<std::size_t>(sqlite_chunk_bytes)};  // its rest is behind what the stream has
    Sha256 hash_;
    std::int64_t bytes_ = 0;
    std::optional<Fingerprint> fingerprint_{};  // set when all is written
    bool failed_ = false;
};

class SqliteStore final : public SqliteStorage {
public:
    explicit SqliteStore(std::shared_ptr<SqliteDatabase> database) : database_(std::move(database)) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        const Fingerprint fingerprint{.bytes = static_cast<std::int64_t>(content.size()),
                                      .sha256 = sha256_hex(content)};
        if (content.size() <= largest_transaction)
            return publish_sqlite_object(database_, key, fingerprint, nullptr, content);
        if (!has_sqlite_object(*database_, key, fingerprint)) put_in_pieces(key, content, fingerprint);
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        require_range(key, offset, max_bytes);
        const auto connection = database_->lease(fmt::format("get \"{}\"", key));
        const SqliteTransaction snapshot(*connection, SqliteIntent::read);
        const auto object = find(*connection, key);
        if (!object) return std::nullopt;
        const std::int64_t from = std::min(offset, object->bytes);
        return read_sqlite_object(*connection, *object, from, std::min(max_bytes, object->bytes - from));
    }

    std::unique_ptr<StorageWriter> open_writer() override { return std::make_unique<SqliteWriter>(database_); }
    bool can_stream() override { return true; }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        require_valid_key("stat", key);
        const auto connection = database_->lease(fmt::format("stat \"{}\"", key));
        const auto object = find(*connection, key);
        if (!object) return std::nullopt;
        return ObjectInfo{
            .key = std::string(key), .bytes = object->bytes, .stored_at_seconds = object->stored_at_seconds};
    }

    /// No statement is open while `visit` runs: it may use the storage, and others may write.
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        std::vector<ObjectInfo> page = first_page(prefix);
        while (!page.empty()) {
            for (const ObjectInfo& info : page) {
                if (!info.key.starts_with(prefix) || !visit(info)) return;
            }
            page = next_page(page.back().key);
        }
    }

    bool remove(std::string_view key) override {
        require_valid_key("remove", key);
        std::optional<SqliteStream> left;
        {
            const auto connection = database_->lease(fmt::format("remove \"{}\"", key));
            const SqliteDatabase::Turn turn(*database_, *connection);
            SqliteTransaction transaction(*connection, SqliteIntent::write);
            const auto object = find(*connection, key);
            if (!object) return false;
            left = drop_sqlite_object(*connection, key, *object, database_->now_seconds());
            transaction.commit();
        }
        if (left) remove_sqlite_content(*database_, *left);
        return true;
    }

    std::vector<std::string> verify() override { return verify_sqlite_file(*database_); }
    void backup(std::string_view path) override { back_up_sqlite_file(*database_, path); }
    std::int64_t remove_expired() override { return remove_expired_sqlite_objects(*database_); }
    SqliteUsage usage() override { return usage_of_sqlite_file(*database_); }

private:
    void put_in_pieces(std::string_view key, std::string_view content, const Fingerprint& fingerprint) {
        constexpr auto chunk = static_cast<std::size_t>(sqlite_chunk_bytes);
        const std::string operation = fmt::format("put \"{}\"", key);
        SqliteContentStream stream(database_, operation, content.substr(0, chunk));
        for (content.remove_prefix(chunk); content.size() >= chunk; content.remove_prefix(chunk))
            stream.add(operation, content.substr(0, chunk));
        publish_sqlite_object(database_, key, fingerprint, &stream, content);
    }

    [[nodiscard]] std::optional<SqliteObject> find(SqliteConnection& connection, std::string_view key) const {
        auto object = find_sqlite_object(connection, key);
        if (object && object->stored_at_seconds <= database_->expired_at()) return std::nullopt;
        return object;
    }

    [[nodiscard]] std::vector<ObjectInfo> first_page(std::string_view prefix) {
        return page_of(
            prefix,
            "SELECT key, bytes, stored_at FROM objects WHERE key >= ? AND stored_at > ? ORDER BY key LIMIT 100");
    }
    [[nodiscard]] std::vector<ObjectInfo> next_page(std::string_view last) {
        return page_of(
            last, "SELECT key, bytes, stored_at FROM objects WHERE key > ? AND stored_at > ? ORDER BY key LIMIT 100");
    }
    [[nodiscard]] std::vector<ObjectInfo> page_of(std::string_view from, std::string_view sql) {
        const auto connection = database_->lease("list");
        std::vector<ObjectInfo> page;
        SqliteQuery query(*connection, sql);
        query.with_text(from).with(database_->expired_at());
        while (query.step()) page.push_back({std::string(query.bytes(0)), query.integer(1), query.integer(2)});
        return page;
    }

    std::shared_ptr<SqliteDatabase> database_;
};

void require_sqlite_options(const SqliteStorageOptions& options) {
    Problems problems;
    const auto not_negative = [&](std::string_view field, std::int64_t value) {
        if (value < 0) problems.error(std::string(field), std::to_string(value), "0 or more");
    };
    not_negative("busy_timeout_ms", options.busy_timeout_ms);
    not_negative("max_file_bytes", options.max_file_bytes);
    not_negative("expire_after_seconds", options.expire_after_seconds);
    not_negative("unfinished_write_max_age_seconds", options.unfinished_write_max_age_seconds);
    problems.throw_if_errors("sqlite_storage");
}

}  // namespace

std::shared_ptr<SqliteStorage> sqlite_storage_on(std::string_view vfs, std::string_view path,
                                                 const SqliteStorageOptions& options) {
    require_sqlite_options(options);
    auto database = std::make_shared<SqliteDatabase>(path, options, std::string(vfs));
    auto storage = std::make_shared<SqliteStore>(database);
    if (database->is_read_only()) return storage;
    sweep_sqlite_streams(*database);
    if (options.expire_after_seconds > 0) (void)storage->remove_expired();
    return storage;
}

std::shared_ptr<SqliteStorage> sqlite_storage(std::string_view path, const SqliteStorageOptions& options) {
    return sqlite_storage_on("", path, options);
}

}  // namespace whittle::inline v0
