#include "cli.hpp"
#include "support/catch.hpp"

#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_storage.hpp"

using namespace whittle::testing;

TEST_CASE("store show says of an encrypted object with which key it is, and prints nothing of it", "[apps]") {
    const TempDir dir;
    const whittle::EncryptionKey key{"mails-2026", std::string(32, 'k')};
    const auto storage =
        whittle::encrypted_storage(whittle::file_storage(dir / "store"),
                                   {.current_key = [&] { return key; }, .find_key = [&](auto) { return key; }});
    storage->put_if_absent("a/x", "Dear Ada");
    CHECK(run_cli(dir, "store show store a/x").out ==
          "encrypted with the key \"mails-2026\", 88 bytes; only who has the key can read it\n");
    CHECK(run_cli(dir, "store show store a/x --raw").out.size() == 88);
    CHECK(run_cli(dir, "store verify store").exit_code == 0);
}

TEST_CASE("with the keys of a file, store reads what is encrypted, and collects what logs do not refer to", "[apps]") {
    const TempDir dir;
    const whittle::EncryptionKey key{"mails-2026", std::string(32, 'k')};
    const auto storage =
        whittle::encrypted_storage(whittle::file_storage(dir / "store"),
                                   {.current_key = [&] { return key; }, .find_key = [&](auto) { return key; }});
    storage->put_if_absent("a/x", "Dear Ada\n");
    storage->put_if_absent("a/y", "Dear Bob\n");
    storage->put_if_absent("whittle-log/a/log/000000000002", "see a/x");
    std::string hex;
    for (int i = 0; i < 32; ++i) hex += "6b";
    write_text(dir / "keys", "# of the mail agent\nother " + std::string(64, '0') + "\nmails-2026 " + hex + "\n");
    const CliResult shown = run_cli(dir, "store show store a/x --key-file keys");
    CHECK(shown.out == "Dear Ada\n");
    CHECK(shown.err == "whittle: note: encrypted with the key \"mails-2026\"\n");
    CHECK(run_cli(dir, "store verify store --key-file keys").exit_code == 0);
    write_text(dir / "store/a/.y.meta", "");
    CHECK(run_cli(dir, "store verify store --key-file keys").exit_code == 1);
    CHECK(has(run_cli(dir, "store gc store --key-file keys --older-than 0").out, "a/y  9 bytes"));
    write_text(dir / "wrong", "mails-2026 " + std::string(64, 'g') + "\n");
    const CliResult wrong = run_cli(dir, "store show store a/x --key-file wrong");
    CHECK(wrong.exit_code == 1);
    CHECK(has(wrong.err, "wrong:1: not an id, a space and 64 hexadecimal digits"));
    CHECK_FALSE(has(wrong.err, "ggg"));
    write_text(dir / "wrong", "mails-2026 " + std::string(64, '1') + "\n");
    CHECK(run_cli(dir, "store verify store --key-file wrong").exit_code == 1);
    CHECK(run_cli(dir, "store gc store --key-file wrong --older-than 0").exit_code == 1);
}
#endif
