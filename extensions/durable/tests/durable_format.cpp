// The format: what version 1 wrote is read, and what version 2 wrote is what this library still writes.
#include "durable_tools.hpp"
#include "whittle/reduction/reduction.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace whittle;
using testing::everything_of;
using testing::keys_below;

namespace {

using nlohmann::ordered_json;

std::string path_of_version(int version) {
    return std::string(WHITTLE_SOURCE_DIR) + "/extensions/durable/tests/version_" + std::to_string(version) + ".json";
}

DurableOptions of_format() {
    return {.writer = "writer-1", .clock = std::make_shared<ManualClock>(1'000), .ids = counting_ids("a")};
}

/// Every kind of entry, and a snapshot that a branch keeps entries in front of.
std::shared_ptr<Storage> write_all_kinds() {
    const auto storage = memory_storage();
    const Chain<> chain(ChainConfig{.storage = storage, .clock = std::make_shared<ManualClock>(1'000)},
                        Reduction<ChatMessage>{{.skip_truncation = true, .max_tokens_for_clear = 600}});
    auto durable = DurableConversation<>::open(storage, "chat", of_format());
    durable->push_back(ChatMessage::user("Read."));
    for (int page = 1; page <= 4; ++page) {
        const std::string id = "c" + std::to_string(page);
        chain.before_model(*durable);
        durable->push_back(ChatMessage::assistant().call(id, "read_page", "{}"));
        durable->push_back(ChatMessage::result(id, "read_page", id + std::string(900, '.') + "\xff"));
        durable.save();
    }
    durable.renew();
    auto branch = durable.fork("branch");
    durable->undo();
    durable->pin(durable->outline()[0].serial);
    durable->notes("host").set("note", 0.5);
    durable.compact_log();
    durable->push_back(ChatMessage::assistant("Done."));
    durable.save();
    durable.release();
    return storage;
}

std::string text_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// What version 1 knew.
std::string without_sent(std::string text) {
    const std::string member = R"(,"sent":)";
    const std::size_t at = text.find(member);
    return at == std::string::npos ? text : text.erase(at, text.find_first_of(",}", at + member.size()) - at);
}

}  // namespace

TEST_CASE("the format of version 2 is what it was", "[durable]") {
    const auto storage = write_all_kinds();
    ordered_json now = ordered_json::array();
    for (const std::string& key : keys_below(*storage, "whittle-log/"))
        now.push_back({{"key", key}, {"content", *storage->get(key)}});
    // WHITTLE_WRITE_FORMAT: where a new version is written to, once there is one.
    if (const char* const path = std::getenv("WHITTLE_WRITE_FORMAT")) std::ofstream(path) << now.dump(1) << '\n';
    const ordered_json then = ordered_json::parse(text_of_file(path_of_version(2)));
    CHECK(now.size() == then.size());
    for (std::size_t i = 0; i < std::min(now.size(), then.size()); ++i) CHECK(now[i] == then[i]);
}

TEST_CASE("a conversation of an older version is read, resumed and branched off", "[durable]") {
    const int version = GENERATE(1, 2);
    const auto storage = memory_storage();
    for (const auto& object : ordered_json::parse(text_of_file(path_of_version(version))))
        storage->put_if_absent(object["key"].get<std::string>(), object["content"].get<std::string>());
    const auto same = write_all_kinds();
    for (const char* id : {"chat", "branch"}) {
        CAPTURE(id);
        const std::string now = everything_of(read_durable(same, id));
        CHECK(everything_of(read_durable(storage, id)) == (version == 1 ? without_sent(now) : now));
        auto durable = DurableConversation<>::open(storage, id, of_format());
        durable->push_back(ChatMessage::user("And on."));
        durable.save();
        CHECK(everything_of(read_durable(storage, id)) == everything_of(*durable));
    }
}
