#include "agent/sandbox.hpp"

#include "scratch.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"

#include <whittle/base/error.hpp>

#include <sys/stat.h>

using agent::Sandbox;
using whittle::Errc;
using whittle::testing::errc_of;
namespace fs = std::filesystem;

namespace {}  // namespace

TEST_CASE("files of the workspace can be read, those of the store only with the tool for it", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a/b.txt", "b");
    scratch.write("store/object", "o");
    const Sandbox sandbox(scratch / "work", scratch / "store");
    CHECK(sandbox.allowed("a/b.txt") == scratch / "work/a/b.txt");
    CHECK(sandbox.allowed("a/../a/./b.txt") == scratch / "work/a/b.txt");
    CHECK(sandbox.allowed((scratch / "work/a/b.txt").string()) == scratch / "work/a/b.txt");
    CHECK(errc_of([&] { (void)sandbox.allowed((scratch / "store/object").string()); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)sandbox.allowed("../store/object"); }) == Errc::invalid_argument);
    CHECK(sandbox.allowed(".") == scratch / "work");
    CHECK(sandbox.allowed("") == scratch / "work");
}

TEST_CASE("what is outside is refused", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "a");
    scratch.write("work-two/secret.txt", "s");
    scratch.write("secret.txt", "s");
    scratch.write("store/object", "o");
    const Sandbox sandbox(scratch / "work", scratch / "store");
    const auto refused = [&](const std::string& path) { return errc_of([&] { (void)sandbox.allowed(path); }); };
    CHECK(refused("../secret.txt") == Errc::invalid_argument);
    CHECK(refused("/etc/passwd") == Errc::invalid_argument);
    CHECK(refused("..") == Errc::invalid_argument);
    CHECK(refused("/") == Errc::invalid_argument);
    CHECK(refused("../work-two/secret.txt") == Errc::invalid_argument);
    CHECK(refused(std::string("a.txt\0/../../secret.txt", 23)) == Errc::invalid_argument);
    CHECK(refused("missing.txt") == Errc::not_found);
}

TEST_CASE("a link that leads outside is refused, one that stays inside is followed", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "a");
    scratch.write("secret.txt", "s");
    fs::create_symlink("../secret.txt", scratch / "work/out");
    fs::create_directory_symlink("..", scratch / "work/up");
    fs::create_symlink("a.txt", scratch / "work/in");
    fs::create_symlink("loop", scratch / "work/loop");
    const Sandbox sandbox(scratch / "work", {});
    CHECK(errc_of([&] { (void)sandbox.allowed("out"); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)sandbox.allowed("up/secret.txt"); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)sandbox.allowed("loop"); }) == Errc::not_found);
    CHECK(sandbox.allowed("in") == scratch / "work/a.txt");
}

TEST_CASE("the store is out of reach, also if it is inside the workspace", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "a");
    scratch.write("work/store/object", "o");
    const Sandbox sandbox(scratch / "work", scratch / "work/store");
    CHECK(sandbox.allowed("a.txt") == scratch / "work/a.txt");
    fs::create_symlink("store/object", scratch / "work/link");
    for (const char* path : {"store", "store/object", "link"}) {
        CAPTURE(path);
        CHECK_THROWS_WITH(sandbox.allowed(path),
                          Catch::Contains("refused, it is in the store of originals: read what a placeholder names "
                                          "with read_offloaded"));
    }
}

TEST_CASE("a store that is one file is out of reach, and so is what SQLite keeps beside it", "[agent]") {
    const Scratch scratch;
    for (const char* file : {"work/objects.db", "work/objects.db-wal", "work/objects.db-shm", "work/objects.db.txt"})
        scratch.write(file, "x");
    const Sandbox sandbox(scratch / "work", scratch / "work/objects.db");
    CHECK(sandbox.allowed("objects.db.txt") == scratch / "work/objects.db.txt");
    for (const char* file : {"objects.db", "objects.db-wal", "objects.db-shm"})
        CHECK(errc_of([&] { (void)sandbox.allowed(file); }) == Errc::invalid_argument);
}

TEST_CASE("only regular files can be read", "[agent]") {
    const Scratch scratch;
    scratch.write("work/a.txt", "a");
    REQUIRE(::mkfifo((scratch / "work/pipe").c_str(), 0600) == 0);
    const Sandbox sandbox(scratch / "work", {});
    CHECK(sandbox.allowed_file("a.txt") == scratch / "work/a.txt");
    CHECK(errc_of([&] { (void)sandbox.allowed_file("pipe"); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)sandbox.allowed_file("."); }) == Errc::invalid_argument);
}

TEST_CASE("a workspace that is no directory is refused", "[agent]") {
    const Scratch scratch;
    scratch.write("file", "");
    CHECK(errc_of([&] { const Sandbox sandbox(scratch / "file", {}); }) == Errc::not_found);
    CHECK(errc_of([&] { const Sandbox sandbox(scratch / "missing", {}); }) == Errc::not_found);
}
