// The storage contract behind masks, and what is kept of what holds secrets.
#include "whittle/redaction/redacted_storage.hpp"

#include "storage/file_tools.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "support/soak.hpp"
#include "support/storage_tools.hpp"
#include "support/temp_dir.hpp"
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_storage.hpp"
#endif

#include <fstream>
#include <random>
#include <sstream>

using namespace whittle;
using testing::check_conformance;
using testing::errc_of;
using testing::error_of;
using testing::FaultyStorage;
using testing::TempDir;

namespace {

const std::string secret = "sk-proj-abcdefghijklmnop0123456789";

void stream(Storage& storage, std::string_view key, std::string_view content, std::size_t step) {
    const auto writer = storage.open_writer();
    for (std::size_t at = 0; at < content.size(); at += step) writer->write(content.substr(at, step));
    writer->commit(key);
}

/// `bytes` or more of lines, some of which hold a secret.
std::string lines_with_secrets(std::size_t bytes) {
    std::string text;
    for (int i = 0; text.size() < bytes; ++i)
        text += "line " + std::to_string(i) + (i % 7 == 0 ? " uses " + secret : " is plain") + "\n";
    return text;
}

}  // namespace

TEST_CASE("a redacted store in memory keeps the storage contract", "[storage][redaction][contract]") {
    check_conformance([] { return [inner = memory_storage()] { return redacted_storage(inner); }; },
                      testing::suite_sizes());
}

TEST_CASE("redacted files keep the storage contract", "[storage][redaction][contract]") {
    check_conformance(testing::each_in_a_folder([](const std::string& path) {
                          return redacted_storage(file_storage(path, {.durability = Durability::none}));
                      }),
                      testing::suite_sizes());
}

#if WHITTLE_HAVE_SQLITE
TEST_CASE("redacted objects in SQLite keep the storage contract", "[storage][redaction][contract]") {
    check_conformance(
        testing::each_in_a_folder([](const std::string& path) { return redacted_storage(sqlite_storage(path)); }),
        testing::suite_sizes());
}
#endif

TEST_CASE("what is stored holds no secret, and says in how many places it was masked", "[redaction]") {
    const auto inner = memory_storage();
    const auto storage = redacted_storage(inner);
    storage->put_if_absent("a/b", "key " + secret + "\npassword: tiger-1234\n");
    storage->put_if_absent("a/c", "nothing");
    const std::string masked = "key ***\npassword: ***\n";
    CHECK(storage->get("a/b") == masked);
    CHECK(storage->stat("a/b")->bytes == static_cast<std::int64_t>(masked.size()));
    CHECK(storage->masked_places("a/b") == 2);
    CHECK(storage->masked_places("a/c") == 0);
    CHECK(storage->masked_places("a/d") == 0);
    CHECK(inner->get("a/c") == "nothing");
    const std::string stored = *inner->get("a/b");
    CHECK(stored.starts_with(masked + "\n[whittle masked 2 places: key 1, named 1 "));
    CHECK(stored.size() == masked.size() + 160);
    const auto note = redaction_note(stored);
    REQUIRE(note);
    CHECK(note->places == 2);
    CHECK(note->rules == "key 1, named 1");
    CHECK(redaction_note(stored.substr(stored.size() - 160))->places == 2);
    CHECK_FALSE(redaction_note("nothing"));
    std::vector<std::int64_t> lengths;
    storage->list("", [&](const ObjectInfo& object) {
        lengths.push_back(object.bytes);
        return true;
    });
    CHECK(lengths == std::vector<std::int64_t>{static_cast<std::int64_t>(masked.size()), 7});
    for (std::int64_t offset = 0; offset <= 24; ++offset) {
        for (const std::int64_t most : {0, 1, 5, 1'000}) {
            const auto from = static_cast<std::size_t>(std::min<std::int64_t>(offset, std::ssize(masked)));
            CHECK(storage->get("a/b", offset, most) == masked.substr(from, static_cast<std::size_t>(most)));
        }
    }
}

TEST_CASE("the same content again is a no-op, other content is refused, and both by what is kept", "[redaction]") {
    const auto inner = memory_storage();
    const auto storage = redacted_storage(inner);
    storage->put_if_absent("k", "key " + secret);
    storage->put_if_absent("k", "key " + secret);
    storage->put_if_absent("k", "key " + secret + "0");  // another secret, but nothing of it is kept
    stream(*storage, "k", "key " + secret, 3);
    CHECK(errc_of([&] { storage->put_if_absent("k", "keys " + secret); }) == Errc::already_exists);
    CHECK(errc_of([&] { storage->put_if_absent("k", "key ***"); }) ==
          Errc::already_exists);  // nothing was masked in it
    CHECK(errc_of([&] { stream(*storage, "k", "other", 2); }) == Errc::already_exists);
    const auto writer = storage->open_writer();
    writer->write("other " + secret);
    CHECK(errc_of([&] { writer->commit("k"); }) == Errc::already_exists);
    writer->commit("k-2");
    CHECK(storage->get("k-2") == "other ***");
}

TEST_CASE("content that ends as a note does is given back whole", "[redaction]") {
    const auto inner = memory_storage();
    const auto storage = redacted_storage(inner);
    storage->put_if_absent("a", secret);
    const std::string odd = *inner->get("a");  // as another tool would read the object
    storage->put_if_absent("b", odd);
    stream(*storage, "c", odd, 11);
    stream(*storage, "d", std::string(9'000'000, 'x') + odd, 1 << 20);
    for (const char* key : {"b", "c"}) {
        CHECK(storage->get(key) == odd);
        CHECK(storage->get(key, 2, 1'000) == odd.substr(2));
        CHECK(storage->masked_places(key) == 0);
    }
    CHECK(storage->get("d")->ends_with("x" + odd));
}

TEST_CASE("a stream is masked as the whole is, whatever pieces it comes in", "[redaction]") {
    const std::string content = lines_with_secrets(GENERATE(std::size_t{10'000}, std::size_t{9'000'000}));
    const auto inner = memory_storage();
    const auto storage = redacted_storage(inner);
    storage->put_if_absent("whole", content);
    CHECK(storage->get("whole")->find("abcdefgh") == std::string::npos);
    for (const std::size_t step : {std::size_t{7}, std::size_t{1'000}, std::size_t{65'537}}) {
        if (step < 65'537 && content.size() > 1'000'000) continue;
        const std::string key = "stream-" + std::to_string(step);
        stream(*storage, key, content, step);
        CHECK(inner->get(key) == inner->get("whole"));
        stream(*storage, "whole", content, step);  // a no-op
    }
}

TEST_CASE("generated secrets in random places, in text, JSON and pieces, are not in the store", "[redaction]") {
    std::mt19937 random(testing::is_soak() ? std::random_device{}() : 11U);
    const auto word = [&](std::string_view letters, std::size_t size) {
        std::string text;
        while (text.size() < size) text += letters[random() % letters.size()];
        return text;
    };
    const std::string_view all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const int rounds = testing::is_soak() ? 20'000 : 1'000;
    for (int round = 0; round < rounds; ++round) {
        const std::string core = "7Zq" + word(all, 33) + "8Xy9";
        const std::vector<std::string> forms{"ghp_" + core, core, "password=" + core, "\"api_key\": \"" + core + "\"",
                                             "Authorization: Bearer " + core};
        const std::string form = forms[random() % forms.size()];
        std::string text = word("ab c\nd,e", random() % 300) + ' ' + form + ' ' + word("ab c\nd,e", random() % 300);
        switch (random() % 4) {
            case 0: break;
            case 1: {  // in JSON, some characters escaped
                std::string escaped;
                for (const char c : text) {
                    if (c == '"')
                        escaped += "\\\"";
                    else if (c == '\n')
                        escaped += "\\n";
                    else if (random() % 9 == 0) {
                        constexpr std::string_view hex = "0123456789abcdef";
                        escaped += "\\u00";
                        escaped += hex[static_cast<unsigned char>(c) >> 4U];
                        escaped += hex[static_cast<unsigned char>(c) & 15U];
                    } else {
                        escaped += c;
                    }
                }
                text = R"({"role":"tool","content":[{"text":")" + escaped + R"("}]})";
                break;
            }
            case 2: text = R"({"a":{")" + core + R"(":1},"password":")" + core + " x\"}"; break;
            default: text = R"([{"arguments":"{\"token\":\")" + core + R"(\"}"}])"; break;
        }
        const auto inner = memory_storage();
        const auto storage = redacted_storage(inner);
        CAPTURE(text);
        if (random() % 2 == 0) {
            storage->put_if_absent("k", text);
        } else {
            stream(*storage, "k", text, 1 + random() % 50);
        }
        CHECK(inner->get("k")->find(core) == std::string::npos);
        CHECK(inner->get("k")->find(core.substr(10)) == std::string::npos);
        CHECK(storage->masked_places("k") >= 1);
    }
}

TEST_CASE("a file that another tool reads ends with the note", "[redaction]") {
    const TempDir dir;
    const auto storage = redacted_storage(file_storage(dir / "store"));
    storage->put_if_absent("a/x", secret + "\n");
    std::ifstream file(storage->locate("a/x"));
    std::stringstream text;
    text << file.rdbuf();
    file.close();  // on Windows what a reader has open cannot be removed
    CHECK(text.str().starts_with("***\n\n[whittle masked 1 places: key 1 "));
    CHECK(file_storage(dir / "store")->get("a/x"));  // length and hash are those of what is stored
    CHECK(storage->remove("a/x"));
    CHECK_FALSE(storage->get("a/x"));
}

#if WHITTLE_HAVE_ENCRYPTION
TEST_CASE("masks go outside, encryption inside: the other way round is refused", "[redaction]") {
    const EncryptionKey key{"k1", std::string(32, 'a')};
    const EncryptionOptions options{.current_key = [&] { return key; }, .find_key = [&](auto) { return key; }};
    const auto inner = memory_storage();
    const auto storage = redacted_storage(encrypted_storage(inner, options));
    storage->put_if_absent("a", "key " + secret);
    stream(*storage, "b", lines_with_secrets(9'000'000), 1 << 20);
    CHECK(storage->get("a") == "key ***");
    CHECK(storage->masked_places("a") == 1);
    CHECK(storage->get("b", 5, 20) == "0 uses ***\nline 1 is");
    CHECK(encryption_key_id(*inner->get("a")) == "k1");
    const auto wrong = encrypted_storage(redacted_storage(memory_storage()), options);
    CHECK(errc_of([&] { wrong->put_if_absent("a", secret); }) == Errc::invalid_argument);
}
#endif

TEST_CASE("whichever call of the store fails, the object is absent or whole, and what a rule throws gets out",
          "[redaction]") {
    const std::size_t bytes = GENERATE(std::size_t{100}, std::size_t{8'500'000});
    if (bytes > 1'000 && !testing::is_soak()) return;
    const std::string content = lines_with_secrets(bytes);
    int fail_at = 1;
    for (bool failed = true; failed; ++fail_at) {
        CAPTURE(fail_at);
        const auto inner = memory_storage();
        const auto storage = redacted_storage(std::make_shared<FaultyStorage>(inner, fail_at));
        const auto code = errc_of([&] { stream(*storage, "a", content, 1 << 20); });
        failed = code.has_value();
        if (failed) CHECK(code == Errc::storage_failed);
        const auto sound = redacted_storage(inner);
        stream(*sound, "a", content, 1 << 20);
        CHECK(sound->get("a") == Redactor().text_or_json(content).text);
    }
    const auto inner = memory_storage();
    const auto throwing = redacted_storage(inner, {.custom_rule = [](std::string_view) -> std::optional<std::string> {
                                               throw std::runtime_error("no rule");
                                           }});
    CHECK_THROWS_AS(throwing->put_if_absent("a", "text"), std::runtime_error);
    CHECK(testing::keys_below(*inner, "").empty());
    CHECK(errc_of([] { (void)redacted_storage(nullptr); }) == Errc::invalid_config);
}
