#include "sqlite_upkeep.hpp"

#include "sqlite_contents.hpp"
#include "sqlite_schema.hpp"
#include "sqlite_streams.hpp"
#include "whittle/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t most_problems = 100;

/// Collects problems until there are enough.
class ProblemList {
public:
    void add(std::string problem) {
        if (!is_full()) lines_.push_back(std::move(problem));
    }
    [[nodiscard]] bool is_full() const noexcept { return lines_.size() >= most_problems; }
    [[nodiscard]] std::vector<std::string> take() noexcept { return std::move(lines_); }

private:
    std::vector<std::string> lines_;
};

void check_pages(SqliteConnection& connection, ProblemList& problems) {
    SqliteQuery query(connection, "PRAGMA integrity_check(100)");
    while (query.step()) {
        if (query.bytes(0) != "ok") problems.add(std::string(query.bytes(0)));
    }
}

/// The next keys behind `last`; with `oldest`, of objects stored then or before.
std::vector<std::string> next_keys(SqliteConnection& connection, std::string_view last, std::int64_t oldest) {
    constexpr std::int64_t keys_at_once = 100;
    std::vector<std::string> keys;
    SqliteQuery query(connection, "SELECT key FROM objects WHERE key > ? AND stored_at <= ? ORDER BY key LIMIT ?");
    query.with_text(last).with(oldest).with(keys_at_once);
    while (query.step()) keys.emplace_back(query.bytes(0));
    return keys;
}

void check_object(SqliteConnection& connection, std::string_view key, ProblemList& problems) {
    const SqliteTransaction snapshot(connection, SqliteIntent::read);
    try {
        const auto object = find_sqlite_object(connection, key);
        if (!object) return;  // removed meanwhile
        const std::string damage = damage_of_sqlite_object(connection, *object);
        if (!damage.empty()) problems.add(fmt::format("object \"{}\": {}", key, damage));
    } catch (const Error& error) {
        if (error.errc() != Errc::damaged) throw;
        problems.add(fmt::format("object \"{}\": {}", key, error.what()));
    }
}

void check_objects(SqliteConnection& connection, ProblemList& problems) {
    constexpr std::int64_t whenever = std::numeric_limits<std::int64_t>::max();
    std::string last;
    for (auto keys = next_keys(connection, last, whenever); !keys.empty() && !problems.is_full();
         keys = next_keys(connection, last, whenever)) {
        for (const std::string& key : keys) check_object(connection, key, problems);
        last = keys.back();
    }
}

void check_chunks(SqliteConnection& connection, ProblemList& problems) {
    SqliteQuery query(connection,
                      "SELECT id >> ?1 AS content, count(*) FROM chunks"
                      " WHERE content NOT IN (SELECT content FROM objects)"
                      " AND content NOT IN (SELECT content FROM streams) GROUP BY content LIMIT 100");
    query.with(sqlite_place_bits);
    while (query.step())
        problems.add(fmt::format("content {}: {} chunks belong to no object", query.integer(0), query.integer(1)));
}

/// What a damaged file makes impossible is a problem like others.
template <typename Check>
void look_at(SqliteConnection& connection, ProblemList& problems, Check&& check) {
    try {
        check(connection, problems);
    } catch (const Error& error) {
        if (error.errc() != Errc::damaged) throw;
        problems.add(error.what());
    }
}

/// A new, empty file that is removed unless it got its name.
class UnnamedBackup {
public:
    UnnamedBackup(const SqliteConnection& connection, std::string_view path)
        : connection_(connection), path_(path), name_(temporary_name_for(path)) {
        fd_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd_ < 0) connection_.fail(std::strerror(errno));
    }
    ~UnnamedBackup() {
        ::close(fd_);
        ::unlink(name_.c_str());
    }
    UnnamedBackup(const UnnamedBackup&) = delete;
    UnnamedBackup& operator=(const UnnamedBackup&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Synced before it has its name, and its directory after.
    void publish() {
        if (::fsync(fd_) != 0) connection_.fail(std::strerror(errno));
        if (::link(name_.c_str(), path_.c_str()) != 0) {
            if (errno == EEXIST)
                throw Error(Errc::already_exists, fmt::format("{}: the file exists", connection_.operation()));
            connection_.fail(std::strerror(errno));
        }
        const std::size_t slash = path_.rfind('/');
        const std::string directory = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
        const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const bool synced = fd >= 0 && ::fsync(fd) == 0;
        const int error = errno;
        if (fd >= 0) ::close(fd);
        if (!synced) connection_.fail(std::strerror(error));
    }

private:
    static std::string temporary_name_for(std::string_view path) {
        static std::atomic<unsigned> backups{0};
        return fmt::format("{}.partial-{}-{}", path, ::getpid(), backups++);
    }

    const SqliteConnection& connection_;
    std::string path_;
    std::string name_;
    int fd_ = -1;
};

}  // namespace

std::vector<std::string> verify_sqlite_file(SqliteDatabase& database) {
    const auto connection = database.lease(fmt::format("verify \"{}\"", database.path()));
    ProblemList problems;
    look_at(*connection, problems, check_pages);
    look_at(*connection, problems, check_objects);
    look_at(*connection, problems, check_chunks);
    return problems.take();
}

void back_up_sqlite_file(SqliteDatabase& database, std::string_view path) {
    const auto connection = database.lease(fmt::format("back up to \"{}\"", path));
    if (::access(std::string(path).c_str(), F_OK) == 0)
        throw Error(Errc::already_exists, fmt::format("{}: the file exists", connection->operation()));
    UnnamedBackup file(*connection, path);
    SqliteQuery(*connection, "VACUUM INTO ?").with_text(file.name()).run();
    file.publish();
}

std::int64_t remove_expired_sqlite_objects(SqliteDatabase& database) {
    const std::int64_t oldest = database.expired_at();
    if (database.options().expire_after_seconds == 0) return 0;
    std::int64_t removed = 0;
    std::string last;
    for (bool is_done = false; !is_done;) {
        std::vector<SqliteStream> left;
        {
            const auto connection = database.lease(fmt::format("expire objects of \"{}\"", database.path()));
            const SqliteDatabase::Turn turn(database, *connection);
            SqliteTransaction transaction(*connection, SqliteIntent::write);
            const std::vector<std::string> keys = next_keys(*connection, last, oldest);
            is_done = keys.empty();
            if (!is_done) last = keys.back();
            for (const std::string& key : keys) {
                const auto object = find_sqlite_object(*connection, key);
                if (const auto stream = drop_sqlite_object(*connection, key, *object, database.now_seconds()))
                    left.push_back(*stream);
                ++removed;
            }
            transaction.commit();
        }
        for (const SqliteStream& stream : left) remove_sqlite_content(database, stream);
    }
    return removed;
}

SqliteUsage usage_of_sqlite_file(SqliteDatabase& database) {
    const auto connection = database.lease(fmt::format("usage of \"{}\"", database.path()));
    const SqliteTransaction snapshot(*connection, SqliteIntent::read);
    const std::int64_t page = connection->number("PRAGMA page_size");
    return {.objects = connection->number("SELECT count(*) FROM objects"),
            .object_bytes = connection->number("SELECT coalesce(sum(bytes), 0) FROM objects"),
            .file_bytes = connection->number("PRAGMA page_count") * page,
            .reusable_file_bytes = connection->number("PRAGMA freelist_count") * page};
}

}  // namespace whittle::inline v0
