// What earlier versions of the layout wrote is read: bytes that are never changed. Another program wrote them, by what
// encrypted_format.hpp says.
#include "whittle/encryption/encrypted_storage.hpp"

#include "support/catch.hpp"
#include "whittle/base/detail/base64.hpp"

#include <fstream>
#include <iterator>
#include <string>

using namespace whittle;

namespace {

EncryptionOptions options_of_versions() {
    const EncryptionKey key{"k1", std::string(32, 'a')};
    return {.current_key = [key] { return key; },
            .find_key = [key](std::string_view id) { return id == key.id ? std::optional(key) : std::nullopt; }};
}

/// Of 64 KiB and 5 bytes, so that it has two pieces.
std::string content_of_version_1() {
    std::string text;
    while (text.size() < 65'541) text += std::to_string(text.size()) + ' ';
    text.resize(65'541);
    return text;
}

}  // namespace

TEST_CASE("an encrypted object of version 1 is read, and is what is still written", "[encryption]") {
    std::ifstream in(WHITTLE_SOURCE_DIR "/extensions/encryption/tests/version_1.bin", std::ios::binary);
    const std::string encrypted{std::istreambuf_iterator<char>(in), {}};
    const std::string content = content_of_version_1();
    const auto then = memory_storage();
    then->put_if_absent("chat/clear/c1", encrypted);
    const auto storage = encrypted_storage(then, options_of_versions());
    CHECK(storage->get("chat/clear/c1") == content);
    CHECK(storage->get("chat/clear/c1", 65'530, 8) == content.substr(65'530, 8));

    const auto now = memory_storage();
    encrypted_storage(now, options_of_versions())->put_if_absent("chat/clear/c1", content);
    CHECK(now->get("chat/clear/c1") == encrypted);
}

TEST_CASE("an encrypted stream of version 1, which is bound to no key, is read", "[encryption]") {
    const auto then = memory_storage();
    then->put_if_absent(
        "chat/trunc/c2",
        from_base64("d2hzZWFsAQBrMQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAgMEBQYHCAkKCwwNDg8QERITFBUWF1pn"
                    "FmdbbnZH0gvrVnrLz6tc0hzvPs+evSJ/fYaqDA==")
            .value());
    CHECK(encrypted_storage(then, options_of_versions())->get("chat/trunc/c2") == "line 1\nline 2\n");
}
