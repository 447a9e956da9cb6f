// What a fold replaces, as an object that the model can read.
#include "support/catch.hpp"
#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/summarization/summarization.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

SummarizationConfig offloading() {
    SummarizationConfig config{
        .trigger = {.context_tokens = 4'000}, .keep_recent_tokens = 500, .rule_based_summary_tokens = 600};
    config.offload_folded = true;
    return config;
}

std::string log_of(int round) {
    return "log of round " + std::to_string(round) + " </entry> " + std::string(1'500, 'x');
}

void add_rounds(Conversation<>& conversation, int first, int last) {
    for (int i = first; i < last; ++i) {
        const std::string id = "e" + std::to_string(i);
        conversation.push_back(
            ChatMessage::assistant("Part " + id + ".").call(id, "edit", "{\"path\":\"src/" + id + ".cpp\"}"));
        conversation.push_back(ChatMessage::result(id, "edit", log_of(i)));
    }
}

Conversation<> many_rounds(int rounds) {
    Conversation<> conversation("c1");
    conversation.push_back(ChatMessage::user("Mend the parts."));
    conversation.push_back(ChatMessage::assistant("Which?"));
    conversation.push_back(ChatMessage::user("All of them."));
    add_rounds(conversation, 0, rounds);
    return conversation;
}

Chain<> chain_on(std::shared_ptr<Storage> storage, SummarizationConfig config = offloading()) {
    ChainConfig chain;
    chain.storage = std::move(storage);
    return Chain<>{chain, {}, {std::make_shared<Summarization<>>(nullptr, std::move(config))}};
}

std::string folded_summary(const Conversation<>& conversation) {
    for (std::size_t i = 0; i < conversation.size(); ++i)
        if (origin_of(conversation.outline()[i].mark) == Origin::summary) return text_of(conversation.messages()[i]);
    return {};
}

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::vector<std::string> keys_in(Storage& storage) {
    std::vector<std::string> keys;
    storage.list("", [&](const ObjectInfo& info) {
        keys.push_back(info.key);
        return true;
    });
    return keys;
}

}  // namespace

TEST_CASE("what is folded is stored as one text, which the summary names", "[summarization]") {
    const auto storage = memory_storage();
    const Chain<> chain = chain_on(storage);
    Conversation<> conversation = many_rounds(20);
    const std::vector<ChatMessage> before(conversation.messages().begin(), conversation.messages().end());
    const std::vector<ToolSpec> tools{{.name = "read_offloaded"}};
    REQUIRE(chain.before_model(conversation, {.tools = tools}).changed());

    const std::vector<std::string> keys = keys_in(*storage);
    REQUIRE(keys.size() == 1);
    CHECK(keys.front().starts_with("c1/folded/1-"));
    CHECK(mentions(folded_summary(conversation),
                   "The folded messages are stored as \"" + keys.front() + "\". Read them in parts"));
    const std::string object = storage->get(keys.front()).value();
    CHECK(mentions(object, "from=\"user\">\nMend the parts."));
    CHECK(mentions(object, "calls=\"edit\">\n{\"path\":\"src/e3.cpp\"}"));
    CHECK(mentions(object,
                   "log of round 3 &lt;/entry> " + std::string(1'500, 'x')));  // whole, and closes no entry of ours

    ToolContext context;
    context.arguments = R"({"reference":")" + keys.front() + R"(","grep":"log of round 3 "})";
    context.objects = conversation.objects();
    CollectingSink sink;
    CHECK_FALSE(read_offloaded_tool().invoke(context, sink).is_error);
    CHECK(mentions(sink.take().at(0).text, "log of round 3 "));

    REQUIRE(conversation.undo());
    REQUIRE(conversation.size() == before.size());
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(same_message(conversation.messages()[i], before[i]));
}

TEST_CASE("a summary names the objects of the folds before it, too, the oldest first", "[summarization]") {
    const auto storage = memory_storage();
    const Chain<> chain = chain_on(storage);
    Conversation<> conversation = many_rounds(20);
    constexpr int folds = 23;
    for (int fold = 0; fold < folds; ++fold) {
        add_rounds(conversation, 20 + 10 * fold, 30 + 10 * fold);
        REQUIRE(chain.before_model(conversation).changed());
    }
    CHECK(keys_in(*storage).size() == folds);
    const std::string summary = folded_summary(conversation);
    std::vector<std::string> named;
    for (std::size_t at = summary.find("c1/folded/"); at != std::string::npos; at = summary.find("c1/folded/", at + 1))
        named.push_back(summary.substr(at, summary.find('"', at) - at));
    CHECK(named.size() == 20);
    const auto first_serial = [](const std::string& key) { return std::stoi(key.substr(10)); };
    CHECK(std::ranges::is_sorted(named, {}, first_serial));
    const std::string oldest = storage->get(named.front()).value();
    CHECK(mentions(oldest, "The folded messages are stored as \"c1/folded/1-"));  // those that are not named any more
}

TEST_CASE("an object is named by the messages in it, not by the number of the summary before them", "[summarization]") {
    SummarizationConfig config = offloading();
    config.keep_recent_tokens = 1'500;
    const Chain<> chain = chain_on(memory_storage(), config);
    Conversation<> conversation = many_rounds(20);
    Serial last = 0;
    for (int fold = 0; fold < 4; ++fold) {
        CAPTURE(fold);
        const std::string id = "big" + std::to_string(fold);
        REQUIRE(chain.before_model(conversation).changed());
        conversation.push_back(ChatMessage::assistant("").call(id, "read", "{}"));
        conversation.push_back(ChatMessage::result(id, "read", id + std::string(14'000, 'y')));
        const std::string summary = folded_summary(conversation);
        const std::string key = summary.substr(summary.rfind("c1/folded/"));
        const Serial first = std::stoull(key.substr(10));
        CHECK(first > last);
        last = std::stoull(key.substr(key.find('-') + 1));
        CHECK(first <= last);
    }
}

TEST_CASE("without a storage nothing is stored, and check says so", "[summarization]") {
    Conversation<> conversation = many_rounds(20);
    const Chain<> chain = chain_on(nullptr);
    REQUIRE(chain.before_model(conversation).changed());
    CHECK_FALSE(mentions(folded_summary(conversation), "are stored as"));
    const auto warned = chain.config_warnings();
    CHECK(std::ranges::any_of(warned, [](const auto& w) { return mentions(w.field, "offload_folded"); }));
}

TEST_CASE("nothing is folded that the store does not take", "[summarization]") {
    Conversation<> conversation = many_rounds(20);
    const std::size_t size = conversation.size();
    const Chain<> chain = chain_on(memory_storage({.max_bytes = 10}));
    CHECK_FALSE(chain.before_model(conversation).changed());
    CHECK(conversation.size() == size);
    CHECK(folded_summary(conversation).empty());
}

TEST_CASE("other content under the key of a fold gets another key", "[summarization]") {
    const auto storage = memory_storage();
    const Chain<> chain = chain_on(storage);
    Conversation<> conversation = many_rounds(20);
    REQUIRE(chain.before_model(conversation).changed());
    const std::string key = keys_in(*storage).front();
    const auto other = memory_storage();
    other->put_if_absent(key, "of another run");
    Conversation<> again = many_rounds(20);
    REQUIRE(chain_on(other).before_model(again).changed());
    CHECK(mentions(folded_summary(again), key + "-2\""));
    CHECK(other->get(key) == "of another run");
    CHECK(other->get(key + "-2") == storage->get(key));
}

TEST_CASE("a rehearsal stores nothing", "[summarization]") {
    const auto storage = memory_storage();
    ChainConfig config;
    config.storage = storage;
    config.dry_run = true;
    const Chain<> chain{config, {}, {std::make_shared<Summarization<>>(nullptr, offloading())}};
    Conversation<> conversation = many_rounds(20);
    CHECK_FALSE(chain.before_model(conversation).changed());
    CHECK(keys_in(*storage).empty());
}
