// Encrypted objects: the storage contract behind encryption, and what a store cannot do to them unnoticed.
#include "whittle/encryption/encrypted_storage.hpp"

#include "storage/file_tools.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "support/soak.hpp"
#include "support/storage_tools.hpp"
#include "support/temp_dir.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/message/chat_message.hpp"
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

#include <algorithm>
#include <fstream>
#include <map>

using namespace whittle;
using testing::check_conformance;
using testing::errc_of;
using testing::error_of;
using testing::FaultyStorage;
using testing::TempDir;

namespace {

/// The keys of a host: any number, and the one that writes.
struct Keyring {
    std::map<std::string, std::string> keys{{"k1", std::string(32, 'a')}};
    std::string newest = "k1";

    [[nodiscard]] EncryptionOptions options() {
        return {.current_key =
                    [this] {
                        return EncryptionKey{newest, keys.at(newest)};
                    },
                .find_key = [this](std::string_view id) -> std::optional<EncryptionKey> {
                    const auto found = keys.find(std::string(id));
                    if (found == keys.end()) return std::nullopt;
                    return EncryptionKey{found->first, found->second};
                }};
    }
};

/// Content in which every position says where it is.
std::string numbered(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += std::to_string(text.size()) + ' ';
    text.resize(bytes);
    return text;
}

void stream(Storage& storage, std::string_view key, std::string_view content, std::size_t step) {
    const auto writer = storage.open_writer();
    for (std::size_t at = 0; at < content.size(); at += step) writer->write(content.substr(at, step));
    writer->commit(key);
}

/// Writes over an object, as who has the disk can.
void replace_object(Storage& inner, std::string_view key, std::string_view encrypted) {
    inner.remove(key);
    inner.put_if_absent(key, encrypted);
}

}  // namespace

TEST_CASE("an encrypted store in memory keeps the storage contract", "[storage][encryption][contract]") {
    Keyring ring;
    check_conformance(
        [&] { return [&, inner = memory_storage()] { return encrypted_storage(inner, ring.options()); }; },
        testing::suite_sizes());
}

TEST_CASE("encrypted files keep the storage contract", "[storage][encryption][contract]") {
    Keyring ring;
    check_conformance(testing::each_in_a_folder([&](const std::string& path) {
                          return encrypted_storage(file_storage(path, {.durability = Durability::none}),
                                                   ring.options());
                      }),
                      testing::suite_sizes(5 * 1'024));
}

#if WHITTLE_HAVE_SQLITE
TEST_CASE("encrypted objects in SQLite keep the storage contract", "[storage][encryption][contract]") {
    Keyring ring;
    check_conformance(testing::each_in_a_folder([&](const std::string& path) {
                          return encrypted_storage(sqlite_storage(path), ring.options());
                      }),
                      testing::suite_sizes(5 * 1'024));
}
#endif

TEST_CASE("nothing of an object can be read in the store but its key, its length and the id of the encryption key",
          "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    const bool is_stream = GENERATE(false, true);
    const std::string content = "the password is tiger " + std::string(is_stream ? 1'500'000 : 100, 'x');
    if (is_stream) {
        stream(*storage, "chat/1", content, 70'000);
    } else {
        storage->put_if_absent("chat/1", content);
    }
    const std::string encrypted = *inner->get("chat/1");
    CHECK(encrypted.find("tiger") == std::string::npos);
    CHECK(encrypted.find("xxxx") == std::string::npos);
    CHECK(encryption_key_id(encrypted) == "k1");
    CHECK(encryption_key_id(encrypted.substr(0, 64)) == "k1");
    CHECK_FALSE(encryption_key_id(encrypted.substr(0, 63)));
    CHECK_FALSE(encryption_key_id(content));
    CHECK(storage->stat("chat/1")->bytes == static_cast<std::int64_t>(content.size()));
    const auto pieces = static_cast<std::int64_t>((content.size() + 65'535) / 65'536);
    CHECK(inner->stat("chat/1")->bytes == static_cast<std::int64_t>(content.size()) + 64 + 16 * pieces);
}

TEST_CASE("objects of every length around a piece come back, whole and by ranges", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    const auto piece = std::int64_t{65'536};
    const auto length = GENERATE_COPY(std::int64_t{0}, std::int64_t{1}, piece - 1, piece, piece + 1, 2 * piece,
                                      2 * piece + 1, 20 * piece);
    CAPTURE(length);
    const std::string content = numbered(static_cast<std::size_t>(length));
    storage->put_if_absent("a", content);
    stream(*storage, "b", content, 30'011);
    for (const char* key : {"a", "b"}) {
        CAPTURE(key);
        CHECK(storage->get(key) == content);
        CHECK(storage->stat(key)->bytes == length);
        for (const std::int64_t offset :
             {std::int64_t{0}, piece - 3, piece, 2 * piece - 1, length - 1, length, length + 9}) {
            if (offset < 0) continue;
            for (const std::int64_t most : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, piece, INT64_MAX}) {
                CAPTURE(offset, most);
                const auto from = static_cast<std::size_t>(std::min(offset, length));
                CHECK(storage->get(key, offset, most) ==
                      content.substr(
                          from, static_cast<std::size_t>(std::min(most, length - static_cast<std::int64_t>(from)))));
            }
        }
    }
}

TEST_CASE("a range reads the pieces that it needs, not the object", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const std::string content = numbered(10'000'000);
    encrypted_storage(inner, ring.options())->put_if_absent("a", content);
    const auto counted = std::make_shared<FaultyStorage>(inner, 0);
    CHECK(encrypted_storage(counted, ring.options())->get("a", 5'000'000, 100) == content.substr(5'000'000, 100));
    CHECK(counted->calls() <= 3);  // start, length, one piece
}

TEST_CASE("whatever a store does to an encrypted object is found out", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    const std::string content = numbered(200'000);  // four pieces
    storage->put_if_absent("a", content);
    storage->put_if_absent("b", numbered(200'000) + "!");
    const std::string encrypted = *inner->get("a");
    const auto is_damaged = [&](const std::string& altered) {
        replace_object(*inner, "a", altered);
        return errc_of([&] { (void)storage->get("a"); }) == Errc::damaged;
    };

    SECTION("a byte of any part is changed") {
        for (std::size_t at = 0; at < encrypted.size(); at = at < 80 ? at + 1 : at + 40'001) {
            CAPTURE(at);
            std::string altered = encrypted;
            altered[at] = static_cast<char>(altered[at] ^ 1);
            replace_object(*inner, "a", altered);
            const auto code = errc_of([&] { (void)storage->get("a"); });
            CHECK((code == Errc::damaged || (at >= 8 && at < 40 && code == Errc::not_found)));  // the id of the key
        }
    }
    SECTION("it is cut, also where a piece ends") {
        for (const std::size_t left : {encrypted.size() - 1, encrypted.size() - 200, std::size_t{64 + 3 * 65'552},
                                       std::size_t{64 + 65'552}, std::size_t{64}, std::size_t{63}, std::size_t{0}}) {
            CAPTURE(left);
            CHECK(is_damaged(encrypted.substr(0, left)));
        }
    }
    SECTION("pieces are exchanged or repeated") {
        const auto piece = [&](std::size_t i) { return encrypted.substr(64 + i * 65'552, 65'552); };
        CHECK(is_damaged(encrypted.substr(0, 64) + piece(1) + piece(0) + encrypted.substr(64 + 2 * 65'552)));
        CHECK(is_damaged(encrypted.substr(0, 64) + piece(0) + piece(0) + encrypted.substr(64 + 2 * 65'552)));
        CHECK(is_damaged(encrypted + piece(0)));
    }
    SECTION("it is moved to another key") { CHECK(is_damaged(*inner->get("b"))); }
    SECTION("it is replaced by what was never encrypted") { CHECK(is_damaged(content)); }
    SECTION("and the same bytes again are read") { CHECK_FALSE(is_damaged(encrypted)); }
}

TEST_CASE("an object that is altered tells which piece, and a range that does not touch it is read", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    const std::string content = numbered(200'000);
    storage->put_if_absent("a", content);
    std::string encrypted = *inner->get("a");
    encrypted[64 + 65'552 + 5] = '?';
    replace_object(*inner, "a", encrypted);
    CHECK(error_of([&] { (void)storage->get("a"); }) ==
          "get \"a\": piece 2 of 4 is not what was encrypted under this key: altered, cut, or moved");
    CHECK(storage->get("a", 0, 65'536) == content.substr(0, 65'536));
    CHECK(storage->get("a", 150'000) == content.substr(150'000));
}

TEST_CASE(
    "a rotation encrypts what is new with the new key, and the old objects stay readable while their key is known",
    "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    storage->put_if_absent("old", "of the first key");
    ring.keys["k2"] = std::string(32, 'b');
    ring.newest = "k2";
    storage->put_if_absent("new", "of the second key");
    CHECK(storage->get("old") == "of the first key");
    CHECK(storage->keys_in_use() == std::map<std::string, std::int64_t>{{"k1", 1}, {"k2", 1}});
    CHECK(storage->keys_in_use("n") == std::map<std::string, std::int64_t>{{"k2", 1}});

    storage->put_if_absent("old", "of the first key");  // the same content under another key is the same content
    CHECK(errc_of([&] { storage->put_if_absent("old", "other"); }) == Errc::already_exists);
    CHECK(storage->keys_in_use().at("k1") == 1);

    ring.keys.erase("k1");
    CHECK(error_of([&] { (void)storage->get("old"); }) ==
          "get \"old\": it is encrypted with the key \"k1\", which is not known here");
    CHECK(errc_of([&] { (void)storage->get("old"); }) == Errc::not_found);
    CHECK(storage->stat("old")->bytes == 16);  // no key is needed for that
    CHECK(storage->remove("old"));
    CHECK(storage->get("new") == "of the second key");
}

TEST_CASE("what cannot be read stays where it is: other content for whoever writes there", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    const std::string large = numbered(1'200'000);
    storage->put_if_absent("a", "content");
    stream(*storage, "b", large, 100'000);
    const bool is_key_lost = GENERATE(false, true);
    if (is_key_lost) {
        ring.keys = {{"k2", std::string(32, 'b')}};
        ring.newest = "k2";
    } else {
        replace_object(*inner, "a", "altered");
        replace_object(*inner, "b", "altered");
    }
    CHECK(errc_of([&] { storage->put_if_absent("a", "content"); }) == Errc::already_exists);
    CHECK(errc_of([&] { stream(*storage, "b", large, 100'000); }) == Errc::already_exists);
}

TEST_CASE("a durable conversation over an encrypted store is saved, resumed and cannot be read without the key",
          "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    {
        auto durable =
            DurableConversation<>::open(encrypted_storage(inner, ring.options()), "mails", {.writer = "one"});
        durable->push_back(ChatMessage::user("the password is tiger"));
        durable.save();
        durable.compact_log();
        durable->push_back(ChatMessage::assistant("noted: tiger"));
        durable.save();
        durable.release();
    }
    auto resumed = DurableConversation<>::open(encrypted_storage(inner, ring.options()), "mails", {.writer = "two"});
    REQUIRE(resumed->size() == 2);
    CHECK(text_of(resumed->messages()[1], 0) == "noted: tiger");
    inner->list("", [&](const ObjectInfo& object) {
        const std::string stored = *inner->get(object.key);
        CHECK(stored.find("tiger") == std::string::npos);
        CHECK(encryption_key_id(stored) == "k1");
        return true;
    });
}

TEST_CASE("another key of the same id opens nothing", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    encrypted_storage(inner, ring.options())->put_if_absent("a", "content");
    ring.keys["k1"] = std::string(32, 'z');
    CHECK(errc_of([&] { (void)encrypted_storage(inner, ring.options())->get("a"); }) == Errc::damaged);
}

TEST_CASE("equal content under two keys does not look equal, nor do two streams", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    const auto storage = encrypted_storage(inner, ring.options());
    const std::string large = numbered(1'200'000);
    storage->put_if_absent("a", "the same content");
    storage->put_if_absent("b", "the same content");
    stream(*storage, "c", large, 100'000);
    stream(*storage, "d", large, 100'000);
    CHECK(inner->get("a") != inner->get("b"));
    CHECK(inner->get("c", 64) != inner->get("d", 64));
    stream(*storage, "c", large, 99'999);  // again: a no-op, though it is encrypted otherwise
    CHECK(storage->get("c") == large);
    CHECK(errc_of([&] { stream(*storage, "c", large + "!", 100'000); }) == Errc::already_exists);
}

TEST_CASE("what was stored before encryption is read only if that is asked for", "[encryption]") {
    Keyring ring;
    const auto inner = memory_storage();
    inner->put_if_absent("plain", "from before");
    inner->put_if_absent("short", "x");
    const auto strict = encrypted_storage(inner, ring.options());
    CHECK(error_of([&] { (void)strict->get("plain"); }) ==
          "get \"plain\": expected an encrypted object, found 11 bytes that are none");
    CHECK(errc_of([&] { (void)strict->stat("plain"); }) == Errc::damaged);
    CHECK(testing::keys_below(*strict, "") == std::vector<std::string>{"plain", "short"});  // to find and to remove

    EncryptionOptions options = ring.options();
    options.read_unencrypted = true;
    const auto lenient = encrypted_storage(inner, options);
    lenient->put_if_absent("encrypted", "from now on");
    CHECK(lenient->get("plain", 5, 3) == "bef");
    CHECK(lenient->get("encrypted", 5, 3) == "now");
    CHECK(lenient->stat("plain")->bytes == 11);
    CHECK(lenient->stat("encrypted")->bytes == 11);
    CHECK(lenient->keys_in_use() == std::map<std::string, std::int64_t>{{"", 2}, {"k1", 1}});
    lenient->put_if_absent("plain", "from before");
    CHECK(errc_of([&] { lenient->put_if_absent("plain", "other"); }) == Errc::already_exists);
    CHECK_FALSE(lenient->get("absent"));
}

TEST_CASE("an object that cannot be read is listed all the same", "[encryption]") {
    Keyring ring;
    const TempDir dir;
    EncryptionOptions options = ring.options();
    options.read_unencrypted = true;
    const auto storage = encrypted_storage(file_storage(dir / "store"), options);
    storage->put_if_absent("a", "content");
    storage->put_if_absent("b", "content");
    std::ofstream(dir / "store/.a.meta", std::ios::trunc).flush();
    CHECK(errc_of([&] { (void)storage->get("a"); }) == Errc::damaged);
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a key that cannot be used is told, and nothing is written", "[encryption]") {
    const auto inner = memory_storage();
    Keyring ring;
    const auto written_with = [&](EncryptionKey key) {
        EncryptionOptions options = ring.options();
        options.current_key = [key] { return key; };
        return error_of([&] { encrypted_storage(inner, options)->put_if_absent("a", "content"); });
    };
    CHECK(written_with({"k", "short"}) == "current_key: the key \"k\" has 5 bytes instead of 32");
    CHECK(written_with({"", std::string(32, 'a')}) ==
          "current_key: the id \"\" is not 1 to 32 bytes of [A-Za-z0-9_.-]");
    CHECK(errc_of([&] { (void)encrypted_storage(inner, {}); }) == Errc::invalid_config);
    CHECK(errc_of([&] { (void)encrypted_storage(nullptr, ring.options()); }) == Errc::invalid_config);
    CHECK(testing::keys_below(*inner, "").empty());
    CHECK(new_encryption_key().size() == 32);
    CHECK(new_encryption_key() != new_encryption_key());
}

TEST_CASE("whichever call of the store fails, the object is absent or whole, and the next write works",
          "[encryption]") {
    Keyring ring;
    const std::string content = numbered(1'300'000);
    const bool is_stream = GENERATE(false, true);
    int fail_at = 1;
    for (bool failed = true; failed; ++fail_at) {
        CAPTURE(fail_at, is_stream);
        const auto inner = memory_storage();
        const auto faulty = std::make_shared<FaultyStorage>(inner, fail_at);
        const auto storage = encrypted_storage(faulty, ring.options());
        const auto write_to = [&](Storage& written) {
            if (is_stream) {
                stream(written, "a", content, 100'000);
            } else {
                written.put_if_absent("a", content);
            }
        };
        const auto code = errc_of([&] { write_to(*storage); });
        failed = code.has_value();
        if (failed) CHECK(code == Errc::storage_failed);
        const auto sound = encrypted_storage(inner, ring.options());
        CHECK(sound->get("a").value_or(content) == content);
        write_to(*sound);
        CHECK(sound->get("a") == content);
    }
    CHECK(fail_at > 2);
}
