// A disk for SQLite that fails when it is told to, and that forgets at a power failure what was not synced.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>

namespace whittle::testing {

enum class DiskCall { open, read, write, truncate, sync, remove, lock, shared_memory };

/// The SQLite VFS "whittle-test", over the system's. One for the whole program.
class SqliteDisk {
public:
    static constexpr const char* name = "whittle-test";

    static SqliteDisk& instance() {
        static SqliteDisk disk;
        return disk;
    }

    /// The `at`-th call of this kind from now on (from 1) gives `code`; with `for_good`, all from it on.
    void fail(DiskCall kind, int at, int code, bool for_good) {
        kind_ = kind, at_ = at, code_ = code, for_good_ = for_good, calls_ = 0;
    }
    void heal() { at_ = 0; }
    /// Calls of the kind since it was told to fail.
    [[nodiscard]] int calls() const { return calls_; }

    /// From now on the state of each file at its last sync is kept beside it, as `file.synced`.
    void keep_synced(bool keep) { keeps_synced_ = keep; }

private:
    struct File {
        sqlite3_file base{};  // SQLite's view
        std::string* path = nullptr;
        [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };

    SqliteDisk() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
        vfs_.zName = name;
        vfs_.pNext = nullptr;
        vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
        vfs_.xOpen = open_file;
        vfs_.xDelete = delete_file;
        methods_.iVersion = 3;
        methods_.xClose = [](sqlite3_file* f) {
            delete file(f).path;
            return real(f)->pMethods->xClose(real(f));
        };
        methods_.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
            return instance().hits(DiskCall::read) ? instance().code_ : real(f)->pMethods->xRead(real(f), to, n, at);
        };
        methods_.xWrite = write_file;
        methods_.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
            return instance().hits(DiskCall::truncate) ? instance().code_ : real(f)->pMethods->xTruncate(real(f), size);
        };
        methods_.xSync = sync_file;
        methods_.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
            return real(f)->pMethods->xFileSize(real(f), size);
        };
        methods_.xLock = [](sqlite3_file* f, int how) {
            return instance().hits(DiskCall::lock) ? instance().code_ : real(f)->pMethods->xLock(real(f), how);
        };
        methods_.xUnlock = [](sqlite3_file* f, int how) { return real(f)->pMethods->xUnlock(real(f), how); };
        methods_.xCheckReservedLock = [](sqlite3_file* f, int* out) {
            return real(f)->pMethods->xCheckReservedLock(real(f), out);
        };
        methods_.xFileControl = [](sqlite3_file* f, int op, void* arg) {
            return real(f)->pMethods->xFileControl(real(f), op, arg);
        };
        methods_.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
        methods_.xDeviceCharacteristics = [](sqlite3_file* f) {
            return real(f)->pMethods->xDeviceCharacteristics(real(f));
        };
        methods_.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
            return instance().hits(DiskCall::shared_memory)
                       ? instance().code_
                       : real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
        };
        methods_.xShmLock = [](sqlite3_file* f, int at, int n, int flags) {
            return real(f)->pMethods->xShmLock(real(f), at, n, flags);
        };
        methods_.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
        methods_.xShmUnmap = [](sqlite3_file* f, int del) { return real(f)->pMethods->xShmUnmap(real(f), del); };
        methods_.xFetch = [](sqlite3_file*, sqlite3_int64, int, void** out) {
            *out = nullptr;
            return SQLITE_OK;
        };
        methods_.xUnfetch = [](sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; };
        if (sqlite3_vfs_register(&vfs_, 0) != SQLITE_OK) throw std::runtime_error("cannot register the test's VFS");
    }

    static File& file(sqlite3_file* f) { return *reinterpret_cast<File*>(f); }
    static sqlite3_file* real(sqlite3_file* f) { return file(f).real(); }

    bool hits(DiskCall kind) {
        if (at_ == 0 || kind != kind_) return false;
        const int call = ++calls_;
        return call == at_ || (for_good_ && call > at_);
    }

    static int open_file(sqlite3_vfs*, const char* path, sqlite3_file* f, int flags, int* out) {
        SqliteDisk& disk = instance();
        f->pMethods = nullptr;
        if (disk.hits(DiskCall::open)) return disk.code_;
        const int code = disk.real_->xOpen(disk.real_, path, real(f), flags, out);
        if (code != SQLITE_OK) return code;
        f->pMethods = &disk.methods_;
        file(f).path = new std::string(path ? path : "");
        return SQLITE_OK;
    }

    static int delete_file(sqlite3_vfs*, const char* path, int sync) {
        SqliteDisk& disk = instance();
        return disk.hits(DiskCall::remove) ? disk.code_ : disk.real_->xDelete(disk.real_, path, sync);
    }

    /// What fails has written a half before.
    static int write_file(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
        const bool fails = instance().hits(DiskCall::write);
        const int code = real(f)->pMethods->xWrite(real(f), from, fails ? n / 2 : n, at);
        return fails ? instance().code_ : code;
    }

    static int sync_file(sqlite3_file* f, int flags) {
        SqliteDisk& disk = instance();
        if (disk.hits(DiskCall::sync)) return disk.code_;
        const std::string& path = *file(f).path;
        if (disk.keeps_synced_ && !path.empty()) {  // in place of the real, slow one
            std::filesystem::copy_file(path, path + ".synced", std::filesystem::copy_options::overwrite_existing);
            return SQLITE_OK;
        }
        return disk.keeps_synced_ ? SQLITE_OK : real(f)->pMethods->xSync(real(f), flags);
    }

    sqlite3_vfs* real_;
    sqlite3_vfs vfs_;
    sqlite3_io_methods methods_{};
    DiskCall kind_{};
    int at_ = 0;
    int code_ = 0;
    bool for_good_ = false;
    std::atomic<int> calls_{0};
    bool keeps_synced_ = false;
};

inline std::string all_bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// What the disk may hold of the file after a power failure: of each sector that was written since the last sync either
/// the old or the new bytes, and of the lengths one.
inline void lose_power(const std::string& path, std::mt19937& random) {
    constexpr std::size_t sector = 512;
    if (!std::filesystem::exists(path)) return;
    const std::string written = all_bytes_of(path);
    const std::string synced = all_bytes_of(path + ".synced");  // empty if it never was
    std::string left = random() % 3 == 0 ? synced : written;
    left.resize(random() % 2 == 0 ? written.size() : synced.size());
    for (std::size_t at = 0; at < left.size(); at += sector) {
        const std::string& from = random() % 2 == 0 ? synced : written;
        if (at >= from.size()) continue;
        const std::size_t bytes = std::min({sector, left.size() - at, from.size() - at});
        std::memcpy(left.data() + at, from.data() + at, bytes);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << left;
    std::filesystem::remove(path + ".synced");
}

}  // namespace whittle::testing
