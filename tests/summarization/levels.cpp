// Summaries behind summaries, and summaries of these.
#include "support/catch.hpp"
#include "talk.hpp"
#include "whittle/saved/side_table.hpp"
#include "whittle/summarization/summarization.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

SummarizationConfig in_levels(int per_level) {
    SummarizationConfig config = small_trigger();
    config.summaries_per_level = per_level;
    return config;
}

/// Numbers its summaries.
std::shared_ptr<Summarizer<>> numbering() {
    return std::make_shared<Summarizer<>>([](const ModelRequest<ChatMessage>&, int call) {
        return Reply<ChatMessage>{
            ChatMessage::assistant("<summary>1. Intent: GIST " + std::to_string(call) + "</summary>")};
    });
}

Chain<> summing(std::shared_ptr<Model<ChatMessage>> model, SummarizationConfig config, ChainConfig chain = {}) {
    return Chain<>(std::move(chain),
                   Chain<>::Stages{std::make_shared<Summarization<>>(std::move(model), std::move(config))});
}

/// Works until a summary is due.
void work_on(Conversation<>& conversation, const Chain<>& chain, int& number) {
    for (int i = 0; i < 20; ++i) {
        const std::string id = "w" + std::to_string(++number);
        conversation.push_back(ChatMessage::assistant("step").call(id, "read_file", R"({"path":")" + id + "\"}"));
        conversation.push_back(ChatMessage::result(id, "read_file", id + ": " + std::string(1'500, 'x')));
        if (chain.before_model(conversation).changed()) return;
    }
    FAIL("no summary came about");
}

std::vector<int> levels_of(const Conversation<>& conversation) {
    std::vector<int> levels;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        const Mark& mark = conversation.outline()[i].mark;
        if (origin_of(mark) == Origin::summary) levels.push_back(mark->level);
    }
    return levels;
}

using Levels = std::vector<int>;

}  // namespace

TEST_CASE("summaries of one level become one of the next, and the others stay byte for byte", "[summarization]") {
    const std::vector<Levels> expected{{0}, {0, 0}, {1}, {1, 0}, {1, 0, 0}, {1, 1}, {1, 1, 0}, {1, 1, 0, 0}, {2}};
    const auto model = numbering();
    const Chain<> chain = summing(model, in_levels(3));
    Conversation<> conversation("levels");
    conversation.push_back(ChatMessage::user("read all of it"));
    int number = 0;
    for (const Levels& levels : expected) {
        const std::vector<std::string> before = texts_of(conversation.messages());
        const std::size_t standing = levels_of(conversation).size();
        work_on(conversation, chain, number);
        CHECK(levels_of(conversation) == levels);
        if (levels.size() <= standing) continue;
        for (std::size_t i = 0; i < standing + 1; ++i) CHECK(texts_of(conversation.messages())[i] == before[i]);
    }
    CHECK(model->asked.size() == expected.size());
    while (!conversation.journal().empty()) REQUIRE(conversation.undo());
    CHECK(levels_of(conversation).empty());
    CHECK(conversation.size() == 1 + 2 * static_cast<std::size_t>(number));
}

TEST_CASE("a summary in levels is of what is new, and the model is told so", "[summarization]") {
    const auto model = numbering();
    const Chain<> chain = summing(model, in_levels(4));
    Conversation<> conversation("levels");
    conversation.push_back(ChatMessage::user("read all of it"));
    int number = 0;
    for (int i = 0; i < 4; ++i) work_on(conversation, chain, number);
    const auto request = [&](std::size_t i) {
        std::string text;
        for (const std::string& one : texts_of<ChatMessage>(model->asked.at(i).messages)) text += one;
        return text;
    };
    CHECK(request(0).find("earlier summaries") == std::string::npos);
    CHECK(request(1).find("earlier summaries") != std::string::npos);
    CHECK(request(1).find("GIST 1") == std::string::npos);
    CHECK(request(1).find("w1:") == std::string::npos);
    CHECK(request(3).find("GIST 1") != std::string::npos);  // the level is full: all become one
    CHECK(request(3).find("GIST 3") != std::string::npos);
}

TEST_CASE("levels are saved, and go on after loading", "[summarization]") {
    const Chain<> chain = summing(numbering(), in_levels(2));
    Conversation<> conversation("levels");
    conversation.push_back(ChatMessage::user("read all of it"));
    int number = 0;
    for (int i = 0; i < 2; ++i) work_on(conversation, chain, number);
    REQUIRE(levels_of(conversation) == Levels{1});
    const std::vector<ChatMessage> messages(conversation.messages().begin(), conversation.messages().end());
    Conversation<> loaded = from_side_table(to_side_table(conversation), messages, nullptr);
    work_on(loaded, chain, number);
    CHECK(levels_of(loaded) == Levels{1, 0});
}

TEST_CASE("all becomes one summary where the levels take too much, on overflow, and at the host's wish",
          "[summarization]") {
    Conversation<> conversation("levels");
    conversation.push_back(ChatMessage::user("read all of it"));
    int number = 0;
    SECTION("on overflow and on demand") {
        const Chain<> chain = summing(numbering(), in_levels(10));
        for (int i = 0; i < 3; ++i) work_on(conversation, chain, number);
        REQUIRE(levels_of(conversation) == Levels{0, 0, 0});
        conversation.push_back(ChatMessage::assistant(std::string(4'000, 'y')));
        if (GENERATE(true, false)) {
            CHECK(chain.on_overflow(conversation, {}));
        } else {
            CHECK(chain.compact_now(conversation).changed());
        }
        CHECK(levels_of(conversation).size() == 1);
    }
    SECTION("no more than a third") {
        const auto model = std::make_shared<Summarizer<>>([](const ModelRequest<ChatMessage>&, int) {
            return Reply<ChatMessage>{ChatMessage::assistant("<summary>" + std::string(2'400, 'z') + "</summary>")};
        });
        const Chain<> chain = summing(model, in_levels(10));
        std::size_t most = 0;
        for (int i = 0; i < 6; ++i) {
            work_on(conversation, chain, number);
            most = std::max(most, levels_of(conversation).size());
        }
        CHECK(most == 2);
        CHECK(conversation.tokens(chars_counter()) < 3'000);
    }
}

TEST_CASE("where the rules want turns there is one summary, and the settings warn", "[summarization]") {
    ChainConfig config;
    config.profile.validity = gemini_chat();
    const Chain<> chain = summing(numbering(), in_levels(3), config);
    CHECK(std::ranges::any_of(chain.config_warnings(), [](const Problem& problem) {
        return to_string(problem).find("summaries_per_level") != std::string::npos;
    }));
    Conversation<> conversation("levels");
    conversation.push_back(ChatMessage::user("read all of it"));
    int number = 0;
    for (int i = 0; i < 3; ++i) work_on(conversation, chain, number);
    CHECK(levels_of(conversation).size() == 1);
    CHECK_THROWS_AS(summing(numbering(), in_levels(1)), Error);
}
