#include "posix_tools.hpp"
#include "support/catch.hpp"

#include <chrono>

using namespace whittle;
using testing::bytes_of;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::overwrite;
using testing::TempDir;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

/// The file storage on a system with and without openat2; nothing waits for the disk.
std::shared_ptr<Storage> open_store(const std::string& root, int openat2_error) {
    return file_storage_on(testing::ops_without_openat2(openat2_error), root, {});
}

}  // namespace

TEST_CASE("file storage keeps the storage contract", "[storage][file][contract]") {
    const auto open = [](const std::string& root) { return file_storage(root, {.durability = Durability::none}); };
    testing::check_conformance(testing::each_in_a_folder(open, fs::temp_directory_path()),
                               testing::suite_sizes(5 * 1'024));
}

TEST_CASE("file storage keeps the storage contract at every durability, with and without openat2", "[storage][file]") {
    const Durability durability = GENERATE(Durability::data, Durability::full);
    const int error = GENERATE(0, ENOSYS);
    const auto open = [&](const std::string& root) {
        return file_storage_on(testing::ops_without_openat2(error), root, {.durability = durability});
    };
    testing::check_conformance(testing::each_in_a_folder(open), {.objects = 100, .rounds = 5});
}

TEST_CASE("an object is a plain file at the path that locate tells, readable by its owner only", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store/");
    storage->put_if_absent("c1/0001.txt", "content");
    CHECK(storage->locate("c1/0001.txt") == fs::canonical(dir.path()).string() + "/store/c1/0001.txt");
    CHECK(bytes_of(storage->locate("c1/0001.txt")) == "content");
    CHECK(mode_of(dir / "store") == 0700);
    CHECK(mode_of(dir / "store/c1") == 0700);
    CHECK(mode_of(dir / "store/c1/0001.txt") == 0600);
    CHECK(mode_of(dir / "store/c1/.0001.txt.meta") == 0600);
    CHECK(errc_of([&] { (void)storage->locate("../x"); }) == Errc::invalid_key);
}

TEST_CASE("a store makes the directories above it, for its owner only", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "a/b/store", {.durability = Durability::full});
    storage->put_if_absent("k", "x");
    CHECK(file_storage(dir / "a/b/store")->get("k") == "x");
    CHECK(fs::status(dir / "a").permissions() == fs::perms::owner_all);
    CHECK(fs::status(dir / "a/b").permissions() == fs::perms::owner_all);
}

TEST_CASE("objects are there after reopening", "[storage][file]") {
    const TempDir dir;
    file_storage(dir / "store")->put_if_absent("a/b/c", "content");
    const auto storage = file_storage(dir / "store");
    CHECK(storage->get("a/b/c") == "content");
    CHECK(errc_of([&] { storage->put_if_absent("a/b/c", "other"); }) == Errc::already_exists);
}

TEST_CASE("a short or altered object is damaged, with expected and found", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "0123456789");

    overwrite(dir / "store/k", "01234");
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::damaged);
    CHECK(errc_of([&] { (void)storage->get("k", 0, 2); }) == Errc::damaged);
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": expected 10 bytes, found 5");

    overwrite(dir / "store/k", "0123456X89");
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::damaged);
    CHECK(contains(error_of([&] { (void)storage->get("k"); }), "expected SHA-256 84d89877"));
    CHECK(storage->get("k", 2, 3) == "234");  // a range is checked by length only

    overwrite(dir / "store/k", "");
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::damaged);
}

TEST_CASE("an object without a readable sidecar is damaged until the same content is put again", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "content");
    const std::string sidecar = GENERATE("", "7", "7 abc\n", "-1 x\n", "garbage");
    if (sidecar.empty()) {
        fs::remove(dir / "store/.k.meta");
    } else {
        overwrite(dir / "store/.k.meta", sidecar);
    }
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::damaged);
    CHECK(errc_of([&] { storage->put_if_absent("k", "other"); }) == Errc::already_exists);
    storage->put_if_absent("k", "content");
    CHECK(storage->get("k") == "content");
}

TEST_CASE("a sidecar without its object, left by a crash, does not stop a write of other content", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("c/k", "first");
    fs::remove(dir / "store/c/k");
    CHECK_FALSE(storage->get("c/k"));
    CHECK(testing::keys_below(*storage, "").empty());
    storage->put_if_absent("c/k", "second, longer");
    CHECK(storage->get("c/k") == "second, longer");
}

TEST_CASE("removing an object removes its sidecar", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("c/k", "x");
    CHECK(storage->remove("c/k"));
    CHECK(fs::is_empty(dir / "store/c"));
}

TEST_CASE("a symbolic link, FIFO or directory in the place of an object is refused by name", "[storage][file]") {
    const TempDir dir;
    const auto storage = open_store(dir / "store", GENERATE(0, ENOSYS));
    overwrite(dir / "outside", "secret");
    std::string kind;
    SECTION("symbolic link to a file") {
        fs::create_symlink(dir / "outside", dir / "store/k");
        kind = "a symbolic link";
    }
    SECTION("symbolic link to nothing") {
        fs::create_symlink(dir / "nowhere", dir / "store/k");
        kind = "a symbolic link";
    }
    SECTION("FIFO") {
        REQUIRE(::mkfifo((dir / "store/k").c_str(), 0600) == 0);
        kind = "a FIFO";
    }
    SECTION("directory") {
        fs::create_directory(dir / "store/k");
        kind = "a directory";
    }
    const std::string reason = "\"k\" is " + kind + ", not a regular file";
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": " + reason);
    CHECK(error_of([&] { (void)storage->stat("k"); }) == "stat \"k\": " + reason);
    CHECK(error_of([&] { (void)storage->remove("k"); }) == "remove \"k\": " + reason);
    CHECK(error_of([&] { storage->put_if_absent("k", "x"); }) == "put \"k\": " + reason);
    CHECK(testing::keys_below(*storage, "").empty());
    CHECK(bytes_of(dir / "outside") == "secret");
    CHECK_FALSE(fs::exists(dir / "nowhere"));
}

TEST_CASE("a symbolic link or FIFO on the way to an object is refused", "[storage][file]") {
    const TempDir dir;
    const auto storage = open_store(dir / "store", GENERATE(0, ENOSYS));
    fs::create_directories(dir / "outside/b");
    overwrite(dir / "outside/b/k", "secret");
    std::string kind = "a symbolic link";
    SECTION("as the root's child") { fs::create_directory_symlink(dir / "outside", dir / "store/a"); }
    SECTION("deeper") {
        fs::create_directory(dir / "store/a");
        fs::permissions(dir / "store/a", fs::perms::owner_all);
        fs::create_directory_symlink(dir / "outside/b", dir / "store/a/b");
    }
    SECTION("a FIFO") {
        REQUIRE(::mkfifo((dir / "store/a").c_str(), 0600) == 0);
        kind = "a FIFO";
    }
    CHECK(contains(error_of([&] { storage->put_if_absent("a/b/new", "x"); }), kind + ", not a directory"));
    CHECK(contains(error_of([&] { (void)storage->get("a/b/k"); }), kind + ", not a directory"));
    CHECK(errc_of([&] { (void)storage->remove("a/b/k"); }) == Errc::storage_failed);
    CHECK(testing::keys_below(*storage, "").empty());
    CHECK(bytes_of(dir / "outside/b/k") == "secret");
    CHECK_FALSE(fs::exists(dir / "outside/b/new"));
}

TEST_CASE("a planted link in the place of a sidecar is never written through", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    overwrite(dir / "outside", "secret");
    fs::create_symlink(dir / "outside", dir / "store/.k.meta");
    storage->put_if_absent("k", "x");
    CHECK(bytes_of(dir / "outside") == "secret");
    CHECK(storage->get("k") == "x");
}

TEST_CASE("a planted link in the place of the lock file is refused", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    fs::create_symlink(dir / "outside", dir / "store/.whittle-lock");
    CHECK(errc_of([&] { storage->put_if_absent("k", "x"); }) == Errc::storage_failed);
    CHECK_FALSE(fs::exists(dir / "outside"));
}

TEST_CASE("an object of another user is refused", "[storage][file]") {
    const TempDir dir;
    if (!testing::can_give_away(dir.path())) SKIP_WITH_MESSAGE("a file cannot be given away here");
    const auto storage = open_store(dir / "store", GENERATE(0, ENOSYS));
    storage->put_if_absent("a/k", "x");
    REQUIRE(::chown((dir / "store/a/k").c_str(), 65'534, 65'534) == 0);
    CHECK(contains(error_of([&] { (void)storage->get("a/k"); }), "belongs to another user"));
    REQUIRE(::chown((dir / "store/a").c_str(), 65'534, 65'534) == 0);
    CHECK(contains(error_of([&] { (void)storage->get("a/other"); }), "directory \"a\" belongs to another user"));
    REQUIRE(::chown((dir / "store").c_str(), 65'534, 65'534) == 0);
    CHECK(contains(error_of([&] { (void)file_storage(dir / "store"); }), "belongs to another user"));
}

TEST_CASE("a root that cannot be trusted is refused with the reason", "[storage][file]") {
    const TempDir dir;
    fs::create_directory(dir / "real");
    SECTION("a symbolic link") {
        fs::create_directory_symlink(dir / "real", dir / "store");
        CHECK(contains(error_of([&] { (void)file_storage(dir / "store"); }), "a symbolic link, not a directory"));
        CHECK(contains(error_of([&] { (void)file_storage(dir / "store//"); }), "a symbolic link, not a directory"));
    }
    SECTION("a regular file") {
        overwrite(dir / "store", "");
        CHECK(contains(error_of([&] { (void)file_storage(dir / "store"); }), "a regular file, not a directory"));
    }
    SECTION("writable by everyone") {
        fs::permissions(dir / "real", fs::perms::all);
        CHECK(contains(error_of([&] { (void)file_storage(dir / "real"); }), "is writable by its group or by everyone"));
    }
    SECTION("writable by its group") {
        fs::permissions(dir / "real", fs::perms::owner_all | fs::perms::group_write);
        CHECK(contains(error_of([&] { (void)file_storage(dir / "real"); }), "is writable by its group or by everyone"));
    }
    SECTION("below a file") {
        overwrite(dir / "file", "");
        CHECK(contains(error_of([&] { (void)file_storage(dir / "file/store"); }), "file/store"));
    }
    SECTION("empty, or with a NUL byte") {
        CHECK(contains(error_of([] { (void)file_storage(""); }), "the root is empty"));
        CHECK(contains(error_of([] { (void)file_storage(std::string_view("/tmp\0x", 6)); }), "NUL"));
    }
    SECTION("a negative age") {
        CHECK(errc_of([&] { (void)file_storage(dir / "store", {.temporary_max_age_seconds = -1}); }) ==
              Errc::invalid_config);
    }
}

TEST_CASE("a component too long for a file name cannot be written, and is absent", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    const std::string key(300, 'k');
    CHECK(contains(error_of([&] { storage->put_if_absent(key, "x"); }), "File name too long"));
    CHECK_FALSE(storage->get(key));
    CHECK(testing::keys_below(*storage, "").empty());
}

TEST_CASE("a key below an object is refused for writing and absent for reading", "[storage][file]") {
    const TempDir dir;
    const auto storage = open_store(dir / "store", GENERATE(0, ENOSYS));
    storage->put_if_absent("a", "x");
    CHECK(contains(error_of([&] { storage->put_if_absent("a/b", "y"); }), "\"a\" is a regular file, not a directory"));
    CHECK_FALSE(storage->get("a/b"));
    CHECK(storage->get("a") == "x");
}

TEST_CASE("temporary files of dead or old writers are swept on opening, others stay", "[storage][file]") {
    const TempDir dir;
    const fs::path temporary = dir / "store/.whittle-tmp";
    fs::create_directories(temporary / ".whittle-tmp-999999999-dir");
    const std::string dead = ".whittle-tmp-999999999-00";
    const std::string living = ".whittle-tmp-" + std::to_string(::getpid()) + "-00";
    const std::string old = ".whittle-tmp-" + std::to_string(::getpid()) + "-01";
    for (const std::string& name : {dead, living, old, std::string(".whittle-tmp-x-00"), std::string("other")})
        overwrite(temporary / name, "x");
    fs::create_symlink(dir / "store/.whittle-tmp/other", temporary / ".whittle-tmp-999999999-link");
    fs::last_write_time(temporary / old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    (void)file_storage(dir / "store");
    CHECK_FALSE(fs::exists(temporary / dead));
    CHECK_FALSE(fs::exists(temporary / old));
    CHECK(fs::exists(temporary / living));
    CHECK(fs::exists(temporary / ".whittle-tmp-x-00"));
    CHECK(fs::exists(temporary / "other"));
    CHECK(fs::exists(temporary / ".whittle-tmp-999999999-dir"));
    CHECK(fs::is_symlink(temporary / ".whittle-tmp-999999999-link"));
}

TEST_CASE("opening looks at temporary files and at no object", "[storage][file]") {
    const TempDir dir;
    const auto first = file_storage_on(testing::ops_without_sync(), dir / "store", {});
    for (int i = 0; i < 20; ++i) first->put_if_absent("c" + std::to_string(i) + "/k", "x");
    int opened = 0;
    FileOps ops = testing::ops_without_sync();
    ops.open = [&](NativeFile at, const char* path, OpenAs how) {
        ++opened;
        return FileSystem::open(at, path, how);
    };
    (void)file_storage_on(ops, dir / "store", {});
    CHECK(opened == 2);  // the root and the directory of the temporary files
}

TEST_CASE("openat2 is tried once, and opens the directory of an object in one call", "[storage][file]") {
    const TempDir dir;
    file_storage(dir / "store", {.durability = Durability::none})->put_if_absent("a/b/c/k", "x");
    FileOps ops = testing::ops_without_sync();
    int calls = 0;
    int opened = 0;
    const int error = GENERATE(0, ENOSYS, EPERM);
    ops.open_beneath = [&](NativeFile root, const char* path) {
        ++calls;
        if (error == 0) return FileSystem::open_beneath(root, path);
        errno = error;
        return no_file;
    };
    ops.open = [&](NativeFile at, const char* path, OpenAs how) {
        if (how == OpenAs::directory) ++opened;
        return FileSystem::open(at, path, how);
    };
    if (error == 0) {
        const NativeFile directory = FileSystem::open_beneath(working_directory, ".");
        if (directory == no_file) SKIP_WITH_MESSAGE("this system has no openat2");
        FileSystem::close(directory);
    }
    const auto storage = file_storage_on(ops, dir / "store", {});
    CHECK(calls == 1);
    opened = 0;
    CHECK(storage->get("a/b/c/k") == "x");
    CHECK(calls == (error == 0 ? 2 : 1));
    CHECK(opened == (error == 0 ? 0 : 3));
}

TEST_CASE("a second storage on the same root does not disturb an open writer", "[storage][file]") {
    const TempDir dir;
    const auto first = file_storage(dir / "store");
    const auto writer = first->open_writer();
    writer->write("one ");
    const auto second = file_storage(dir / "store");
    writer->write("two");
    writer->commit("c/k");
    CHECK(second->get("c/k") == "one two");
}

TEST_CASE("a writer may outlive its file storage", "[storage][file]") {
    const TempDir dir;
    auto storage = file_storage(dir / "store");
    const auto writer = storage->open_writer();
    storage.reset();
    writer->write("x");
    writer->commit("k");
    CHECK(file_storage(dir / "store")->get("k") == "x");
}

TEST_CASE("a temporary file that cannot be removed is swept when its writer is gone", "[storage][file]") {
    const TempDir dir;
    const std::string ended = testing::in_child([&] {
        FileOps ops = testing::ops_without_sync();
        bool is_first = true;
        ops.remove = [&](NativeFile at, const char* name) {
            if (!std::exchange(is_first, false)) return FileSystem::remove(at, name);
            errno = EIO;
            return -1;
        };
        file_storage_on(ops, dir / "store", {})->put_if_absent("k", "content");
        return std::to_string(testing::temporary_files_below(dir.path())) + " left";
    });
    CHECK(ended == "1 left");
    CHECK(file_storage(dir / "store")->get("k") == "content");
    CHECK(testing::temporary_files_below(dir.path()) == 0);
}

TEST_CASE("a temporary file swept before its lock was held is made again", "[storage][file]") {
    const TempDir dir;
    FileOps ops = testing::ops_without_sync();
    int swept = 0;
    ops.lock = [&](NativeFile file) {
        if (swept++ < 3) fs::remove(fs::read_symlink("/proc/self/fd/" + std::to_string(file)));
        return FileSystem::lock(file);
    };
    const auto storage = file_storage_on(ops, dir / "store", {});
    storage->put_if_absent("k", "x");
    CHECK(swept > 3);
    CHECK(storage->get("k") == "x");
}
