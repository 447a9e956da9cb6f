#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace whittle;

TEST_CASE("undoing a commit of many messages polls for each, and a check that throws changes nothing", "[chain]") {
    struct Enough {};
    Conversation<ChatMessage> conversation("talk");
    conversation.push_back(ChatMessage::user("go"));
    for (int i = 0; i < 100; ++i) {
        const std::string id = "c" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("").call(id, "read", "{}"));
        conversation.push_back(ChatMessage::result(id, "read", std::string(900, 'x')));
    }
    const std::vector<ChatMessage> original(conversation.messages().begin(), conversation.messages().end());
    const Chain<ChatMessage> chain{ChainConfig{.storage = memory_storage()},
                                   Reduction{ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 300}}};
    chain.before_model(conversation);
    REQUIRE(conversation.journal().size() == 1);
    const std::vector<ChatMessage> cleared(conversation.messages().begin(), conversation.messages().end());

    for (const std::size_t at : {1U, 60U, 150U}) {
        std::size_t polls = 0;
        CHECK_THROWS_AS(conversation.undo([&] {
            if (++polls == at) throw Enough{};
        }),
                        Enough);
        CHECK(polls == at);
        CHECK(std::vector<ChatMessage>(conversation.messages().begin(), conversation.messages().end()) == cleared);
        CHECK(conversation.journal().size() == 1);
    }
    std::size_t polls = 0;
    CHECK(conversation.undo([&] { ++polls; }));
    CHECK(polls >= 2 * 99);  // read, then counted
    CHECK(std::vector<ChatMessage>(conversation.messages().begin(), conversation.messages().end()) == original);
    CHECK_FALSE(conversation.undo([&] { ++polls; }));
}
