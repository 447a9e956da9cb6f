// Hostile names, planted files, files of other users, folders that may not be written.
#include "posix_tools.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <thread>

using namespace whittle;
using testing::bytes_of;
using testing::check_or_skip;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::everything_below;
using testing::in_child;
using testing::nobody;
using testing::overwrite;
using testing::skipped;
using testing::TempDir;
namespace fs = std::filesystem;

TEST_CASE("hostile keys touch nothing outside the root and nothing inside it", "[storage][file]") {
    const TempDir dir;
    fs::create_directories(dir / "a/b");
    overwrite(dir / "x", "outside");
    const auto storage = file_storage_on(testing::ops_without_openat2(GENERATE(0, ENOSYS)), dir / "a/b/store", {});
    storage->put_if_absent("c/k", "content");
    const auto before = everything_below(dir.path());
    std::vector<std::string> keys = refused_storage_keys();
    for (const char* key : {"../../../x", "c/../../../../x", "%2e%2e/%2e%2e/x", "..%2fx", "/proc/self/cwd/x"})
        keys.emplace_back(key);
    keys.push_back(dir / "x");
    for (const std::string& key : keys) {
        CAPTURE(key.substr(0, 40), key.size());
        CHECK(errc_of([&] { storage->put_if_absent(key, "hostile"); }) == Errc::invalid_key);
        CHECK(errc_of([&] { testing::write_streaming(*storage, key, "hostile"); }) == Errc::invalid_key);
        CHECK(errc_of([&] { (void)storage->get(key); }) == Errc::invalid_key);
        CHECK(errc_of([&] { (void)storage->stat(key); }) == Errc::invalid_key);
        CHECK(errc_of([&] { (void)storage->remove(key); }) == Errc::invalid_key);
        CHECK(errc_of([&] { (void)storage->locate(key); }) == Errc::invalid_key);
        for (const std::string& listed : testing::keys_below(*storage, key)) CHECK(listed.starts_with(key));
    }
    const auto after = everything_below(dir.path());
    CHECK((before == after));
    CHECK_FALSE(fs::exists("/etc/x"));
    storage->put_if_absent("c/next", "x");
    CHECK(storage->get("c/k") == "content");
}

TEST_CASE("planted files are never written, read or removed through, and the store stays usable", "[storage][file]") {
    const TempDir dir;
    fs::create_directories(dir / "outside/c");
    for (const char* name : {"k", ".k.meta", "c/k", "c/.k.meta", ".whittle-tmp-999999999-0"})
        overwrite(dir / ("outside/" + std::string(name)), "secret");
    const auto storage = file_storage_on(testing::ops_without_openat2(GENERATE(0, ENOSYS)), dir / "store", {});
    storage->put_if_absent("good/k", "content");
    fs::remove(dir / "store/.whittle-tmp");
    fs::create_directory_symlink("../outside", dir / "store/directory");
    fs::create_directory_symlink(dir / "nowhere", dir / "store/dangling");
    fs::create_symlink("directory", dir / "store/chain");
    fs::create_symlink("loop", dir / "store/loop");
    REQUIRE(::mkfifo((dir / "store/fifo").c_str(), 0600) == 0);
    fs::create_symlink(dir / "outside/k", dir / "store/good/file");
    fs::create_symlink(dir / "nowhere", dir / "store/good/gone");
    fs::create_hard_link(dir / "outside/k", dir / "store/good/.link.meta");
    const auto before = everything_below(dir.path(), dir / "store");

    for (const char* key : {"directory/k", "directory/c/k", "directory/new", "dangling/k", "chain/k", "chain/c/k",
                            "loop/k", "fifo/k", "good/file", "good/gone", "directory", "loop", "fifo"}) {
        CAPTURE(key);
        const auto refuses = [&](auto&& action) {
            const std::string text = error_of(action);
            CHECK((contains(text, "is a symbolic link, not a") || contains(text, "is a FIFO, not a")));
        };
        refuses([&] { storage->put_if_absent(key, "hostile"); });
        refuses([&] { testing::write_streaming(*storage, key, "hostile"); });
        refuses([&] { (void)storage->get(key); });
        refuses([&] { (void)storage->stat(key); });
        refuses([&] { (void)storage->remove(key); });
    }
    storage->put_if_absent("good/link", "x");  // its sidecar's name was taken by a link to a file outside
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"good/k", "good/link"});
    CHECK((before == everything_below(dir.path(), dir / "store")));
    CHECK(storage->get("good/k") == "content");
    CHECK(storage->get("good/link") == "x");
}

TEST_CASE("a link in the place of the temporary directory is not swept and not written through", "[storage][file]") {
    const TempDir dir;
    fs::create_directory(dir / "outside");
    overwrite(dir / "outside/.whittle-tmp-999999999-0", "looks like litter");
    fs::create_directory(dir / "store");
    fs::permissions(dir / "store", fs::perms::owner_all);
    fs::create_directory_symlink(dir / "outside", dir / "store/.whittle-tmp");
    const auto before = everything_below(dir / "outside");
    const auto storage = file_storage(dir / "store");
    CHECK(error_of([&] { storage->put_if_absent("k", "x"); }) ==
          "put \"k\": \".whittle-tmp\" is a symbolic link, not a directory");
    CHECK((before == everything_below(dir / "outside")));
    fs::remove(dir / "store/.whittle-tmp");
    storage->put_if_absent("k", "x");
    CHECK(storage->get("k") == "x");
}

TEST_CASE("a directory swapped for a link again and again never lets a write out", "[storage][file]") {
    const TempDir dir;
    fs::create_directory(dir / "outside");
    const auto storage = file_storage_on(testing::ops_without_openat2(GENERATE(0, ENOSYS)), dir / "store", {});
    storage->put_if_absent("a/b/0", "x");
    std::atomic<bool> done{false};
    std::thread attacker([&] {
        while (!done) {
            std::error_code ignored;
            fs::rename(dir / "store/a", dir / "store/hidden", ignored);
            fs::create_directory_symlink(dir / "outside", dir / "store/a", ignored);
            fs::remove_all(dir / "store/a", ignored);  // a write may have made it anew
            fs::rename(dir / "store/hidden", dir / "store/a", ignored);
        }
    });
    int refused = 0;
    for (int i = 1; i <= 300; ++i) {
        const auto error = errc_of([&] { storage->put_if_absent("a/b/" + std::to_string(i), "x"); });
        if (error && error != Errc::storage_failed) FAIL_CHECK("unexpected error");
        refused += error ? 1 : 0;
    }
    done = true;
    attacker.join();
    CHECK(fs::is_empty(dir / "outside"));
    CHECK(refused > 0);
    storage->put_if_absent("other/k", "x");
    CHECK(storage->get("other/k") == "x");
}

TEST_CASE("a directory of another user on the way is refused at any depth", "[storage][file]") {
    const TempDir dir;
    if (!testing::can_give_away(dir.path())) SKIP_WITH_MESSAGE("a file cannot be given away here");
    const auto storage = file_storage_on(testing::ops_without_openat2(GENERATE(0, ENOSYS)), dir / "store", {});
    storage->put_if_absent("a/b/c/k", "x");
    const std::string foreign = GENERATE("a", "a/b", "a/b/c");
    REQUIRE(::chown((dir / ("store/" + foreign)).c_str(), nobody, nobody) == 0);
    const std::string text = "directory \"" + foreign.substr(foreign.size() - 1) + "\" belongs to another user";
    CHECK(contains(error_of([&] { (void)storage->get("a/b/c/k"); }), text));
    CHECK(contains(error_of([&] { storage->put_if_absent("a/b/c/new", "x"); }), text));
    CHECK(contains(error_of([&] { (void)storage->remove("a/b/c/k"); }), text));
    CHECK(bytes_of(dir / "store/a/b/c/k") == "x");
    storage->put_if_absent("other/k", "x");
    CHECK(storage->get("other/k") == "x");
}

TEST_CASE("a sidecar or temporary directory of another user is refused", "[storage][file]") {
    const TempDir dir;
    if (!testing::can_give_away(dir.path())) SKIP_WITH_MESSAGE("a file cannot be given away here");
    const auto storage = file_storage(dir / "store");
    storage->put_if_absent("k", "x");
    REQUIRE(::chown((dir / "store/.k.meta").c_str(), nobody, nobody) == 0);
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": \".k.meta\" belongs to another user");
    REQUIRE(::chown((dir / "store/.whittle-tmp").c_str(), nobody, nobody) == 0);
    CHECK(contains(error_of([&] { storage->put_if_absent("n", "x"); }), "\".whittle-tmp\" belongs to another user"));
}

TEST_CASE("a store whose directories may not be written can be read, and says why not", "[storage][file]") {
    const TempDir dir;
    file_storage(dir / "store")->put_if_absent("c/k", "content");
    fs::permissions(dir.path(), fs::perms::all);
    const bool is_root = ::geteuid() == 0;
    if (is_root && !testing::can_give_away(dir.path())) SKIP_WITH_MESSAGE("a file cannot be given away here");
    for (const auto& entry : fs::recursive_directory_iterator(dir.path())) {
        if (is_root) REQUIRE(::chown(entry.path().c_str(), nobody, nobody) == 0);
        if (entry.is_directory()) fs::permissions(entry.path(), fs::perms::owner_read | fs::perms::owner_exec);
    }
    const std::string text = in_child([&] {
        if (is_root && ::setuid(nobody) != 0) return skipped("cannot become another user");
        return testing::use_read_only_store(*file_storage(dir / "store"));
    });
    for (const auto& entry : fs::recursive_directory_iterator(dir.path())) {
        if (entry.is_directory()) fs::permissions(entry.path(), fs::perms::owner_all);
    }
    check_or_skip(text, "put \"c/new\": create a temporary file: Permission denied");
}
