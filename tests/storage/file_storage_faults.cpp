// What the file storage does when system calls fail.
#include "file_tools.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <system_error>

using namespace whittle;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::TempDir;
using testing::temporary_files_below;
using testing::write_streaming;
namespace fs = std::filesystem;

namespace {

enum class Call { open, make_directory, write, sync_data, sync_names, close, lock, rename, link, remove };

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
FileOps ops_with(const std::shared_ptr<Fault>& fault) {
    const FileOps real = testing::ops_without_sync();
    FileOps ops;
    ops.open = [=](NativeFile at, const char* path, OpenAs how) {
        return fault->hits(Call::open) ? no_file : real.open(at, path, how);
    };
    ops.make_directory = [=](NativeFile at, const char* path) {
        return fault->hits(Call::make_directory) ? -1 : real.make_directory(at, path);
    };
    ops.write = [=](NativeFile file, const void* data, std::size_t size) -> std::int64_t {
        if (fault->hits(Call::write)) return -1;
        return real.write(file, data, size > 1 ? size / 2 : size);
    };
    ops.sync_data = [=](NativeFile file) { return fault->hits(Call::sync_data) ? -1 : real.sync_data(file); };
    ops.sync_names = [=](NativeFile file) { return fault->hits(Call::sync_names) ? -1 : real.sync_names(file); };
    ops.close = [=](NativeFile file) {
        real.close(file);
        return fault->hits(Call::close) ? -1 : 0;
    };
    ops.lock = [=](NativeFile file) { return fault->hits(Call::lock) ? -1 : real.lock(file); };
    ops.rename = [=](NativeFile from, const char* a, NativeFile to, const char* b) {
        return fault->hits(Call::rename) ? -1 : real.rename(from, a, to, b);
    };
    ops.link = [=](NativeFile from, const char* a, NativeFile to, const char* b) {
        return fault->hits(Call::link) ? -1 : real.link(from, a, to, b);
    };
    ops.remove = [=](NativeFile at, const char* name) {
        return fault->hits(Call::remove) ? -1 : real.remove(at, name);
    };
    return ops;
}

}  // namespace

TEST_CASE("whichever system call fails, the object is absent or whole, nothing else is left, and the next write works",
          "[storage][file]") {
    const Call call = GENERATE(Call::open, Call::make_directory, Call::write, Call::sync_data, Call::sync_names,
                               Call::close, Call::lock, Call::rename, Call::link);
    const int error = GENERATE(ENOSPC, EROFS, EIO);
    const bool streaming = GENERATE(false, true);
    const std::string content(3'000, 'c');
    int failed = 0;
    for (int at = 1; at < 100; ++at) {
        CAPTURE(static_cast<int>(call), error, streaming, at);
        const TempDir dir(testing::in_memory());
        (void)file_storage(dir / "store");
        const auto fault = std::make_shared<Fault>(Fault{.call = call, .at = 0, .error = error});
        const auto storage = file_storage_on(ops_with(fault), dir / "store", {.durability = Durability::full});
        fault->calls = 0;
        fault->at = at;
        const std::string text = error_of([&] {
            streaming ? write_streaming(*storage, "a/b/k", content) : storage->put_if_absent("a/b/k", content);
        });
        const bool threw = text != "no error";
        fault->at = -1;
        CHECK(temporary_files_below(dir.path()) == 0);
        const auto found = storage->get("a/b/k");
        CHECK((!found || *found == content));
        CHECK((threw || found == content));
        if (threw) CHECK(contains(text, std::error_code(error, std::generic_category()).message()));
        const auto reopened = file_storage_on(testing::ops_without_sync(), dir / "store", {});
        Storage& usable = call == Call::sync_names ? *reopened : *storage;
        CHECK_NOTHROW(usable.put_if_absent("other/k", "other"));
        CHECK(reopened->get("other/k") == "other");
        CHECK_NOTHROW(reopened->put_if_absent("a/b/k", found ? content : "another content"));
        if (!threw) break;
        ++failed;
    }
    CHECK(failed > 0);
    CHECK(failed < 99);
}

TEST_CASE("a failed removal says so, and the object stays whole or goes", "[storage][file]") {
    const TempDir dir;
    const int at = GENERATE(1, 2);
    file_storage_on(testing::ops_without_sync(), dir / "store", {})->put_if_absent("k", "content");
    const auto fault = std::make_shared<Fault>(Fault{.call = Call::remove, .at = at, .error = EIO});
    const auto storage = file_storage_on(ops_with(fault), dir / "store", {});
    CHECK(contains(error_of([&] { (void)storage->remove("k"); }), "Input/output error"));
    CHECK(storage->get("k") == (at == 1 ? std::optional<std::string>("content") : std::nullopt));
    storage->put_if_absent("k", at == 1 ? "content" : "new");
    CHECK(storage->remove("k"));
}

TEST_CASE("short and interrupted writes, reads and locks are continued", "[storage][file]") {
    const TempDir dir;
    FileOps ops = testing::ops_without_sync();
    int turn = 0;
    const auto interrupted = [&turn] {
        errno = EINTR;
        return ++turn % 2 == 1;
    };
    ops.write = [&](NativeFile file, const void* data, std::size_t size) -> std::int64_t {
        return interrupted() ? -1 : FileSystem::write(file, data, std::min<std::size_t>(size, 7));
    };
    ops.read_at = [&](NativeFile file, void* data, std::size_t size, std::int64_t at) -> std::int64_t {
        return interrupted() ? -1 : FileSystem::read_at(file, data, std::min<std::size_t>(size, 5), at);
    };
    ops.lock = [&](NativeFile file) { return interrupted() ? -1 : FileSystem::lock(file); };
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
    FileOps ops;
    ops.sync_data = [&](NativeFile) {
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
    FileOps ops;
    ops.sync_data = [&](NativeFile file) { return ++data, FileSystem::sync_data(file); };
    ops.sync_names = [&](NativeFile file) { return ++directories, FileSystem::sync_names(file); };
    const auto storage = file_storage_on(ops, dir / "store", {.durability = durability});
    const int parents = FileSystem::syncs_names() ? 1 : 0;  // the root's parent
    CHECK(directories == (durability == Durability::full ? parents : 0));
    storage->put_if_absent("a/b/k", "x");
    CHECK(data == (durability == Durability::none ? 0 : 2));                   // object and sidecar
    CHECK(directories == (durability == Durability::full ? parents + 3 : 0));  // root, a, a/b
    storage->put_if_absent("a/b/k", "x");                                      // the first writer may have synced less
    CHECK(data == (durability == Durability::none ? 0 : 4));
    CHECK(directories == (durability == Durability::full ? parents + 6 : 0));
}

TEST_CASE("a failed fsync of a directory is not tried again before the storage is opened anew", "[storage][file]") {
    const TempDir dir;
    bool broken = true;
    FileOps ops = testing::ops_without_sync();
    ops.sync_names = [&](NativeFile file) {
        FileStatus status;
        FileStatus of_broken;
        if (!broken || FileSystem::status_of(file, status) != 0 ||
            FileSystem::status_at(working_directory, (dir / "store/a").c_str(), of_broken) != 0)
            return 0;
        errno = EIO;
        return status.id == of_broken.id ? -1 : 0;
    };
    const FileStorageOptions full{.durability = Durability::full};
    const auto storage = file_storage_on(ops, dir / "store", full);
    CHECK(error_of([&] { storage->put_if_absent("a/k", "x"); }) ==
          "put \"a/k\": fsync of the directory: Input/output error");
    broken = false;
    const std::string refused = "fsync of the directory failed before; open the storage anew";
    CHECK(error_of([&] { storage->put_if_absent("a/k", "x"); }) == "put \"a/k\": " + refused);
    CHECK(error_of([&] { storage->put_if_absent("a/other", "x"); }) == "put \"a/other\": " + refused);
    storage->put_if_absent("b/k", "x");
    file_storage_on(ops, dir / "store", full)->put_if_absent("a/k", "x");
    CHECK(storage->get("a/k") == "x");
}

TEST_CASE("no sweep takes a file between its last byte and its name", "[storage][file]") {
    const TempDir dir;
    FileOps ops = testing::ops_without_sync();
    int sweeps = 0;
    ops.link = [&](NativeFile from, const char* a, NativeFile to, const char* b) {
        const fs::path temporary = dir / "store/.whittle-tmp";
        for (const auto& entry : fs::directory_iterator(temporary))
            fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
        (void)file_storage(dir / "store");
        ++sweeps;
        return FileSystem::link(from, a, to, b);
    };
    const auto storage = file_storage_on(ops, dir / "store", {});
    storage->put_if_absent("k", "x");
    write_streaming(*storage, "s", "stream");
    CHECK(sweeps == 2);
    CHECK(storage->get("k") == "x");
    CHECK(storage->get("s") == "stream");
}

TEST_CASE("a stream that pauses for longer than the age of temporary files is not swept", "[storage][file]") {
    const TempDir dir;
    const auto writer = file_storage(dir / "store")->open_writer();
    writer->write("one ");
    for (const auto& entry : fs::directory_iterator(dir / "store/.whittle-tmp"))
        fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(48));
    const auto storage = file_storage(dir / "store");
    writer->write("two");
    writer->commit("k");
    CHECK(storage->get("k") == "one two");
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
