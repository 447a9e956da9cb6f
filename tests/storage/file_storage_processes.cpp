// Several processes on one file storage, and processes that are killed.
#include "posix_tools.hpp"
#include "support/catch.hpp"
#include "support/killed_writers.hpp"

#include <atomic>
#include <thread>

using namespace whittle;
using testing::errc_of;
using testing::leave_after;
using testing::TempDir;
using testing::temporary_files_below;
using testing::write_streaming;

namespace {

FileStorageOptions options_of(int run) {
    return {.durability = run % 40 == 0 ? Durability::full : run % 20 == 0 ? Durability::data : Durability::none};
}

constexpr int keys = 40;

/// In child `c`: how many keys it was the first to write, or 200 and more for an unexpected error.
int compete(const std::string& root, std::size_t c) {
    const auto storage = file_storage(root, {.durability = Durability::none});
    int wins = 0;
    for (int i = 0; i < keys; ++i) {
        const auto other =
            errc_of([&] { storage->put_if_absent("other/" + std::to_string(i), std::string(2'000 + c, 'a')); });
        wins += other ? 0 : 1;
        if (other && other != Errc::already_exists) return 200;
        if (errc_of([&] { storage->put_if_absent("same/" + std::to_string(i), "the same"); })) return 201;
    }
    return wins;
}

}  // namespace

TEST_CASE("a writer killed at any moment leaves whole objects only, and all that were acknowledged",
          "[storage][file]") {
    const TempDir dir(testing::in_memory());
    testing::KilledWriters writers([&](int run) { return file_storage(dir / "store", options_of(run)); });
    for (int run = 0; run < testing::kills_in_a_test(); ++run) {
        CAPTURE(run);
        writers.kill_one();
        const auto storage = file_storage(dir / "store");
        REQUIRE(temporary_files_below(dir.path()) == 0);
        writers.check_last(*storage);
    }
    writers.check_all(*file_storage(dir / "store"));
}

TEST_CASE("processes and threads that write the same keys agree on one content each", "[storage][file]") {
    const TempDir dir;
    std::array<pid_t, 3> children{};
    for (std::size_t c = 0; c < children.size(); ++c) {
        children[c] = ::fork();
        REQUIRE(children[c] >= 0);
        if (children[c] != 0) continue;
        leave_after([&] { ::_exit(compete(dir / "store", c)); });
    }
    int wins = 0;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) <= keys);
        wins += WEXITSTATUS(status);
    }
    CHECK(wins == keys);
    const auto storage = file_storage(dir / "store");
    for (int i = 0; i < keys; ++i) {
        CHECK(storage->get("other/" + std::to_string(i)));
        CHECK(storage->get("same/" + std::to_string(i)) == "the same");
    }
    CHECK(temporary_files_below(dir.path()) == 0);
}

TEST_CASE("a child forked during a write does not keep the locks that the write held", "[storage][file]") {
    const TempDir dir;
    pid_t child = -1;
    FileOps ops = testing::ops_without_sync();
    const FileOps real;
    ops.link = [&](NativeFile from, const char* a, NativeFile to, const char* b) {
        child = ::fork();
        if (child == 0) leave_after([] { ::pause(); });
        return real.link(from, a, to, b);
    };
    file_storage_on(ops, dir / "store", {})->put_if_absent("k", "content");
    REQUIRE(child > 0);
    for (const char* name : {"store/.whittle-lock", "store/k"}) {
        CAPTURE(name);
        const NativeFile file = FileSystem::open(working_directory, (dir / name).c_str(), OpenAs::reading);
        CHECK(file != no_file);
        CHECK(FileSystem::try_lock(file) == 0);
        FileSystem::close(file);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST_CASE("storages on one root share writes, reads and removals between threads", "[storage][file]") {
    const TempDir dir;
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const auto storage = file_storage(dir / "store", {.durability = Durability::none});
            for (int i = 0; i < 60; ++i) {
                const std::string key = "k" + std::to_string(i % 7);
                const std::string content = (t + i) % 2 == 0 ? "even content" : "odd";
                try {
                    if (i % 3 == 2) {
                        (void)storage->remove(key);
                    } else if (i % 2 == 0) {
                        storage->put_if_absent(key, content);
                    } else {
                        write_streaming(*storage, key, content);
                    }
                    const auto found = storage->get(key);
                    if (found && *found != "even content" && *found != "odd") ++failures;
                } catch (const Error& error) {
                    if (error.errc() != Errc::already_exists) ++failures;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(temporary_files_below(dir.path()) == 0);
}
