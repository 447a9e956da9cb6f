// What earlier versions of the formats wrote is read: files that are never changed. A new version gets its own.
#include "whittle/saved/side_table.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace whittle;

namespace {

nlohmann::ordered_json fixture_of_format(const std::string& name) {
    std::ifstream in(WHITTLE_SOURCE_DIR "/extensions/saved/tests/" + name + ".json", std::ios::binary);
    return nlohmann::ordered_json::parse(in);
}

std::string page_of_fixture(const std::string& id) { return id + std::string(900, '.') + "\xff"; }

std::vector<ChatMessage> messages_of_fixture(const nlohmann::ordered_json& fixture) {
    std::vector<ChatMessage> messages;
    for (const auto& bytes : fixture["messages"])
        messages.push_back(message_traits<ChatMessage>::from_bytes(bytes.get<std::string>()));
    return messages;
}

}  // namespace

TEST_CASE("a side table of each version is read, and gives back what was cleared", "[side_table]") {
    const int version = GENERATE(1, 2);
    const auto fixture = fixture_of_format("version_" + std::to_string(version));
    const auto table = fixture["side_table"].get<std::string>();
    const auto storage = memory_storage();
    auto c = from_side_table<ChatMessage>(table, messages_of_fixture(fixture), storage, {.expected_id = "chat"});
    CHECK(text_of(c.messages()[2], 0) ==
          "[Old read_page result cleared: 903 bytes, 1 lines. Full text: chat/clear/c1]");

    // What is written now is of version 2, which has one counter more.
    std::string now = to_side_table(c, storage.get());
    const std::string begin = R"({"whittle_side_table":)";
    REQUIRE(now.starts_with(begin + "2,"));
    now[begin.size()] = static_cast<char>('0' + version);
    CHECK(now == table);

    CHECK(c.undo());
    CHECK(text_of(c.messages()[2], 0) == page_of_fixture("c1"));
    CHECK(text_of(c.messages()[4], 0) == page_of_fixture("c2"));
}

TEST_CASE("marks of version 1 are known again", "[marks]") {
    const auto fixture = fixture_of_format("marks_version_1");
    const auto storage = memory_storage();
    for (const auto& [key, content] : fixture["objects"].items())
        storage->put_if_absent(key, content.get<std::string>());
    std::vector<ChatMessage> messages;
    for (const auto& saved : fixture["messages"]) {
        messages.push_back(message_traits<ChatMessage>::from_bytes(saved["bytes"].get<std::string>()));
        message_traits<ChatMessage>::set_mark_id(messages.back(), saved["mark_id"].get<std::string>());
    }
    const auto c = load_marked_messages<ChatMessage>(std::move(messages), storage, {.expected_id = "chat"});
    REQUIRE(c.size() == 9);
    CHECK(c.outline()[8].serial == 9);
    const Mark mark = c.outline()[2].parts[0].mark;
    REQUIRE(mark != nullptr);
    CHECK(mark->origin == Origin::placeholder);
    CHECK(mark->stored_keys == std::vector<std::string>{"chat/clear/c1"});
}

TEST_CASE("a list of version 1 of what a fork may read is believed", "[side_table]") {
    const auto fixture = fixture_of_format("version_2");
    auto table = nlohmann::ordered_json::parse(fixture["side_table"].get<std::string>());
    table["id"] = "fork";
    table.erase("objects");
    const auto storage = memory_storage();
    for (const std::string id : {"c1", "c2"}) storage->put_if_absent("chat/clear/" + id, page_of_fixture(id));
    const auto load = [&] { return from_side_table<ChatMessage>(table.dump(), messages_of_fixture(fixture), storage); };
    CHECK_FALSE(load().objects()->find("chat/clear/c1", storage));

    storage->put_if_absent("fork/whittle-roots", "whittle roots 1\nchat/\n");
    auto c = load();
    CHECK(c.objects()->find("chat/clear/c1", storage));
    CHECK(c.undo());
    CHECK(text_of(c.messages()[2], 0) == page_of_fixture("c1"));
}
