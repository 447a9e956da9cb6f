// What only Linux lets a test do: full and read-only disks, and openat2, with and without.
#include "disk_faults.hpp"
#include "posix_tools.hpp"
#include "support/catch.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>

using namespace whittle;
using testing::check_or_skip;
using testing::errc_of;
using testing::error_of;
using testing::in_child;
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
