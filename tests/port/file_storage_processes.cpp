// Several processes on one file storage, and processes that are killed.
#include "file_tools.hpp"
#include "support/catch.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

using namespace whittle;
using testing::errc_of;
using testing::TempDir;
using testing::temporary_files_below;
using testing::write_streaming;

namespace {

#if defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define WHITTLE_SANITIZED 1
#    endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define WHITTLE_SANITIZED 1
#endif

/// A fork copies the sanitizer's tables, which takes most of a run's time.
#ifdef WHITTLE_SANITIZED
constexpr int usual_kills = 40;
#else
constexpr int usual_kills = 200;
#endif

/// A soak asks for thousands of kills by WHITTLE_KILLS; WHITTLE_SEED moves their moments.
int number_from(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text ? std::atoi(text) : otherwise;
}

/// What the child does in step `step` of `run`: a function of both alone, so that the parent knows it.
struct Step {
    std::string key{};
    std::string content{};
    bool removes = false;
};

std::string content_for(const std::string& key, std::mt19937& random) {
    const std::size_t bytes = 10 + (random() & ((std::size_t{1} << (random() % 17)) - 1));
    std::string content(bytes, key.back());
    content.replace(0, std::min(bytes, key.size()), key, 0, bytes);
    return content;
}

Step step_of(int run, int step) {
    const bool removes = step % 8 == 7;
    const int made = removes ? step - 3 : step;
    std::mt19937 random(static_cast<unsigned>(run * 10'007 + made));
    const std::string key = "run" + std::to_string(run) + "/" + std::to_string(made);
    return {.key = key, .content = content_for(key, random), .removes = removes};
}

FileStorageOptions options_of(int run) {
    return {.durability = run % 40 == 0 ? Durability::full : run % 20 == 0 ? Durability::data : Durability::none};
}

/// In a child: ends it here, whatever happens. An exception that reached Catch would delete the parent's files.
template <typename Work>
[[noreturn]] void leave_after(Work&& child_work) {
    try {
        child_work();
    } catch (...) {
        ::_exit(202);
    }
    ::_exit(203);
}

/// Works until it is killed; one byte to `acknowledge` after each step.
[[noreturn]] void work(const std::string& root, int run, int acknowledge) {
    const auto storage = file_storage(root, options_of(run));
    for (int at = 0;; ++at) {
        const Step step = step_of(run, at);
        if (step.removes) {
            (void)storage->remove(step.key);
        } else if (at % 2 == 0) {
            storage->put_if_absent(step.key, step.content);
        } else {
            write_streaming(*storage, step.key, step.content);
        }
        if (::write(acknowledge, "+", 1) != 1) ::_exit(1);
    }
}

/// Lets a child work and kills it at a random moment. The steps that it acknowledged.
int kill_in_work(const std::string& root, int run, std::mt19937& random) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::close(pipe[0]);
        leave_after([&] { work(root, run, pipe[1]); });
    }
    ::close(pipe[1]);
    int acknowledged = 0;
    char mark = 0;
    const int first = static_cast<int>(random() % 12);
    while (acknowledged < first && ::read(pipe[0], &mark, 1) == 1) ++acknowledged;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe[0], &mark, 1) == 1) ++acknowledged;
    ::close(pipe[0]);
    return acknowledged;
}

/// What must be there after `acknowledged` steps; the step after them may have happened or not.
std::map<std::string, std::string> expected_after(int run, int acknowledged) {
    std::map<std::string, std::string> expected;
    for (int at = 0; at < acknowledged; ++at) {
        const Step step = step_of(run, at);
        if (step.removes) {
            expected.erase(step.key);
        } else {
            expected[step.key] = step.content;
        }
    }
    return expected;
}

void check_run(Storage& storage, int run, int acknowledged) {
    std::map<std::string, std::string> expected = expected_after(run, acknowledged);
    const Step open = step_of(run, acknowledged);
    for (const std::string& key : testing::keys_below(storage, "run" + std::to_string(run) + "/")) {
        const auto found = storage.get(key);  // throws for a torn object
        const bool whole = key == open.key ? found == open.content : expected.contains(key) && found == expected[key];
        if (!whole) FAIL("wrong object " << key);
        expected.erase(key);
    }
    if (open.removes) expected.erase(open.key);
    for (const auto& [key, content] : expected) FAIL_CHECK("lost object " << key << ", " << content.size() << " bytes");
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
    const int runs = number_from("WHITTLE_KILLS", usual_kills);
    std::mt19937 random(static_cast<unsigned>(number_from("WHITTLE_SEED", 1)));
    std::vector<int> acknowledged;
    for (int run = 0; run < runs; ++run) {
        CAPTURE(run);
        acknowledged.push_back(kill_in_work(dir / "store", run, random));
        const auto storage = file_storage(dir / "store");
        REQUIRE(temporary_files_below(dir.path()) == 0);
        check_run(*storage, run, acknowledged.back());
    }
    CHECK(std::count(acknowledged.begin(), acknowledged.end(), 0) < runs);
    const auto storage = file_storage(dir / "store");
    for (int run = 0; run < runs; ++run) check_run(*storage, run, acknowledged[static_cast<std::size_t>(run)]);
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
    PosixOps ops = testing::ops_without_sync();
    const PosixOps real;
    ops.linkat = [&](int from, const char* a, int to, const char* b) {
        child = ::fork();
        if (child == 0) leave_after([] { ::pause(); });
        return real.linkat(from, a, to, b);
    };
    file_storage_on(ops, dir / "store", {})->put_if_absent("k", "content");
    REQUIRE(child > 0);
    for (const char* name : {"store/.whittle-lock", "store/k"}) {
        CAPTURE(name);
        const int fd = ::open((dir / name).c_str(), O_RDONLY | O_CLOEXEC);
        CHECK(fd >= 0);
        CHECK(::flock(fd, LOCK_EX | LOCK_NB) == 0);
        ::close(fd);
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
