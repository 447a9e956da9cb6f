// What a run that could do little leaves for later hooks to know.
#include "ladder_talk.hpp"

#include "support/catch.hpp"
#include "whittle/compaction/compaction.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

CompactionConfig pruned_to_the_end() {
    CompactionConfig config = sizes(5'000, 400, 60);
    config.pruning->skip_boundary_turns = 1;
    return config;
}

Conversation<> all_pinned() {
    Conversation<> conversation = build(3, std::string(300, 'y'));
    for (std::size_t i = 1; i < conversation.size(); ++i) conversation.pin(conversation.outline()[i].serial);
    return conversation;
}

}  // namespace

TEST_CASE("after a summary that would break a rule, the wait starts from what pruning left", "[compaction]") {
    Conversation<> conversation = mixed(9'000, 4'000);
    ChainConfig chain = pessimistic_chain();
    chain.profile.validity = openai_compatible();  // one system message, and it is first
    Ladder ladder(pruned_to_the_end(), chain);
    const std::int64_t before = conversation.tokens(pessimistic_counter());
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    const std::int64_t after = conversation.tokens(pessimistic_counter());
    REQUIRE(after < before - 1'000);
    REQUIRE(after > 5'000);
    CHECK(std::ranges::count(ladder.events, "no_valid_summary") == 1);
    push_turn(conversation, 4, std::string(900, 'y'));
    ladder.ask(conversation);
    CHECK(std::ranges::count(ladder.events, "no_valid_summary") == 2);
}

TEST_CASE("where no user has spoken, what comes behind a run that could do nothing is seen", "[compaction]") {
    Conversation<> conversation =
        untagged({ChatMessage::system("SYSTEM"), ChatMessage::assistant("look").call("a", "read_file", "{}"),
                  ChatMessage::result("a", "read_file", std::string(6'000, 'r'))});
    Ladder ladder(sizes(1'000, 400, 100));
    CHECK(ladder.ask(conversation).outcome == Outcome::nothing);
    conversation.push_back(ChatMessage::assistant("more").call("b", "read_file", "{}"));
    conversation.push_back(ChatMessage::result("b", "read_file", "short"));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(conversation.tokens(pessimistic_counter()) <= 1'000);
}

TEST_CASE("a pin that changes places is a new situation", "[compaction]") {
    Conversation<> conversation = all_pinned();
    const Serial last = conversation.outline()[6].serial;
    conversation.unpin(last);
    Ladder ladder(sizes(400, 200, 20));
    CHECK(ladder.ask(conversation).outcome == Outcome::nothing);
    CHECK(ladder.ask(conversation).outcome == Outcome::cooling_down);
    conversation.pin(last);
    conversation.unpin(conversation.outline()[2].serial);
    CHECK(ladder.ask(conversation).outcome != Outcome::cooling_down);
}

TEST_CASE("a floor is told also where something else was in the way before", "[compaction]") {
    Conversation<> conversation = build(6, std::string(200, 'y'));
    Ladder ladder(sizes(400, 150, 20), pessimistic_chain(), std::string(60, 's'));
    REQUIRE(ladder.ask(conversation).outcome == Outcome::committed);
    conversation.push_back(ChatMessage::user(std::string(705, 'u')));
    ladder.ask(conversation);
    REQUIRE(std::ranges::count(ladder.events, "nothing_to_fold") == 1);
    conversation.begin_turn();
    conversation.push_back(ChatMessage::user(std::string(2'000, 'u')));
    ladder.ask(conversation);
    ladder.ask(conversation);
    CHECK(std::ranges::count(ladder.events, "irreducible") == 1);
}

TEST_CASE("with explain every hook lists its candidates, also where the last one could do nothing", "[compaction]") {
    Conversation<> conversation = all_pinned();
    ChainConfig chain = pessimistic_chain();
    chain.explain = true;
    Ladder ladder(sizes(400, 200, 20), chain);
    for (int i = 0; i < 2; ++i) {
        const StageReport& report = ladder.ask(conversation);
        CHECK(report.outcome == Outcome::nothing);
        REQUIRE(report.details);
        CHECK(report.details->candidates.size() >= conversation.size());
    }
}

TEST_CASE("where no call is left for a summary, what pruning planned is committed", "[compaction]") {
    Conversation<> conversation = mixed(9'000, 4'000);
    ChainConfig chain = pessimistic_chain();
    chain.limits.model_calls = 0;
    Ladder ladder(pruned_to_the_end(), chain);
    const std::int64_t before = conversation.tokens(pessimistic_counter());
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(conversation.tokens(pessimistic_counter()) < before - 1'000);
    CHECK(std::ranges::count(ladder.events, "unfinished") == 1);
    CHECK(ladder.asked.empty());
}

TEST_CASE("media references with a store of pruning's own need no other", "[compaction]") {
    CompactionConfig config;
    config.media = MediaMode::reference;
    Problems problems;
    check_compaction(config, {}, {}, "compaction", problems);
    CHECK(problems.all().size() == 1);
    config.pruning->storage = memory_storage();
    Problems none;
    check_compaction(config, {}, {}, "compaction", none);
    CHECK(none.all().empty());
}
