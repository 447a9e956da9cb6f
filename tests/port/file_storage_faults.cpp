// What the file storage does when system calls fail and processes die.
#include "../../src/port/posix_ops.hpp"

#include "support/catch.hpp"
#include "support/storage_contract.hpp"
#include "support/temp_dir.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

using namespace whittle;
using whittle::testing::errc_of;
using whittle::testing::TempDir;
namespace fs = std::filesystem;

namespace {

enum class Call { openat, mkdirat, write, fdatasync, fsync, close, flock, renameat, linkat };

/// Fails the `at`-th call of kind `call` (from 1) with `error`; counts them.
struct Fault {
    Call call{};
    int at = 0;
    int error = 0;
    int calls = 0;

    bool hits(Call kind) {
        if (kind != call || ++calls != at) return false;
        errno = error;
        return true;
    }
};

/// The real calls, one of which fails. A failing write first writes half, a failing close does close.
PosixOps ops_with(const std::shared_ptr<Fault>& fault) {
    const PosixOps real;
    PosixOps ops;
    ops.openat = [=](int at, const char* path, int flags, mode_t mode) {
        return fault->hits(Call::openat) ? -1 : real.openat(at, path, flags, mode);
    };
    ops.mkdirat = [=](int at, const char* path, mode_t mode) {
        return fault->hits(Call::mkdirat) ? -1 : real.mkdirat(at, path, mode);
    };
    ops.write = [=](int fd, const void* data, std::size_t size) -> ssize_t {
        if (fault->hits(Call::write)) return -1;
        return real.write(fd, data, size > 1 ? size / 2 : size);
    };
    ops.fdatasync = [=](int fd) { return fault->hits(Call::fdatasync) ? -1 : real.fdatasync(fd); };
    ops.fsync = [=](int fd) { return fault->hits(Call::fsync) ? -1 : real.fsync(fd); };
    ops.close = [=](int fd) {
        real.close(fd);
        return fault->hits(Call::close) ? -1 : 0;
    };
    ops.flock = [=](int fd, int how) { return fault->hits(Call::flock) ? -1 : real.flock(fd, how); };
    ops.renameat = [=](int from, const char* a, int to, const char* b) {
        return fault->hits(Call::renameat) ? -1 : real.renameat(from, a, to, b);
    };
    ops.linkat = [=](int from, const char* a, int to, const char* b) {
        return fault->hits(Call::linkat) ? -1 : real.linkat(from, a, to, b);
    };
    return ops;
}

int temporary_files_below(const fs::path& root) {
    int found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root))
        found += entry.path().filename().string().starts_with(".whittle-tmp-") ? 1 : 0;
    return found;
}

void write_streaming(Storage& storage, const std::string& key, const std::string& content) {
    const auto writer = storage.open_writer();
    writer->write(content.substr(0, content.size() / 2));
    writer->write(content.substr(content.size() / 2));
    writer->commit(key);
}

std::string content_of(const std::string& key) { return std::string(30'000, key.back()) + key; }

}  // namespace

TEST_CASE("whichever system call fails, the object is absent or whole, and nothing else is left", "[storage][file]") {
    const Call call = GENERATE(Call::openat, Call::mkdirat, Call::write, Call::fdatasync, Call::fsync, Call::close,
                               Call::flock, Call::renameat, Call::linkat);
    const int error = GENERATE(ENOSPC, EIO);
    const bool streaming = GENERATE(false, true);
    const std::string content(3'000, 'c');
    int failed = 0;
    for (int at = 1; at < 100; ++at) {
        CAPTURE(static_cast<int>(call), error, streaming, at);
        const TempDir dir;
        (void)file_storage(dir / "store");
        const auto fault = std::make_shared<Fault>(Fault{.call = call, .at = 0, .error = error});
        const auto storage = file_storage_on(ops_with(fault), dir / "store", {.durability = Durability::full});
        fault->calls = 0;
        fault->at = at;
        const auto result = errc_of([&] {
            streaming ? write_streaming(*storage, "a/b/k", content) : storage->put_if_absent("a/b/k", content);
        });
        fault->call = Call::openat;
        fault->at = -1;
        const auto reopened = file_storage(dir / "store");
        CHECK(temporary_files_below(dir.path()) == 0);
        const auto found = reopened->get("a/b/k");
        CHECK((!found || *found == content));
        if (result) CHECK(result == Errc::storage_failed);
        if (!result) CHECK(found == content);
        CHECK_NOTHROW(reopened->put_if_absent("a/b/k", found ? content : "another content"));
        if (!result) break;
        ++failed;
    }
    CHECK(failed > 0);
    CHECK(failed < 99);
}

TEST_CASE("short and interrupted writes, reads and locks are continued", "[storage][file]") {
    const TempDir dir;
    PosixOps ops;
    int turn = 0;
    const auto interrupted = [&turn] {
        errno = EINTR;
        return ++turn % 2 == 1;
    };
    ops.write = [&](int fd, const void* data, std::size_t size) -> ssize_t {
        return interrupted() ? -1 : ::write(fd, data, std::min<std::size_t>(size, 7));
    };
    ops.pread = [&](int fd, void* data, std::size_t size, off_t at) -> ssize_t {
        return interrupted() ? -1 : ::pread(fd, data, std::min<std::size_t>(size, 5), at);
    };
    ops.flock = [&](int fd, int how) { return interrupted() ? -1 : ::flock(fd, how); };
    const auto storage = file_storage_on(ops, dir / "store", {});
    std::string content;
    for (int i = 0; i < 1'000; ++i) content += std::to_string(i);
    storage->put_if_absent("k", content);
    CHECK(storage->get("k") == content);
    CHECK(storage->get("k", 3, 4) == content.substr(3, 4));
}

TEST_CASE("a failed fdatasync is not tried again", "[storage][file]") {
    const TempDir dir;
    int syncs = 0;
    PosixOps ops;
    ops.fdatasync = [&](int) {
        errno = EIO;
        return ++syncs == 1 ? -1 : 0;
    };
    const auto storage = file_storage_on(ops, dir / "store", {});
    CHECK(errc_of([&] { storage->put_if_absent("k", "x"); }) == Errc::storage_failed);
    CHECK(syncs == 1);
    CHECK_FALSE(storage->get("k"));
}

TEST_CASE("the durability says what is synced before a put returns", "[storage][file]") {
    const TempDir dir;
    const Durability durability = GENERATE(Durability::none, Durability::data, Durability::full);
    int data = 0;
    int directories = 0;
    PosixOps ops;
    ops.fdatasync = [&](int fd) { return ++data, ::fdatasync(fd); };
    ops.fsync = [&](int fd) { return ++directories, ::fsync(fd); };
    const auto storage = file_storage_on(ops, dir / "store", {.durability = durability});
    storage->put_if_absent("a/b/k", "x");
    CHECK(data == (durability == Durability::none ? 0 : 2));         // object and sidecar
    CHECK(directories == (durability == Durability::full ? 3 : 0));  // root, a, a/b
}

TEST_CASE("a writer whose write failed commits nothing", "[storage][file]") {
    const TempDir dir;
    const auto fault = std::make_shared<Fault>(Fault{.call = Call::write, .at = 1, .error = ENOSPC});
    const auto storage = file_storage_on(ops_with(fault), dir / "store", {});
    const auto writer = storage->open_writer();
    CHECK(errc_of([&] { writer->write("lost"); }) == Errc::storage_failed);
    CHECK(errc_of([&] { writer->write("more"); }) == Errc::storage_failed);
    CHECK(errc_of([&] { writer->commit("k"); }) == Errc::storage_failed);
    CHECK_FALSE(storage->get("k"));
    CHECK(temporary_files_below(dir.path()) == 0);
}

TEST_CASE("a failed write names the step and the system's reason", "[storage][file]") {
    const TempDir dir;
    const auto fault = std::make_shared<Fault>(Fault{.call = Call::write, .at = 1, .error = ENOSPC});
    const auto storage = file_storage_on(ops_with(fault), dir / "store", {});
    std::string text;
    try {
        storage->put_if_absent("c/k", "x");
    } catch (const Error& error) {
        text = error.what();
    }
    CHECK(text == "put \"c/k\": write: No space left on device");
}

TEST_CASE("a writer killed at any moment leaves whole objects only, and all that were acknowledged",
          "[storage][file]") {
    const TempDir dir;
    int finished = 0;
    for (int run = 0; run < 50; ++run) {
        std::array<int, 2> pipe{};
        REQUIRE(::pipe(pipe.data()) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(pipe[0]);
            const auto storage = file_storage(dir / "store");
            for (int i = 0; i < 10'000; ++i) {
                const std::string key = "run" + std::to_string(run) + "/" + std::to_string(i);
                i % 2 == 0 ? storage->put_if_absent(key, content_of(key))
                           : write_streaming(*storage, key, content_of(key));
                if (::write(pipe[1], "+", 1) != 1) ::_exit(1);
            }
            ::_exit(0);
        }
        ::close(pipe[1]);
        int acknowledged = 0;
        char mark = 0;
        while (acknowledged < run % 4 && ::read(pipe[0], &mark, 1) == 1) ++acknowledged;
        std::this_thread::sleep_for(std::chrono::microseconds(run * 97));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (::read(pipe[0], &mark, 1) == 1) ++acknowledged;
        ::close(pipe[0]);

        const auto storage = file_storage(dir / "store");
        CHECK(temporary_files_below(dir.path()) == 0);
        const std::string prefix = "run" + std::to_string(run) + "/";
        int seen = 0;
        for (const std::string& key : testing::keys_below(*storage, prefix)) {
            ++seen;
            if (storage->get(key) != content_of(key)) FAIL("torn object " << key);
        }
        CHECK(seen >= acknowledged);
        CHECK(seen <= acknowledged + 1);
        finished += acknowledged;
    }
    CHECK(finished > 0);
}

TEST_CASE("processes that write the same keys agree on one content each", "[storage][file]") {
    const TempDir dir;
    (void)file_storage(dir / "store");
    std::array<pid_t, 4> children{};
    for (std::size_t c = 0; c < children.size(); ++c) {
        children[c] = ::fork();
        REQUIRE(children[c] >= 0);
        if (children[c] != 0) continue;
        const auto storage = file_storage(dir / "store");
        int wins = 0;
        for (int i = 0; i < 50; ++i) {
            const auto error =
                errc_of([&] { storage->put_if_absent("k" + std::to_string(i), std::string(2'000 + c, 'a')); });
            wins += error ? 0 : 1;
            if (error && error != Errc::already_exists) ::_exit(200);
        }
        ::_exit(wins);
    }
    int wins = 0;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) <= 50);
        wins += WEXITSTATUS(status);
    }
    CHECK(wins == 50);
    const auto storage = file_storage(dir / "store");
    for (int i = 0; i < 50; ++i) CHECK(storage->get("k" + std::to_string(i)));
}
