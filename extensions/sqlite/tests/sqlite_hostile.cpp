// Files and directories that are not what the SQLite storage expects, and others who hold the file.
#include "../src/sqlite_schema.hpp"
#include "sqlite_tools.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <random>

using namespace whittle;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::RawDatabase;
using testing::TempDir;
namespace fs = std::filesystem;

namespace {

std::string opening(const std::string& path, const SqliteStorageOptions& options = {}) {
    return error_of([&] { (void)sqlite_storage(path, options); });
}

std::string quoted_open(const std::string& path) { return "open \"" + path + "\": "; }

}  // namespace

TEST_CASE("a file of another program or of a newer whittle is refused by name and left as it is", "[storage][sqlite]") {
    const TempDir dir;
    { RawDatabase(dir / "other").run("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)"); }
    CHECK(opening(dir / "other") == quoted_open(dir / "other") + "the file is a database of another program");
    CHECK(RawDatabase(dir / "other").number("SELECT x FROM theirs") == 1);
    (void)sqlite_storage(dir / "newer");
    { RawDatabase(dir / "newer").run("PRAGMA user_version = 7"); }
    CHECK(opening(dir / "newer") ==
          quoted_open(dir / "newer") + "the file is of version 7, of a newer whittle; this one knows versions up to 1");
    CHECK(RawDatabase(dir / "newer").number("PRAGMA user_version") == 7);
    std::ofstream(dir / "text") << std::string(5'000, 'x');
    CHECK(errc_of([&] { (void)sqlite_storage(dir / "text"); }) == Errc::damaged);
    CHECK(opening(dir / "text") == quoted_open(dir / "text") + "file is not a database");
}

TEST_CASE("an older file is brought up to the newest version, all at once or not at all", "[storage][sqlite]") {
    const TempDir dir;
    const auto steps = sqlite_schema_steps();
    sqlite_storage(dir / "store")->put_if_absent("k", "content");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    {
        SqliteConnection connection({.path = "file:" + (dir / "store")}, "migrate", deadline);
        std::vector<const char*> broken(steps.begin(), steps.end());
        broken.push_back("ALTER TABLE objects ADD COLUMN note TEXT; UPDATE no_such_table SET x = 1");
        CHECK(errc_of([&] { bring_sqlite_schema_up(connection, broken); }) == Errc::storage_failed);
        CHECK(connection.number("PRAGMA user_version") == static_cast<std::int64_t>(steps.size()));
        CHECK(connection.number("SELECT count(*) FROM pragma_table_info('objects') WHERE name = 'note'") == 0);
        std::vector<const char*> newer(steps.begin(), steps.end());
        newer.push_back("ALTER TABLE objects ADD COLUMN note TEXT");
        bring_sqlite_schema_up(connection, newer);
        CHECK(connection.number("PRAGMA user_version") == static_cast<std::int64_t>(newer.size()));
        CHECK(connection.number("SELECT count(*) FROM objects WHERE note IS NULL") == 1);
    }
    CHECK(contains(opening(dir / "store"), "of a newer whittle"));
}

TEST_CASE("links, directories and what belongs to others are refused", "[storage][sqlite]") {
    const TempDir dir;
    (void)sqlite_storage(dir / "real");
    fs::create_symlink(dir / "real", dir / "link");
    CHECK(opening(dir / "link") == quoted_open(dir / "link") + "not a regular file");
    fs::create_directory(dir / "folder");
    CHECK(opening(dir / "folder") == quoted_open(dir / "folder") + "not a regular file");
    CHECK(opening(dir / "none/store") == quoted_open(dir / "none/store") + "No such file or directory");
    CHECK(opening("") == quoted_open("") + "the path names no file");
    CHECK(opening(dir.path().string() + "/..") == quoted_open(dir.path().string() + "/..") + "the path names no file");
    fs::create_directory(dir / "shared");
    REQUIRE(::chmod((dir / "shared").c_str(), 0777) == 0);
    CHECK(opening(dir / "shared/store") == quoted_open(dir / "shared/store") + "others may write to the directory");
    CHECK_FALSE(fs::exists(dir / "shared/store"));
    fs::create_directory_symlink(dir.path(), dir / "way");  // of a directory it is fine
    CHECK(opening(dir / "way/real") == "no error");
    if (!testing::can_give_away(dir.path())) return;
    REQUIRE(::chown((dir / "real").c_str(), testing::nobody, testing::nobody) == 0);
    CHECK(opening(dir / "real") == quoted_open(dir / "real") + "the file belongs to another user");
}

TEST_CASE("names that mean something in a URI are names", "[storage][sqlite]") {
    const TempDir dir;
    for (const char* name : {"a b?mode=memory", "c#d", "50%25", "e&vfs=none", "\xc3\xa9"}) {
        CAPTURE(name);
        sqlite_storage(dir / name)->put_if_absent("k", name);
        CHECK(fs::exists(dir / name));
        CHECK(sqlite_storage(dir / name)->get("k") == name);
    }
}

TEST_CASE("a file that cannot be written can be read", "[storage][sqlite]") {
    if (::geteuid() != 0) return;  // below, a user without root's rights does it
    const TempDir dir;
    fs::create_directory(dir / "store");
    const std::string path = dir / "store/objects";
    sqlite_storage(path)->put_if_absent("k", std::string(3'000'000, 'x'));
    if (!testing::can_give_away(dir.path())) return;
    for (const char* name : {"", "/store", "/store/objects"})
        REQUIRE(::chown((dir.path().string() + name).c_str(), testing::nobody, testing::nobody) == 0);
    REQUIRE(::chmod(path.c_str(), 0400) == 0);
    const bool directory_too = GENERATE(false, true);
    if (directory_too) REQUIRE(::chmod((dir / "store").c_str(), 0500) == 0);
    CAPTURE(directory_too);
    CHECK(testing::in_child([&]() -> std::string {
              if (::setuid(testing::nobody) != 0) return "no other user";
              const auto storage = sqlite_storage(path);
              if (storage->get("k") != std::string(3'000'000, 'x')) return "other content";
              if (!storage->verify().empty()) return storage->verify().front();
              if (errc_of([&] { storage->put_if_absent("k", std::string(3'000'000, 'x')); }))
                  return "the same put fails";
              return error_of([&] { storage->put_if_absent("k2", "y"); }) + "; " +
                     error_of([&] { (void)storage->remove("k"); });
          }) ==
          "put \"k2\": the file was opened for reading, since it cannot be written; "
          "remove \"k\": the file was opened for reading, since it cannot be written");
}

TEST_CASE("who holds the file is waited for until the deadline, and reading goes on", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store", {.busy_timeout_ms = 150});
    storage->put_if_absent("k", "content");
    RawDatabase other(dir / "store");
    other.run("BEGIN IMMEDIATE");
    const auto begun = std::chrono::steady_clock::now();
    CHECK(error_of([&] { storage->put_if_absent("k2", "x"); }) ==
          "put \"k2\": others hold the file: database is locked");
    const auto waited = std::chrono::steady_clock::now() - begun;
    CHECK(waited >= std::chrono::milliseconds(150));
    CHECK(waited < std::chrono::seconds(5));
    CHECK(storage->get("k") == "content");
    CHECK(error_of([&] { (void)storage->remove("k"); }) == "remove \"k\": others hold the file: database is locked");
    std::thread ends([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        other.run("COMMIT");
    });
    CHECK(error_of([&] { storage->put_if_absent("k2", "x"); }) == "no error");
    ends.join();
    CHECK(storage->get("k2") == "x");
}

TEST_CASE("a storage that was opened before a fork is refused in the child", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    storage->put_if_absent("k", "content");
    CHECK(testing::in_child([&] {
              return error_of([&] { (void)storage->get("k"); }) + "; " + *sqlite_storage(dir / "store")->get("k");
          }) == "get \"k\": the storage was opened before a fork: open it again in the child; content");
    CHECK(storage->get("k") == "content");
}

TEST_CASE("a row that is longer than any of ours is an error, not so much memory", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    storage->put_if_absent("k", "content");
    { RawDatabase(dir / "store").run("UPDATE objects SET key = printf('%17825792s', 'k')"); }
    CHECK(contains(error_of([&] { storage->list("", [](const ObjectInfo&) { return true; }); }), "too big"));
}

TEST_CASE("a file with altered bytes gives no wrong content, and verify tells", "[storage][sqlite]") {
    const TempDir dir(testing::in_memory());
    const std::string path = dir / "store";
    std::map<std::string, std::string> expected;
    {
        const auto storage = sqlite_storage(path);
        for (int i = 0; i < 200; ++i) {
            const std::string key = "k/" + std::to_string(i);
            expected[key] = std::string(static_cast<std::size_t>(i * 20), static_cast<char>('a' + i % 26));
            storage->put_if_absent(key, expected[key]);
        }
    }
    const std::string whole = testing::bytes_of(path);
    std::mt19937 random(3);
    int noticed = 0;
    const int rounds = testing::is_soak() ? 1'000 : 40;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        std::string altered = whole;
        for (int changes = 0; changes < 8; ++changes) altered[random() % altered.size()] = static_cast<char>(random());
        if (round % 4 == 0) altered.resize(random() % altered.size());
        testing::overwrite(path, altered);
        bool damaged = false;
        const auto look = [&](auto&& action) {
            const auto error = errc_of(action);
            damaged |= error.has_value();
            if (error) CHECK((error == Errc::damaged || error == Errc::storage_failed));
        };
        look([&] {
            const auto storage = sqlite_storage(path);
            for (const auto& object : expected) {
                look([&] {
                    const auto found = storage->get(object.first);
                    damaged |= !found;
                    if (found) CHECK(*found == object.second);
                });
            }
            look([&] { (void)testing::keys_below(*storage, ""); });
            if (damaged) CHECK_FALSE(storage->verify().empty());
        });
        noticed += damaged ? 1 : 0;
        for (const char* beside : {"-wal", "-shm", "-writers"}) fs::remove(path + beside);
    }
    CHECK(noticed > rounds / 2);
}
