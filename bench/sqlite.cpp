// What does the SQLite storage cost over SQLite alone, for put, cold get and warm get? Both have the same settings:
// WAL, the same `synchronous`, one row or object in a transaction. Rounds by turns, best of all; ratios are the point.
// bench_sqlite [none|data|full]
#include "store_times.hpp"

#include <whittle/base/hash.hpp>
#include <whittle/sqlite/sqlite_storage.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using bench::random_bytes;
using bench::row_of;
using bench::seconds_of;

namespace {

constexpr int rounds = 5;

/// SQLite as one uses it by hand: a table of keys and values.
class Bare {
public:
    Bare(const std::string& path, const std::string& synchronous) {
        require(sqlite3_open(path.c_str(), &handle_));
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = " + synchronous);
        run("CREATE TABLE IF NOT EXISTS objects(key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID");
        require(sqlite3_prepare_v2(handle_, "INSERT INTO objects VALUES(?, ?)", -1, &insert_, nullptr));
        require(sqlite3_prepare_v2(handle_, "SELECT value FROM objects WHERE key = ?", -1, &select_, nullptr));
    }
    ~Bare() {
        sqlite3_finalize(insert_);
        sqlite3_finalize(select_);
        sqlite3_close(handle_);
    }
    Bare(const Bare&) = delete;
    Bare& operator=(const Bare&) = delete;

    void put(const std::string& key, const std::string& value) {
        sqlite3_bind_text(insert_, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
        sqlite3_bind_blob64(insert_, 2, value.data(), value.size(), SQLITE_STATIC);
        if (sqlite3_step(insert_) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(handle_));
        sqlite3_reset(insert_);
    }

    std::string get(const std::string& key) {
        sqlite3_bind_text(select_, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
        if (sqlite3_step(select_) != SQLITE_ROW) throw std::runtime_error(sqlite3_errmsg(handle_));
        const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(select_, 0));
        std::string value(bytes, static_cast<std::size_t>(sqlite3_column_bytes(select_, 0)));
        sqlite3_reset(select_);
        return value;
    }

private:
    void require(int code) const {
        if (code != SQLITE_OK) throw std::runtime_error(handle_ ? sqlite3_errmsg(handle_) : "sqlite3_open");
    }
    void run(const std::string& sql) { require(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr)); }

    sqlite3* handle_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* select_ = nullptr;
};

/// The next read comes from the disk.
void forget(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error("cannot open " + path);
    ::fsync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
}

struct Times {
    double put = std::numeric_limits<double>::max();
    double cold = std::numeric_limits<double>::max();
    double warm = std::numeric_limits<double>::max();
};

/// One round of `count` objects. `Store` has put and get, and closes its file when it goes.
template <typename Open>
void measure(Times& best, const std::string& path, int count, const std::string& content, Open&& open) {
    const auto key = [](int i) { return fmt::format("conversation/{:06}", i); };
    const auto read_all = [&](auto& store) {
        for (int i = 0; i < count; ++i) {
            if (store.get(key(i)).size() != content.size()) throw std::runtime_error("another length");
        }
    };
    {
        auto store = open(path);
        best.put = std::min(best.put, seconds_of([&] {
                                for (int i = 0; i < count; ++i) store->put(key(i), content);
                            }));
    }
    forget(path);
    auto store = open(path);
    best.cold = std::min(best.cold, seconds_of([&] { read_all(*store); }));
    best.warm = std::min(best.warm, seconds_of([&] { read_all(*store); }));
}

class Ours {
public:
    Ours(const std::string& path, Durability durability) : storage_(sqlite_storage(path, {.durability = durability})) {}
    void put(const std::string& key, const std::string& value) { storage_->put_if_absent(key, value); }
    std::string get(const std::string& key) { return storage_->get(key).value(); }

private:
    std::shared_ptr<SqliteStorage> storage_;
};

void measure_size(const std::string& folder, Durability durability, const std::string& synchronous, std::size_t bytes,
                  int count) {
    const std::string content = random_bytes(bytes);
    Times ours, bare;
    double hash = std::numeric_limits<double>::max();
    for (int round = 0; round < rounds; ++round) {
        const std::string path = fmt::format("{}/{}-{}", folder, bytes, round);
        measure(ours, path + "-whittle", count, content,
                [&](const std::string& at) { return std::make_unique<Ours>(at, durability); });
        measure(bare, path + "-bare", count, content,
                [&](const std::string& at) { return std::make_unique<Bare>(at, synchronous); });
        hash = std::min(hash, seconds_of([&] {
                                  for (int i = 0; i < std::min(count, 100); ++i) {
                                      if (sha256_hex(content).empty()) throw std::runtime_error("no hash");
                                  }
                              }) / std::min(count, 100));
        for (const auto& entry : std::filesystem::directory_iterator(folder)) std::filesystem::remove(entry.path());
    }
    fmt::print("{} bytes, {} objects\n", bytes, count);
    fmt::print("{}", row_of("put", ours.put / count, bare.put / count, hash, bytes));
    fmt::print("{}", row_of("cold", ours.cold / count, bare.cold / count, hash, bytes));
    fmt::print("{}", row_of("warm", ours.warm / count, bare.warm / count, hash, bytes));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view asked = argc > 1 ? argv[1] : "data";
    const Durability durability = asked == "none"   ? Durability::none
                                  : asked == "full" ? Durability::full
                                                    : Durability::data;
    const std::string synchronous = asked == "none" ? "OFF" : asked == "full" ? "FULL" : "NORMAL";
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-bench-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    fmt::print(
        "SQLite {}, durability {}: best of {} rounds, time of one object; hash is SHA-256 alone, as a part of bare\n",
        sqlite3_libversion(), asked, rounds);
    measure_size(folder, durability, synchronous, 1'024, 2'000);
    measure_size(folder, durability, synchronous, 65'536, 400);
    measure_size(folder, durability, synchronous, 1 << 20, 40);
    measure_size(folder, durability, synchronous, 64 << 20, 2);
    std::filesystem::remove_all(folder);
}
