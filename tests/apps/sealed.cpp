#include "apps/cli.hpp"
#include "support/catch.hpp"

#if WHITTLE_HAVE_SEALING
#    include "whittle/sealing/sealed_storage.hpp"

using namespace whittle::testing;

TEST_CASE("store show says of a sealed object with which key it is, and prints nothing of it", "[apps]") {
    const TempDir dir;
    const whittle::SealingKey key{"mails-2026", std::string(32, 'k')};
    const auto storage =
        whittle::sealed_storage(whittle::file_storage(dir / "store"),
                                {.key_to_write = [&] { return key; }, .key_to_read = [&](auto) { return key; }});
    storage->put_if_absent("a/x", "Dear Ada");
    CHECK(run_cli(dir, "store show store a/x").out ==
          "sealed with the key \"mails-2026\", 88 bytes; only who has the key can read it\n");
    CHECK(run_cli(dir, "store show store a/x --raw").out.size() == 88);
    CHECK(run_cli(dir, "store verify store").exit_code == 0);
}
#endif
