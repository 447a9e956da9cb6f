// What the SQLite storage does when its disk fails.
#include "sqlite_disk.hpp"
#include "sqlite_tools.hpp"
#include "support/catch.hpp"

#include <map>

using namespace whittle;
using testing::DiskCall;
using testing::errc_of;
using testing::error_of;
using testing::SqliteDisk;
using testing::TempDir;

namespace {

const std::map<std::string, std::string>& planted_objects() {
    static const std::map<std::string, std::string> objects{
        {"a", "small"}, {"b", std::string(70'000, 'b')}, {"empty", ""}, {"stream", std::string(1'100'000, 's')}};
    return objects;
}

/// Everything that a storage can do. What was acknowledged is in `acknowledged`.
void use_all(const std::string& path, Durability durability, std::map<std::string, std::string>& acknowledged) {
    const auto storage = sqlite_storage_on(SqliteDisk::name, path, {.durability = durability, .busy_timeout_ms = 50});
    for (const auto& [key, content] : planted_objects()) {
        if (key == "stream") {
            testing::write_pieces(*storage, key, content, 5);
        } else {
            storage->put_if_absent(key, content);
        }
        acknowledged.emplace(key, content);
    }
    storage->open_writer()->write(std::string(1'100'000, 'd'));
    for (const auto& [key, content] : planted_objects()) {
        if (storage->get(key) != content) throw Error(Errc::not_found, "wrong content of " + key);
    }
    acknowledged.erase("b");
    if (!storage->remove("b")) throw Error(Errc::not_found, "b");
    storage->backup(path + "-copy" + std::to_string(acknowledged.size()));
}

/// What is there is what was written, all that was acknowledged is there, and the file takes it all again.
void check_after(const std::string& path, const std::map<std::string, std::string>& acknowledged) {
    const auto storage = sqlite_storage(path);
    for (const std::string& key : testing::keys_below(*storage, "")) {
        CAPTURE(key);
        CHECK(storage->get(key) == planted_objects().at(key));
    }
    for (const auto& [key, content] : acknowledged) {
        CAPTURE(key);
        CHECK(storage->get(key) == content);
    }
    CHECK(storage->verify().empty());
    for (const auto& [key, content] : planted_objects()) storage->put_if_absent(key, content);
    CHECK(testing::RawDatabase(path).number("SELECT count(*) FROM streams") == 0);
}

struct DiskFault {
    const char* what = "";
    DiskCall call{};
    int code = 0;
};

/// Most in one transaction, some in several.
std::string content_before_power_failure(int object) {
    const int bytes = object % 20 == 15 ? 2'300'000 : 1 + object * object * 20;
    return std::string(static_cast<std::size_t>(bytes), static_cast<char>('a' + object % 26));
}

}  // namespace

TEST_CASE("a call of the disk that fails, whichever it is, is an error that loses nothing acknowledged",
          "[storage][sqlite]") {
    const auto fault = GENERATE(DiskFault{"EIO on write", DiskCall::write, SQLITE_IOERR_WRITE},
                                DiskFault{"ENOSPC on write", DiskCall::write, SQLITE_FULL},
                                DiskFault{"EIO on read", DiskCall::read, SQLITE_IOERR_READ},
                                DiskFault{"EIO on fsync", DiskCall::sync, SQLITE_IOERR_FSYNC},
                                DiskFault{"EIO on truncate", DiskCall::truncate, SQLITE_IOERR_TRUNCATE},
                                DiskFault{"EACCES on open", DiskCall::open, SQLITE_CANTOPEN},
                                DiskFault{"EIO on unlink", DiskCall::remove, SQLITE_IOERR_DELETE},
                                DiskFault{"ENOLCK on lock", DiskCall::lock, SQLITE_IOERR_LOCK},
                                DiskFault{"EIO on the shared memory", DiskCall::shared_memory, SQLITE_IOERR_SHMMAP});
    const bool for_good = GENERATE(false, true);
    const TempDir dir(testing::in_memory());
    SqliteDisk& disk = SqliteDisk::instance();
    int failures = 0;
    const auto step = testing::every(fault.call == DiskCall::write || fault.call == DiskCall::read ? 101 : 2);
    for (std::size_t at = 1;; at += step) {
        CAPTURE(fault.what, at, for_good);
        const std::string path = dir / ("store" + std::to_string(at));
        std::map<std::string, std::string> acknowledged;
        disk.fail(fault.call, static_cast<int>(at), fault.code, for_good);
        const auto error = errc_of([&] { use_all(path, Durability::full, acknowledged); });
        const bool is_reached = disk.calls() >= static_cast<int>(at);
        disk.heal();
        if (error) {
            ++failures;
            CHECK((error == Errc::storage_failed || error == Errc::damaged));
        }
        check_after(path, acknowledged);
        for (const auto& entry : std::filesystem::directory_iterator(dir.path())) std::filesystem::remove(entry.path());
        if (!is_reached) break;
    }
    const bool may_go_unseen = fault.call == DiskCall::remove || fault.call == DiskCall::truncate;
    CHECK((failures > 0 || may_go_unseen || !for_good));
}

TEST_CASE("after a power failure what was acknowledged is there with durability full, and nothing is torn",
          "[storage][sqlite]") {
    const Durability durability = GENERATE(Durability::full, Durability::data, Durability::none);
    const TempDir dir(testing::in_memory());
    const std::string path = dir / "store";
    std::mt19937 random(7);
    const int rounds = testing::is_soak() ? 300 : 12;
    int lost = 0;
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round, static_cast<int>(durability));
        const int last = static_cast<int>(random() % 60);
        const std::string done = testing::in_child([&] {
            SqliteDisk::instance().keep_synced(true);
            const auto storage = sqlite_storage_on(SqliteDisk::name, path, {.durability = durability});
            for (int i = 0; i < last; ++i) {
                const std::string content = content_before_power_failure(i);
                if (i % 3 == 0) {
                    testing::write_pieces(*storage, std::to_string(i), content, 2);
                } else {
                    storage->put_if_absent(std::to_string(i), content);
                }
            }
            ::_exit(0);  // nothing is closed
            return std::string();
        });
        REQUIRE(done.empty());
        testing::lose_power(path, random);
        testing::lose_power(path + "-wal", random);
        std::filesystem::remove(path + "-shm");
        const auto opened = errc_of([&] {
            const auto storage = sqlite_storage(path);
            for (int i = 0; i < last; ++i) {
                const std::string expected = content_before_power_failure(i);
                const auto found = storage->get(std::to_string(i));
                if (!found) ++lost;
                if (found) CHECK(*found == expected);
            }
            if (durability != Durability::none) CHECK(storage->verify().empty());
        });
        if (opened) ++refused;
        if (opened) CHECK((opened == Errc::damaged || opened == Errc::storage_failed));
        for (const auto& entry : std::filesystem::directory_iterator(dir.path())) std::filesystem::remove(entry.path());
    }
    if (durability == Durability::full) CHECK(lost == 0);
    if (durability != Durability::none) CHECK(refused == 0);
    if (durability != Durability::full) CHECK(lost + refused > 0);  // the disk does forget
}

TEST_CASE("a storage goes on after a call of the disk that failed", "[storage][sqlite]") {
    const TempDir dir(testing::in_memory());
    SqliteDisk& disk = SqliteDisk::instance();
    const DiskCall call = GENERATE(DiskCall::write, DiskCall::sync);
    const auto storage = sqlite_storage_on(SqliteDisk::name, dir / "store", {.durability = Durability::full});
    storage->put_if_absent("before", "content");
    const std::string large(3'300'000, 'l');
    for (int at = 1; at <= 20; ++at) {
        CAPTURE(at, static_cast<int>(call));
        const std::string small_key = "small/" + std::to_string(at);
        const std::string large_key = "large/" + std::to_string(at);
        disk.fail(call, at, SQLITE_IOERR_WRITE, true);
        const auto small_failed = errc_of([&] { storage->put_if_absent(small_key, "x"); });
        const auto large_failed = errc_of([&] { testing::write_pieces(*storage, large_key, large, 3); });
        disk.heal();
        CHECK((at > 1 || small_failed == Errc::storage_failed));
        if (!small_failed) CHECK(storage->get(small_key) == "x");
        if (!large_failed) CHECK(storage->get(large_key) == large);
        storage->put_if_absent(small_key, "x");
        storage->put_if_absent(large_key, large);
        CHECK(storage->get(small_key) == "x");
        CHECK(storage->get(large_key) == large);
    }
    CHECK(storage->get("before") == "content");
    CHECK(storage->verify().empty());
}
