// Several processes on one file, and processes that are killed.
#include "sqlite_tools.hpp"
#include "support/catch.hpp"
#include "support/killed_writers.hpp"

#include <algorithm>

using namespace whittle;
using testing::errc_of;
using testing::RawDatabase;
using testing::TempDir;

namespace {

constexpr int contested_keys = 20;

/// In child `c`: how many keys it was the first to write, or 200 and more for an unexpected error.
int compete_in_file(const std::string& path, std::size_t c) {
    const auto storage = sqlite_storage(path, {.durability = Durability::none, .busy_timeout_ms = 60'000});
    int wins = 0;
    for (int i = 0; i < contested_keys; ++i) {
        const auto other = errc_of([&] {
            const std::string content(c % 2 == 0 ? 2'000 + c : 1'100'000 + c, 'a');
            testing::write_pieces(*storage, "other/" + std::to_string(i), content, 3);
        });
        wins += other ? 0 : 1;
        if (other && other != Errc::already_exists) return 200;
        if (errc_of([&] { storage->put_if_absent("same/" + std::to_string(i), "the same"); })) return 201;
    }
    return wins;
}

}  // namespace

TEST_CASE("a process that writes to the file and is killed at any moment leaves whole objects, and all acknowledged",
          "[storage][sqlite]") {
    const TempDir dir(testing::in_memory());
    const std::string path = dir / "store";
    testing::KilledWriters writers([&](int run) {
        const Durability durability = run % 3 == 0   ? Durability::full
                                      : run % 3 == 1 ? Durability::data
                                                     : Durability::none;
        return sqlite_storage(path, {.durability = durability});
    });
    const int runs = std::max(testing::kills_in_a_test(), 10);
    for (int run = 0; run < runs; ++run) {
        CAPTURE(run);
        writers.kill_one();
        const auto storage = sqlite_storage(path);
        writers.check_last(*storage);
        if (run % (runs / 10) == 0) {
            REQUIRE(storage->verify().empty());
            REQUIRE(RawDatabase(path).number("SELECT count(*) FROM streams") == 0);
        }
    }
    writers.check_all(*sqlite_storage(path));
}

TEST_CASE("processes that write the same keys to one file agree on one content each", "[storage][sqlite]") {
    const TempDir dir(testing::in_memory());
    std::array<pid_t, 4> children{};
    for (std::size_t c = 0; c < children.size(); ++c) {
        children[c] = ::fork();
        REQUIRE(children[c] >= 0);
        if (children[c] == 0) testing::leave_after([&] { ::_exit(compete_in_file(dir / "store", c)); });
    }
    int wins = 0;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) <= contested_keys);
        wins += WEXITSTATUS(status);
    }
    CHECK(wins == contested_keys);
    const auto storage = sqlite_storage(dir / "store");
    for (int i = 0; i < contested_keys; ++i) {
        CHECK(storage->get("other/" + std::to_string(i)));
        CHECK(storage->get("same/" + std::to_string(i)) == "the same");
    }
    CHECK(storage->verify().empty());
    CHECK(RawDatabase(dir / "store").number("SELECT count(*) FROM streams") == 0);
}
