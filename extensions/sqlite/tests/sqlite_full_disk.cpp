// The SQLite storage on a disk that is full, or cannot be written.
#include "sqlite_tools.hpp"
#include "storage/disk_faults.hpp"
#include "support/catch.hpp"

using namespace whittle;
using testing::check_or_skip;
using testing::in_child;
using testing::TempDir;

namespace {

std::shared_ptr<Storage> database_below(const std::string& folder) { return sqlite_storage(folder + "/objects.db"); }

}  // namespace

TEST_CASE("a full disk under a file of SQLite is a clear error, loses nothing, and the store works once there is room",
          "[storage][sqlite]") {
    const TempDir dir;
    const std::size_t bytes = GENERATE(200U, 20'000U, 1'500'000U);
    CAPTURE(bytes);
    const testing::SmallDisk disk{.options = "size=6m", .enlarged = "size=30m"};
    check_or_skip(in_child([&] { return testing::use_full_disk(database_below, dir.path(), disk, bytes, "full"); }),
                  "full, then usable");
}

TEST_CASE("a file of SQLite on a read-only disk can be read, and says why it cannot be written", "[storage][sqlite]") {
    const TempDir dir;
    database_below(dir.path())->put_if_absent("c/k", "content");
    check_or_skip(in_child([&] { return testing::use_read_only_disk(database_below, dir.path()); }),
                  "put \"c/new\": the file was opened for reading, since it cannot be written");
    CHECK(database_below(dir.path())->get("c/k") == "content");
}
