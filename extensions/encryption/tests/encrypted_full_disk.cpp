// Encrypted stores on a disk that is full, or cannot be written.
#include "storage/disk_faults.hpp"
#include "support/catch.hpp"
#include "whittle/encryption/encrypted_storage.hpp"
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

using namespace whittle;
using testing::check_or_skip;
using testing::in_child;
using testing::TempDir;

namespace {

EncryptionOptions one_key() {
    const EncryptionKey key{"k1", std::string(32, 'a')};
    return {.current_key = [key] { return key; }, .find_key = [key](std::string_view) { return key; }};
}

std::shared_ptr<Storage> encrypted_files_below(const std::string& folder) {
    return encrypted_storage(file_storage(folder + "/store"), one_key());
}

#if WHITTLE_HAVE_SQLITE
std::shared_ptr<Storage> encrypted_database_below(const std::string& folder) {
    return encrypted_storage(sqlite_storage(folder + "/objects.db"), one_key());
}
#endif

void check_disks(const testing::OpenBelow& open, const testing::SmallDisk& disk, const char* full,
                 const char* read_only) {
    const TempDir dir;
    check_or_skip(in_child([&] { return testing::use_full_disk(open, dir.path(), disk, 20'000, full); }),
                  "full, then usable");
    open(dir.path())->put_if_absent("c/k", "content");
    check_or_skip(in_child([&] { return testing::use_read_only_disk(open, dir.path()); }), read_only);
    CHECK(open(dir.path())->get("c/k") == "content");
}

}  // namespace

TEST_CASE("encrypted files on a full or read-only disk lose nothing, and say why nothing is written",
          "[storage][encryption]") {
    check_disks(encrypted_files_below, {.options = "size=1m"}, "No space left on device",
                "put \"c/new\": create a temporary file: Read-only file system");
}

#if WHITTLE_HAVE_SQLITE
TEST_CASE("encrypted objects in SQLite on a full or read-only disk lose nothing, and say why nothing is written",
          "[storage][encryption]") {
    check_disks(encrypted_database_below, {.options = "size=6m", .enlarged = "size=30m"}, "full",
                "put \"c/new\": the file was opened for reading, since it cannot be written");
}
#endif
