// A long run of one request, in a chain as a host sets it up.
#include "ladder_talk.hpp"
#include "support/catch.hpp"
#include "whittle/pruning/detail/pruned_outputs.hpp"

#include <string>

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("a ladder that keeps rounds of the current turn keeps a long run below its threshold", "[compaction]") {
    Asked asked;
    const auto cheap_model = summarizer(asked, "<summary>What was done.</summary>");
    CompactionConfig config{.threshold_tokens = 60'000, .target_tokens = 12'000, .summary_size_tokens = 1'500};
    config.current_turn_keep_rounds = 8;  // for agents that work long on one request
    Chain<> chain(ChainConfig{.storage = memory_storage()}, Compaction<>(cheap_model, config));
    Conversation<> conversation;
    conversation.push_back(ChatMessage::user("Go through all files."));
    for (int i = 0; i < 200; ++i) {
        const std::string id = "c" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("next").call(id, "read_file", "{}"));
        conversation.push_back(ChatMessage::result(id, "read_file", std::string(4'000, 'x')));
        chain.before_model(conversation);
        CHECK(conversation.tokens(chars_counter()) <= 60'000);
    }
    CHECK(asked.empty());  // pruned results of old rounds free enough
    CHECK(pruned_outputs(conversation).size() > 100);
}
