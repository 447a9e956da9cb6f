#include "whittle/sqlite/sqlite_storage.hpp"

#include "sqlite_tools.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <latch>
#include <mutex>
#include <thread>

using namespace whittle;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::RawDatabase;
using testing::TempDir;

namespace {

mode_t mode_of_file(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("sqlite storage keeps the storage contract at every durability", "[storage][sqlite][contract]") {
    const Durability durability = GENERATE(Durability::none, Durability::data, Durability::full);
    if (testing::is_soak_of_sizes() && durability != Durability::data) return;
    testing::check_conformance(testing::each_in_a_folder([=](const std::string& path) {
                                   return sqlite_storage(path, {.durability = durability});
                               }),
                               testing::suite_sizes(5 * 1'024));
}

TEST_CASE("the file is its owner's alone, and so is what stands beside it", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    testing::write_pieces(*storage, "k", std::string(3 << 20, 'x'), 3);
    const auto writer = storage->open_writer();
    writer->write(std::string(3 << 20, 'y'));
    for (const char* name : {"store", "store-wal", "store-shm", "store-writers"}) {
        CAPTURE(name);
        CHECK(mode_of_file(dir / name) == 0600);
    }
}

TEST_CASE("a short or altered object is damaged, with expected and found, and the same put mends it",
          "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    storage->put_if_absent("k", "0123456789");
    RawDatabase raw(dir / "store");
    raw.run("UPDATE chunks SET bytes = x'3031323334'");
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::damaged);
    CHECK(errc_of([&] { (void)storage->get("k", 0, 2); }) == Errc::damaged);
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": expected 10 bytes, found 5");
    raw.run("UPDATE chunks SET bytes = CAST('0123456789ab' AS BLOB)");
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": expected 10 bytes, found 12");
    raw.run("UPDATE chunks SET bytes = CAST('0123456X89' AS BLOB)");
    CHECK(contains(error_of([&] { (void)storage->get("k"); }), "expected SHA-256 84d89877"));
    CHECK(storage->get("k", 2, 3) == "234");  // a range is checked by length only
    raw.run("DELETE FROM chunks");
    CHECK(error_of([&] { (void)storage->get("k", 1, 1); }) == "get \"k\": expected 10 bytes, found 0");
    CHECK(errc_of([&] { storage->put_if_absent("k", "other"); }) == Errc::already_exists);
    storage->put_if_absent("k", "0123456789");
    CHECK(storage->get("k") == "0123456789");
    CHECK(storage->verify().empty());
}

TEST_CASE("a row that is another key's is damaged, not another object", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    storage->put_if_absent("k", "content");
    RawDatabase(dir / "store").run("UPDATE objects SET key = 'l'");
    CHECK_FALSE(storage->get("k"));
    CHECK(error_of([&] { (void)storage->get("l"); }) == "get \"l\": the object's row is altered");
    CHECK(errc_of([&] { storage->put_if_absent("l", "content"); }) == Errc::damaged);
    CHECK(storage->verify().size() == 1);
}

TEST_CASE("an object of many chunks of which one is missing is damaged where it is read", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    const std::string content(5 << 20, 'x');
    storage->put_if_absent("k", content);
    RawDatabase raw(dir / "store");
    raw.run("DELETE FROM chunks WHERE id & 0xfffff = 2");
    CHECK(storage->get("k", 0, 1 << 20)->size() == 1 << 20);
    CHECK(error_of([&] { (void)storage->get("k", 2 << 20, 1); }) == "get \"k\": expected 5242880 bytes, found 2097152");
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::damaged);
    testing::write_pieces(*storage, "k", content, 7);
    CHECK(storage->get("k") == content);
    CHECK(storage->verify().empty());
}

TEST_CASE("a dropped, refused or finished stream leaves no chunk behind", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    const std::string content(18 << 20, 'x');  // more than goes in one transaction
    storage->open_writer()->write(content);
    RawDatabase raw(dir / "store");
    CHECK(raw.number("SELECT count(*) FROM chunks") == 0);
    CHECK(raw.number("SELECT count(*) FROM streams") == 0);
    testing::write_pieces(*storage, "k", content, 9);
    testing::write_pieces(*storage, "k", content, 4);  // the same again
    CHECK(errc_of([&] { testing::write_pieces(*storage, "k", content + "y", 4); }) == Errc::already_exists);
    CHECK(raw.number("SELECT count(*) FROM chunks") == 18);
    CHECK(storage->remove("k"));
    CHECK(raw.number("SELECT count(*) FROM chunks") == 0);
    CHECK(raw.number("SELECT count(*) FROM streams") == 0);
    CHECK(storage->usage().objects == 0);
}

TEST_CASE("opening sweeps what dead writers left and leaves alone who lives", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    const auto living = storage->open_writer();
    living->write(std::string(3 << 20, 'l'));
    const std::string died = testing::in_child([&] {
        const auto own_open = sqlite_storage(dir / "store");
        const auto writer = own_open->open_writer();
        writer->write(std::string(18 << 20, 'd'));
        ::_exit(0);  // as if killed
        return std::string();
    });
    RawDatabase raw(dir / "store");
    CHECK(raw.number("SELECT count(*) FROM streams") == 2);
    CHECK(raw.number("SELECT count(*) FROM chunks") == 19);  // the last chunk of each was not full
    (void)sqlite_storage(dir / "store");
    CHECK(raw.number("SELECT count(*) FROM streams") == 1);
    CHECK(raw.number("SELECT count(*) FROM chunks") == 2);
    living->commit("k");
    CHECK(storage->get("k") == std::string(3 << 20, 'l'));
    CHECK(storage->verify().empty());
}

TEST_CASE("what is older than allowed is absent, and goes", "[storage][sqlite]") {
    const TempDir dir;
    const auto clock = std::make_shared<ManualClock>(1'700'000'000'000);
    const SqliteStorageOptions options{.expire_after_seconds = 60, .clock = clock};
    const auto storage = sqlite_storage(dir / "store", options);
    const std::string large(17 << 20, 'x');
    storage->put_if_absent("old", "1");
    storage->put_if_absent("large", large);
    clock->advance(std::chrono::seconds(59));
    storage->put_if_absent("young", "2");
    CHECK(storage->get("old") == "1");
    CHECK(storage->remove_expired() == 0);
    clock->advance(std::chrono::seconds(1));
    CHECK_FALSE(storage->get("old"));
    CHECK_FALSE(storage->stat("large"));
    CHECK_FALSE(storage->remove("old"));
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"young"});
    storage->put_if_absent("old", "other content");  // the key is free
    CHECK(storage->get("old") == "other content");
    CHECK(storage->remove_expired() == 1);
    CHECK(storage->usage().objects == 2);
    CHECK(storage->verify().empty());
    clock->advance(std::chrono::seconds(60));
    CHECK(sqlite_storage(dir / "store", options)->usage().objects == 0);
}

TEST_CASE("a file that has its most bytes refuses more, keeps the rest and takes again what is freed",
          "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store", {.max_file_bytes = 1 << 20});
    storage->put_if_absent("a", std::string(400'000, 'a'));
    CHECK(errc_of([&] { storage->put_if_absent("b", std::string(800'000, 'b')); }) == Errc::storage_failed);
    CHECK(error_of([&] { storage->put_if_absent("b", std::string(800'000, 'b')); }) ==
          "put \"b\": database or disk is full");
    CHECK(errc_of([&] { storage->open_writer()->write(std::string(3 << 20, 's')); }) == Errc::storage_failed);
    CHECK_FALSE(storage->get("b"));
    CHECK(storage->get("a") == std::string(400'000, 'a'));
    CHECK(storage->usage().file_bytes <= 1 << 20);
    storage->put_if_absent("c", std::string(300'000, 'c'));
    CHECK(storage->remove("a"));
    storage->put_if_absent("d", std::string(400'000, 'd'));
    CHECK(storage->usage().objects == 2);
    CHECK(storage->verify().empty());
}

TEST_CASE("a backup is whole, packed, private and never takes another file's place", "[storage][sqlite]") {
    const TempDir dir;
    const auto storage = sqlite_storage(dir / "store");
    for (int i = 0; i < 50; ++i) storage->put_if_absent("k/" + std::to_string(i), std::string(10'000, 'x'));
    storage->put_if_absent("large", std::string(3 << 20, 'y'));
    const auto writer = storage->open_writer();
    writer->write(std::string(3 << 20, 'z'));
    for (int i = 0; i < 40; ++i) CHECK(storage->remove("k/" + std::to_string(i)));
    storage->backup(dir / "copy");
    CHECK(mode_of_file(dir / "copy") == 0600);
    CHECK(errc_of([&] { storage->backup(dir / "copy"); }) == Errc::already_exists);
    CHECK(errc_of([&] { storage->backup(dir / "no/such/folder"); }) == Errc::storage_failed);
    const auto copy = sqlite_storage(dir / "copy");
    CHECK(testing::keys_below(*copy, "") == testing::keys_below(*storage, ""));
    CHECK(copy->get("large") == std::string(3 << 20, 'y'));
    CHECK(copy->verify().empty());
    CHECK(copy->usage().objects == 11);
    CHECK(RawDatabase(dir / "copy").number("SELECT count(*) FROM streams") == 0);  // nobody writes them there
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
        CHECK_FALSE(contains(entry.path().string(), "partial"));
}

TEST_CASE("a storage and its writers may be used by threads and outlive each other", "[storage][sqlite]") {
    const TempDir dir;
    auto storage = sqlite_storage(dir / "store");
    const auto writer = storage->open_writer();
    writer->write(std::string(2 << 20, 'x'));
    storage.reset();
    writer->commit("k");
    CHECK(sqlite_storage(dir / "store")->get("k") == std::string(2 << 20, 'x'));
}

TEST_CASE("a new file may be opened by many at once", "[storage][sqlite]") {
    const TempDir dir(testing::in_memory());
    for (int round = 0; round < 50; ++round) {
        const std::string path = dir / ("objects-" + std::to_string(round));
        std::latch start(4);
        std::mutex failures;
        std::string failure;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                start.arrive_and_wait();
                try {
                    sqlite_storage(path)->put_if_absent("k/" + std::to_string(t), "text");
                } catch (const std::exception& error) {
                    const std::lock_guard lock(failures);
                    failure = error.what();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(failure.empty());
        CHECK(testing::keys_below(*sqlite_storage(path), "").size() == 4);
    }
}

TEST_CASE("negative options are configuration errors", "[storage][sqlite]") {
    const TempDir dir;
    CHECK(error_of([&] { (void)sqlite_storage(dir / "store", {.busy_timeout_ms = -1, .max_file_bytes = -2}); }) ==
          "sqlite_storage: busy_timeout_ms = -1: 0 or more; max_file_bytes = -2: 0 or more");
}
