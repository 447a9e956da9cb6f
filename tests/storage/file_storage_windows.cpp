// The file storage on Windows: what its file system does otherwise. On other systems these cases are not compiled.
#if defined(_WIN32)

#    include "../../src/storage/file_names.hpp"

#    include "file_tools.hpp"
#    include "support/catch.hpp"

#    include <windows.h>

#    include <thread>

using namespace whittle;
using testing::bytes_of;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::TempDir;
using testing::temporary_files_below;
namespace fs = std::filesystem;

namespace {

HANDLE open_exclusively(const fs::path& path) {
    return ::CreateFileW(path.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
}

/// Another program that has the file open for a moment, and lets nobody else in.
class Scanner {
public:
    Scanner(const fs::path& path, std::chrono::milliseconds time)
        : file_(open_exclusively(path)), thread_([this, time] {
              std::this_thread::sleep_for(time);
              if (file_ != INVALID_HANDLE_VALUE) ::CloseHandle(file_);
          }) {}
    ~Scanner() { thread_.join(); }
    [[nodiscard]] bool has_it() const noexcept { return file_ != INVALID_HANDLE_VALUE; }

private:
    HANDLE file_;
    std::thread thread_;
};

/// Of the files of `storage`: whether Windows gives the path to the object, as to any program.
bool is_reachable(const Storage& storage, const std::string& key, const std::string& content) {
    return bytes_of(fs::path(std::u8string(reinterpret_cast<const char8_t*>(storage.locate(key).c_str())))) == content;
}

}  // namespace

TEST_CASE("file storage keeps the storage contract", "[storage][file][contract]") {
    const auto open = [](const std::string& root) { return file_storage(root, {.durability = Durability::none}); };
    testing::check_conformance(testing::each_in_a_folder(open), testing::suite_sizes(5 * 1'024));
}

TEST_CASE("file storage keeps the storage contract at every durability", "[storage][file]") {
    const Durability durability = GENERATE(Durability::data, Durability::full);
    const auto open = [&](const std::string& root) { return file_storage(root, {.durability = durability}); };
    testing::check_conformance(testing::each_in_a_folder(open), {.objects = 100, .rounds = 5});
}

TEST_CASE("keys that Windows would take for one, or for a device, are objects of their own", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    const std::vector<std::string> keys{"A/b", "a/B", "a/b", "ab.", "ab", "aux", "com1.txt", "con/nul", "prn.", "lpt0"};
    for (const std::string& key : keys) storage->put_if_absent(key, "content of " + key);
    for (const std::string& key : keys) {
        CAPTURE(key);
        CHECK(storage->get(key) == "content of " + key);
        CHECK(is_reachable(*storage, key, "content of " + key));
    }
    std::vector<std::string> sorted = keys;
    std::ranges::sort(sorted);
    CHECK(testing::keys_below(*storage, "") == sorted);
    for (const std::string& key : keys) CHECK(storage->remove(key));
    CHECK(testing::keys_below(*storage, "").empty());
}

TEST_CASE("a file that another program put there is no object", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "x");
    testing::overwrite(fs::path(dir / "store") / "Thumbs.db", "not ours");
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"k"});
    CHECK_FALSE(storage->get("Thumbs.db"));
}

TEST_CASE("a path longer than 260 characters works", "[storage][file]") {
    const TempDir dir;
    std::string key = std::string(100, 'a') + "/" + std::string(100, 'b') + "/" + std::string(100, 'c') + "/k";
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent(key, "content");
    CHECK(storage->get(key) == "content");
    CHECK(file_storage(dir / ("store/" + key.substr(0, key.size() - 2)))->get("k") == "content");
    CHECK(storage->remove(key));
    CHECK_FALSE(storage->get(key));
}

TEST_CASE("a root may have any letters, and back slashes", "[storage][file]") {
    const TempDir dir;
    const std::string root = dir.path().string() +
                             "/b\xC3\xBC"
                             "cher\\\xE6\x96\x87\\store\\";
    file_storage(root)->put_if_absent("k", "content");
    CHECK(file_storage(root)->get("k") == "content");
    CHECK(contains(file_storage(root)->locate("k"),
                   "/b\xC3\xBC"
                   "cher/\xE6\x96\x87/store/k"));
}

TEST_CASE("who has an object open for a moment is waited for", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "content");
    {
        const Scanner scanner(dir / "store/k", std::chrono::milliseconds(100));
        REQUIRE(scanner.has_it());
        CHECK(storage->get("k") == "content");
    }
    const Scanner scanner(dir / "store/k", std::chrono::milliseconds(100));
    REQUIRE(scanner.has_it());
    CHECK(storage->remove("k"));
}

TEST_CASE("who keeps an object open is not waited for without end", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "content");
    const HANDLE held = open_exclusively(dir / "store/k");
    REQUIRE(held != INVALID_HANDLE_VALUE);
    CHECK(errc_of([&] { (void)storage->get("k"); }) == Errc::storage_failed);
    ::CloseHandle(held);
    CHECK(storage->get("k") == "content");
}

TEST_CASE("an object is removed, and written again, while a reader has it open", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "content");
    const NativeFile reader = FileSystem::open(working_directory, (dir / "store/k").c_str(), OpenAs::reading);
    REQUIRE(reader != no_file);
    CHECK(storage->remove("k"));
    FileSystem::close(reader);
    storage->put_if_absent("k", "other");
    CHECK(storage->get("k") == "other");
}

TEST_CASE("a lock is held by one at a time, shared by duplicates, and gone with the last", "[storage][file]") {
    const TempDir dir;
    const std::string path = dir / "lock";
    const NativeFile first = FileSystem::open(working_directory, path.c_str(), OpenAs::lock_file);
    const NativeFile second = FileSystem::open(working_directory, path.c_str(), OpenAs::lock_file);
    REQUIRE(FileSystem::lock(first) == 0);
    CHECK(FileSystem::try_lock(second) != 0);
    const NativeFile copy = FileSystem::duplicate(first);
    FileSystem::close(first);
    CHECK(FileSystem::try_lock(second) != 0);
    FileSystem::unlock(copy);
    CHECK(FileSystem::try_lock(second) == 0);
    FileSystem::close(copy);
    FileSystem::close(second);
}

TEST_CASE("a reparse point is not followed", "[storage][file]") {
    const TempDir dir;
    fs::create_directory(dir / "outside");
    const auto storage = file_storage(dir / "store");
    std::error_code failed;
    fs::create_directory_symlink(dir / "outside", dir / "store/link", failed);
    if (failed) SKIP_WITH_MESSAGE("this user, or wine, makes no symbolic links: " + failed.message());
    CHECK(contains(error_of([&] { storage->put_if_absent("link/k", "x"); }), "reparse point"));
    CHECK(fs::is_empty(dir / "outside"));
}

TEST_CASE("threads write and read one store", "[storage][file]") {
    const TempDir dir;
    const auto storage = file_storage(dir / "store");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 25; ++i) {
                const std::string key = "c/" + std::to_string(i);
                storage->put_if_absent(key, "content " + std::to_string(i));
                if (storage->get(key) != "content " + std::to_string(i)) std::abort();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(testing::keys_below(*storage, "").size() == 25);
    CHECK(temporary_files_below(dir.path()) == 0);
}

#endif
