// Hostile names, planted files, full and read-only disks.
#include "disk_faults.hpp"
#include "posix_tools.hpp"
#include "support/catch.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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

namespace {

std::string no_openat2() {
#if defined(SYS_openat2)
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the system call
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{.len = program.size(), .filter = program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return skipped("no_new_privs");
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return skipped("seccomp");
#endif
    return {};
}

std::shared_ptr<Storage> files_below(const std::string& folder) { return file_storage(folder + "/store"); }

std::string fill_disk_of_files(const std::string& folder, const char* size, std::size_t bytes) {
    return testing::use_full_disk(files_below, folder, {.options = size}, bytes, "No space left on device");
}

}  // namespace

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

TEST_CASE("a full disk is a clear error, loses nothing, and the store works again when there is room",
          "[storage][file]") {
    const TempDir dir;
    fs::create_directory(dir / "disk");
    SECTION("no blocks left") {
        check_or_skip(in_child([&] { return fill_disk_of_files(dir / "disk", "size=256k", 20'000); }),
                      "full, then usable");
    }
    SECTION("no inodes left") {
        check_or_skip(in_child([&] { return fill_disk_of_files(dir / "disk", "size=2m,nr_inodes=24", 10); }),
                      "full, then usable");
    }
}

TEST_CASE("a store on a read-only file system can be read, and says why it cannot be written", "[storage][file]") {
    const TempDir dir;
    file_storage(dir / "store")->put_if_absent("c/k", "content");
    const std::string text = in_child([&] { return testing::use_read_only_disk(files_below, dir.path()); });
    check_or_skip(text, "put \"c/new\": create a temporary file: Read-only file system");
    CHECK(file_storage(dir / "store")->get("c/k") == "content");
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

TEST_CASE("openat2 lets no path leave the root or pass through a link", "[storage][file]") {
    const TempDir dir;
    fs::create_directories(dir / "root/a/b");
    fs::create_directory(dir / "outside");
    fs::create_directory_symlink("a", dir / "root/inner");
    fs::create_directory_symlink(dir / "outside", dir / "root/outer");
    const NativeFile root = FileSystem::open(working_directory, (dir / "root").c_str(), OpenAs::directory);
    REQUIRE(root != no_file);
    const auto error_at = [root](const char* path) {
        const NativeFile found = FileSystem::open_beneath(root, path);
        if (found == no_file) return errno;
        FileSystem::close(found);
        return 0;
    };
    const int available = error_at("a/b");
    const std::array errors{error_at("inner/b"), error_at("outer"), error_at("../outside"), error_at("/etc")};
    FileSystem::close(root);
    if (available == ENOSYS || available == EPERM) SKIP_WITH_MESSAGE("this system has no openat2");
    CHECK(available == 0);
    CHECK(errors == std::array{ELOOP, ENOTDIR, EXDEV, EXDEV});
}

TEST_CASE("where seccomp forbids openat2 the store works without it", "[storage][file]") {
    const TempDir dir;
    const std::string text = in_child([&]() -> std::string {
        if (const std::string why = no_openat2(); !why.empty()) return why;
        const auto storage = file_storage(dir / "store");
        storage->put_if_absent("a/b/k", "content");
        fs::create_directory_symlink(dir.path(), dir / "store/link");
        if (errc_of([&] { storage->put_if_absent("link/k", "x"); }) != Errc::storage_failed) return "followed a link";
        const bool forbidden = FileSystem::open_beneath(working_directory, ".") == no_file;
        return forbidden ? storage->get("a/b/k").value_or("lost") : "openat2 still works";
    });
    check_or_skip(text, "content");
}
