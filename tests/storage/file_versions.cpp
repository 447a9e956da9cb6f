// Folders as earlier versions wrote them are read: a layout that is never changed.
#include "file_tools.hpp"
#include "support/catch.hpp"

using namespace whittle;
using testing::overwrite;
using testing::TempDir;
namespace fs = std::filesystem;

TEST_CASE("a folder in the layout of 0.1 is read, and an equal one is still written", "[storage][file]") {
    const TempDir dir;
    for (const char* const folder : {"then", "then/chat", "then/chat/clear"}) {
        fs::create_directory(dir / folder);
        fs::permissions(dir / folder, fs::perms::owner_all);
    }
    const std::string content = "line 1\nline 2\n";
    const std::string sidecar = "14 9060554863a62b9db5f726216876654e561896071d2e6480f2048b70e0fdadb9\n";
    overwrite(dir / "then/chat/clear/c1", content);
    overwrite(dir / "then/chat/clear/.c1.meta", sidecar);
    const auto storage = file_storage(dir / "then");
    CHECK(storage->get("chat/clear/c1") == content);
    CHECK(testing::keys_below(*storage, "chat/") == std::vector<std::string>{"chat/clear/c1"});

    file_storage(dir / "now")->put_if_absent("chat/clear/c1", content);
    CHECK(testing::bytes_of(dir / "now/chat/clear/c1") == content);
    CHECK(testing::bytes_of(dir / "now/chat/clear/.c1.meta") == sidecar);
}
