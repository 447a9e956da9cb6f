#include "whittle/storage/storage.hpp"

#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "support/storage_tools.hpp"

#include <map>

using namespace whittle;
using whittle::testing::errc_of;

namespace {

/// The least that an own backend must have.
class SmallStorage final : public Storage {
public:
    void put_if_absent(std::string_view key, std::string_view content) override { objects_.emplace(key, content); }
    std::optional<std::string> get(std::string_view key, std::int64_t, std::int64_t) override {
        const auto found = objects_.find(std::string(key));
        if (found == objects_.end()) return std::nullopt;
        return found->second;
    }

private:
    std::map<std::string, std::string> objects_;
};

std::string text_of_invalid_key(std::string_view key) {
    try {
        require_valid_key("put", key);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a key has only plain components", "[storage]") {
    CHECK(is_valid_key("conversation/0001-read_file.txt"));
    CHECK(is_valid_key("a"));
    CHECK(is_valid_key(std::string(512, 'a')));
    for (const std::string& key : refused_storage_keys()) {
        CAPTURE(key.substr(0, 40), key.size());
        CHECK_FALSE(is_valid_key(key));
    }
}

TEST_CASE("a refused key is named in one printable line, with the rule it breaks", "[storage]") {
    CHECK(text_of_invalid_key("good").empty());
    CHECK(text_of_invalid_key("") == "put \"\": a key has at least one byte");
    CHECK(text_of_invalid_key("a\nb") == "put \"a\\x0ab\": a key has only the characters A-Z a-z 0-9 / _ . -");
    CHECK(text_of_invalid_key("a//b") == "put \"a//b\": a key has no empty component");
    CHECK(text_of_invalid_key("../x") == "put \"../x\": no component of a key starts with a dot");
    const std::string text = text_of_invalid_key(std::string(10'000, 'k'));
    CHECK(text.size() < 200);
    CHECK(text.find("10000 bytes") != std::string::npos);
}

TEST_CASE("an own backend needs put and get only", "[storage]") {
    SmallStorage storage;
    storage.put_if_absent("k", "12345");
    CHECK(storage.stat("k")->bytes == 5);
    CHECK_FALSE(storage.stat("none"));
    CHECK(storage.open_writer() == nullptr);
    CHECK(storage.locate("k") == "k");
    CHECK(errc_of([&] { storage.list("", [](const ObjectInfo&) { return true; }); }) == Errc::not_offered);
    CHECK(errc_of([&] { (void)storage.remove("k"); }) == Errc::not_offered);
}

TEST_CASE("the faulty storage fails at exactly the call it was told", "[storage]") {
    testing::FaultyStorage storage(memory_storage(), 3);
    storage.put_if_absent("k", "x");
    const auto writer = storage.open_writer();
    CHECK(errc_of([&] { writer->write("y"); }) == Errc::storage_failed);
    CHECK(storage.get("k") == "x");
    CHECK(storage.calls() == 4);
}
