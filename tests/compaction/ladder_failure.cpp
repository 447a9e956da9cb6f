// Who writes the summary, what happens when nobody does, and what is reported.
#include "ladder_talk.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <memory>
#include <string>

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("without a summarizer the agent's own model writes the summary", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Ladder ladder(sizes(400, 200, 20), pessimistic_chain(), std::shared_ptr<Model<ChatMessage>>());
    Asked own;
    const auto model = summarizer(own);
    CHECK(ladder.ask(conversation, {.model = model.get()}).outcome == Outcome::committed);
    REQUIRE(own.size() == 1);
    CHECK(own[0].purpose == "compaction: summary");
}

TEST_CASE("with neither model only the cheap stages run, and that is said once", "[compaction]") {
    Conversation<> conversation = mixed(900);
    CompactionConfig config = sizes(700, 200, 60);
    Ladder ladder(config, pessimistic_chain(), std::shared_ptr<Model<ChatMessage>>());
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(contains(all_text(conversation), "[image removed]"));
    ladder.ask(conversation);
    ladder.ask(conversation);
    CHECK(std::ranges::count(ladder.events, "no_model") == 1);
    CHECK(summaries_of(conversation).empty());
}

TEST_CASE("a summarizer that fails any number of times leaves the history untouched until it works", "[compaction]") {
    for (int failures = 0; failures <= 7; ++failures) {
        CAPTURE(failures);
        Conversation<> conversation = mixed(900);
        const std::string before = bytes_of_all(conversation);
        int calls = 0;
        CompactionConfig config = sizes(700, 200, 60);
        config.failure_cool_down_tokens = 1;
        Ladder ladder(config, pessimistic_chain(), failing(ModelErrorClass::server, calls, failures));
        for (int hook = 0; hook * 3 + 2 < failures; ++hook) {
            CHECK(ladder.ask(conversation).outcome == Outcome::failed);
            CHECK(bytes_of_all(conversation).starts_with(before));
            CHECK(conversation.journal().empty());
            conversation.push_back(ChatMessage::assistant("more of it"));
        }
        CHECK(ladder.ask(conversation).outcome == Outcome::committed);
        CHECK(calls == failures + 1);
        CHECK(summaries_of(conversation).size() == 1);
    }
}

TEST_CASE("after a failure nothing is asked until the conversation has grown", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    int calls = 0;
    CompactionConfig config = sizes(400, 200, 20);
    config.failure_cool_down_tokens = 100;
    Ladder ladder(config, pessimistic_chain(), failing(ModelErrorClass::auth, calls));
    CHECK(ladder.ask(conversation).outcome == Outcome::failed);
    CHECK(calls == 1);  // a refused key is not tried again
    CHECK(ladder.ask(conversation).outcome == Outcome::cooling_down);
    conversation.push_back(ChatMessage::assistant(std::string(200, 'z')));
    CHECK(ladder.ask(conversation).outcome == Outcome::cooling_down);
    conversation.push_back(ChatMessage::assistant(std::string(200, 'z')));
    CHECK(ladder.ask(conversation).outcome == Outcome::failed);
    CHECK(calls == 2);
}

TEST_CASE("attempts are half a second apart", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    int calls = 0;
    Ladder ladder(sizes(400, 200, 20), pessimistic_chain(), failing(ModelErrorClass::transport, calls));
    const UnixMillis start = ladder.clock->now();
    CHECK(ladder.ask(conversation).outcome == Outcome::failed);
    CHECK(calls == 3);
    CHECK(ladder.clock->now() - start == 1'000);
}

TEST_CASE("what has to stay and is too much is reported once, with its parts, and nothing is bought", "[compaction]") {
    Conversation<> conversation = build(3, std::string(100, 'y'));
    conversation.push_back(ChatMessage::assistant(std::string(2'000, 'z')));
    Ladder ladder(sizes(400, 200, 20));
    const StageReport& report = ladder.ask(conversation, {.system = "beside"});
    CHECK(report.outcome == Outcome::nothing);
    CHECK(contains(report.details->error, "the threshold is 400"));
    CHECK(contains(report.details->error, "2 beside the messages"));
    CHECK(contains(report.details->error, "7 in the protected prefix"));
    ladder.ask(conversation, {.system = "beside"});
    ladder.ask(conversation, {.system = "beside"});
    CHECK(std::ranges::count(ladder.events, "irreducible") == 1);
    CHECK(ladder.asked.empty());
    push_turn(conversation, 4, "next");  // now it can be folded
    CHECK(ladder.ask(conversation, {.system = "beside"}).outcome == Outcome::committed);
}

TEST_CASE("a stop surfaces at once and changes nothing", "[compaction]") {
    Conversation<> conversation = mixed(900);
    const std::string before = bytes_of_all(conversation);
    StopSource stop;
    const auto model =
        std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> {
            stop.request_stop();
            throw ModelError(ModelErrorClass::server, "cut off");
        });
    ChainConfig chain = pessimistic_chain();
    chain.on_error = OnError::propagate;
    Ladder ladder(sizes(700, 200, 60), chain, model);
    CHECK_THROWS_AS(ladder.ask(conversation, {.stop = stop.get_token()}), Error);
    CHECK(bytes_of_all(conversation) == before);
}

TEST_CASE("a dry run plans, asks nobody and changes nothing", "[compaction]") {
    Conversation<> conversation = mixed(900);
    const std::string before = bytes_of_all(conversation);
    ChainConfig chain = pessimistic_chain();
    chain.dry_run = true;
    Ladder ladder(sizes(700, 200, 60), chain);
    const StageReport& report = ladder.ask(conversation);
    CHECK(report.outcome == Outcome::planned);
    CHECK(report.details->tokens_after < report.details->tokens_before);
    CHECK(bytes_of_all(conversation) == before);
    CHECK(ladder.asked.empty());
}

TEST_CASE("a counter of its own judges the threshold", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));  // 1,024 tokens by fours, 1,369 by threes
    CompactionConfig config = sizes(1'200, 200, 60);
    Ladder by_fours(config, {});
    CHECK(by_fours.ask(conversation).outcome == Outcome::not_due);
    config.token_counter = pessimistic_counter();
    Ladder by_threes(config, {});
    const StageReport& report = by_threes.ask(conversation);
    CHECK(report.outcome == Outcome::committed);
    CHECK(report.counter == pessimistic_counter()->id());
}

TEST_CASE("a request that the model calls too large is compacted to what it takes", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Ladder ladder(sizes(40'000, 3'000, 100));
    CHECK(ladder.ask(conversation).outcome == Outcome::not_due);
    CHECK(ladder.chain.on_overflow(conversation, {.context_limit_tokens = 700, .requested_tokens = 1'400}, {}));
    CHECK(conversation.tokens(pessimistic_counter()) <= 700);
    CHECK(ladder.asked.size() > 1);  // the summarizer's window is the same
}

TEST_CASE("nothing in front of the first message that may be folded is touched", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    CompactionConfig config = sizes(400, 200, 20);
    const Compaction<> stage(nullptr, config);
    CHECK(stage.expected_stable_prefix(conversation) == 1);
    CHECK(stage.exclusive_task() == fold_history_task);
    Ladder ladder(config);
    ladder.ask(conversation);
    CHECK(stage.expected_stable_prefix(conversation) == 1);
}
