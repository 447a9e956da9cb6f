// Files of earlier versions are read: statements that are never changed. A new version gets a test case of its own.
#include "sqlite_tools.hpp"
#include "support/catch.hpp"
#include "whittle/sqlite/sqlite_storage.hpp"

using namespace whittle;
using testing::RawDatabase;
using testing::TempDir;

TEST_CASE("a file of version 1 is read, and all that it has is whole", "[storage][sqlite]") {
    const TempDir dir;
    RawDatabase(dir / "version_1").run(R"(
PRAGMA application_id = 2003334252;
PRAGMA user_version = 1;
CREATE TABLE objects(
  key TEXT NOT NULL PRIMARY KEY, content INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  stored_at INTEGER NOT NULL, mark INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE streams(content INTEGER PRIMARY KEY, token INTEGER NOT NULL, begun_at INTEGER NOT NULL) STRICT;
INSERT INTO objects VALUES('chat/clear/c1', 1, 14, '9060554863a62b9db5f726216876654e561896071d2e6480f2048b70e0fdadb9',
  1800000000, 3413765823017530900);
INSERT INTO objects VALUES('chat/clear/empty', 0, 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  1800000000, 2946943058971709270);
INSERT INTO chunks VALUES(1048576, x'6c696e6520310a6c696e6520320a');
)");
    const auto storage = sqlite_storage(dir / "version_1");
    CHECK(storage->get("chat/clear/c1") == "line 1\nline 2\n");
    CHECK(storage->get("chat/clear/empty") == "");
    CHECK(storage->stat("chat/clear/c1")->stored_at_seconds == 1'800'000'000);
    CHECK(storage->verify().empty());
    storage->put_if_absent("chat/clear/c2", "more");
    CHECK(storage->get("chat/clear/c2") == "more");
}
