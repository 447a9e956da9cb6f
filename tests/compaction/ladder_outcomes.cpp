// Stores that refuse, summaries that the output limit cuts off, and runs that can do nothing.
#include "../../src/compaction/turn_fold.hpp"
#include "ladder_talk.hpp"
#include "support/catch.hpp"
#include "support/picky_storage.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Wants `wanted` sentences and stops where its output limit (in tokens of 3 bytes) is.
std::shared_ptr<Model<ChatMessage>> obedient(int wanted, Asked& asked) {
    return std::make_shared<ScriptedModel<ChatMessage>>([wanted, &asked](const ModelRequest<ChatMessage>& request) {
        const std::int64_t limit = request.options->max_output_tokens;
        std::string text;
        for (const ChatMessage& m : request.messages) text += text_of(m) + "\n";
        asked.push_back({text, limit, {}});
        std::string reply = "<summary>";
        for (int i = 0; i < wanted; ++i) reply += "Fact number " + std::to_string(i) + " holds. ";
        const auto bytes = static_cast<std::size_t>(limit * 3);
        if (reply.size() <= bytes) return Reply<ChatMessage>{ChatMessage::assistant(reply + "</summary>")};
        return Reply<ChatMessage>{ChatMessage::assistant(reply.substr(0, bytes)), {}, FinishReason::length};
    });
}

}  // namespace

TEST_CASE("a refused original takes its edit along and not the summary that was paid for", "[compaction]") {
    for (const std::string refused : {"/media/", "/pruned/", ""}) {
        CAPTURE(refused);
        Conversation<> conversation = mixed(900);
        const std::string before = bytes_of_all(conversation);
        CompactionConfig config = sizes(480, 200, 60);
        config.pruning->skip_boundary_turns = 1;
        ChainConfig chain = pessimistic_chain();
        const auto storage = std::make_shared<PickyStorage>(refused);
        chain.storage = storage;
        Ladder ladder(config, chain);
        CHECK(ladder.ask(conversation).outcome == Outcome::committed);
        CHECK(ladder.asked.size() == 1);
        REQUIRE(summaries_of(conversation) == std::vector<std::size_t>{1});
        CHECK(conversation.outline()[1].mark->stored_keys.size() == (refused == "/media/" ? 2U
                                                                     : refused.empty()    ? 0U
                                                                                          : 1U));
        CHECK(ladder.ask(conversation).outcome == Outcome::not_due);
        CHECK(conversation.undo());
        CHECK(bytes_of_all(conversation) == before);
    }
}

TEST_CASE("a store that keeps nothing does not keep the ladder from its summary", "[compaction]") {
    Conversation<> conversation = mixed(3'000);
    CompactionConfig config = sizes(2'500, 2'400, 100);  // pruning alone would be enough
    config.pruning->skip_boundary_turns = 1;
    ChainConfig chain = pessimistic_chain();
    chain.limits.store_bytes = 10;
    chain.storage = memory_storage();
    Ladder ladder(config, chain);
    const StageReport& report = ladder.ask(conversation);
    CHECK(report.outcome == Outcome::committed);
    CHECK_FALSE(report.details->store_failures.empty());
    CHECK(ladder.asked.size() == 1);
    CHECK(summaries_of(conversation).size() == 1);
    CHECK(conversation.tokens(pessimistic_counter()) <= 2'500);
}

TEST_CASE("what is stored before the commit is not stored again, and a refusal is told with the commit",
          "[compaction]") {
    Conversation<> conversation = mixed(900);
    const auto storage = std::make_shared<PickyStorage>("bad");
    auto edit = conversation.edit("test", {.storage = storage});
    for (const std::string key : {"good", "bad"}) {
        edit.begin_edit_group();
        edit.set_text(key == "good" ? 3 : 8, 0, key, {.origin = Origin::placeholder});
        edit.store_on_commit(key, "content");
    }
    CHECK(edit.store_and_drop_refused() == 1);
    CHECK(edit.store_and_drop_refused() == 0);
    const CommitResult result = edit.commit();
    CHECK(result.committed());
    CHECK(result.unstored_edit_groups == 1);
    CHECK(storage->puts == 2);
    CHECK(text_of(conversation.messages()[3], 0) == "good");
    CHECK(text_of(conversation.messages()[8], 0) == std::string(900, 'r'));
    auto refused = conversation.edit("test", {.storage = storage});
    refused.begin_edit_group();
    refused.set_text(8, 0, "less", {.origin = Origin::placeholder});
    refused.store_on_commit("bad", "content");
    CHECK(refused.store_and_drop_refused() == 1);
    CHECK(refused.commit().outcome == Outcome::store_failed);
}

TEST_CASE("a summary that its output limit cut off is none: the history stays as it was", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    const std::string before = bytes_of_all(conversation);
    Asked asked;
    Ladder ladder(sizes(600, 400, 60), pessimistic_chain(), obedient(100, asked));
    CHECK(ladder.ask(conversation).outcome == Outcome::failed);
    CHECK(asked.size() == 3);
    CHECK(bytes_of_all(conversation) == before);
}

TEST_CASE("no part of a long history is asked for more than the output limit allows", "[compaction]") {
    Conversation<> conversation = build(40, std::string(900, 'y'));
    CompactionConfig config = sizes(9'000, 2'000, 300);
    config.max_input_tokens = 3'000;
    Asked asked;
    Ladder ladder(config, pessimistic_chain(), obedient(3, asked));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    REQUIRE(asked.size() > 2);
    CHECK(contains(asked[0].text, "Keep the summary under 150 words"));
}

TEST_CASE("that nothing but the previous summary can be folded is said once, and no later hook works on it again",
          "[compaction]") {
    Conversation<> conversation = build(6, std::string(200, 'y'));
    Ladder ladder(sizes(400, 150, 20), pessimistic_chain(), std::string(60, 's'));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    conversation.push_back(ChatMessage::user(std::string(705, 'u')));
    const StageReport& first = ladder.ask(conversation);
    CHECK(first.outcome == Outcome::nothing);
    REQUIRE(first.details);
    CHECK(contains(first.details->error, "only the previous summary can be folded"));
    for (int i = 0; i < 3; ++i) {
        conversation.push_back(ChatMessage::assistant("more"));
        CHECK(ladder.ask(conversation).outcome == Outcome::cooling_down);
    }
    CHECK(std::ranges::count(ladder.events, "nothing_to_fold") == 1);
    CHECK(ladder.asked.size() == 1);
    push_turn(conversation, 8, "next");  // the large turn can be folded
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(ladder.asked.size() == 2);
}

TEST_CASE("a run that could do nothing is tried again where a pin goes or the request shrinks", "[compaction]") {
    Conversation<> conversation = build(3, std::string(300, 'y'));
    const Serial pinned = conversation.outline()[1].serial;
    for (std::size_t i = 1; i < conversation.size(); ++i) conversation.pin(conversation.outline()[i].serial);
    Ladder ladder(sizes(400, 200, 20));
    CHECK(ladder.ask(conversation).outcome == Outcome::nothing);
    CHECK(ladder.ask(conversation).outcome == Outcome::cooling_down);
    for (std::size_t i = 1; i < 5; ++i) conversation.unpin(conversation.outline()[i].serial);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK_FALSE(conversation.outline().index_of(pinned));
}

TEST_CASE("without a model no message is said to be folded", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    ChainConfig chain = pessimistic_chain();
    chain.explain = true;
    Ladder ladder(sizes(400, 200, 20), chain, std::shared_ptr<Model<ChatMessage>>());
    const StageReport& report = ladder.ask(conversation);
    REQUIRE(report.details);
    CHECK(report.details->candidates.size() == conversation.size());
    CHECK(std::ranges::none_of(report.details->candidates, [](const auto& c) { return c.removed; }));
}

TEST_CASE("a summary that would break a rule is said, and the next attempt waits", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    CompactionConfig config = sizes(600, 400, 60);  // its summary is a system message
    ChainConfig chain = pessimistic_chain();
    chain.profile.validity = openai_compatible();  // one system message, and it is first
    Ladder ladder(config, chain);
    const StageReport& report = ladder.ask(conversation);
    REQUIRE(report.details);
    CHECK(contains(report.details->error, "it would break a rule"));
    CHECK(ladder.asked.empty());
    CHECK(ladder.ask(conversation).outcome == Outcome::cooling_down);
    CHECK(std::ranges::count(ladder.events, "no_valid_summary") == 1);
}

TEST_CASE("a dry run leaves no notes", "[compaction]") {
    Conversation<> conversation = build(3, std::string(100, 'y'));
    conversation.push_back(ChatMessage::assistant(std::string(2'000, 'z')));
    ChainConfig chain = pessimistic_chain();
    chain.dry_run = true;
    Ladder(sizes(400, 200, 20), chain).ask(conversation);
    CHECK(conversation.middleware_notes().all().empty());
    CHECK(contains(conversation.report().stages[0].details->error, "the threshold is 400"));
}

TEST_CASE("a budget that another used up is no failure of the ladder", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    ChainConfig chain = pessimistic_chain();
    chain.limits.model_calls = 0;
    Ladder ladder(sizes(400, 200, 20), chain);
    CHECK(ladder.ask(conversation).outcome == Outcome::nothing);
    CHECK(std::ranges::count(ladder.events, "unfinished") == 1);
    CHECK(std::ranges::count(ladder.events, "failed") == 0);
}

TEST_CASE("a threshold above what the model takes is lowered to it, with target and summary below", "[compaction]") {
    CHECK(fitted_to({40'000, 3'000, 1'000}, 0) == CompactionLimits{40'000, 3'000, 1'000});
    CHECK(fitted_to({40'000, 3'000, 1'000}, 100'000) == CompactionLimits{40'000, 3'000, 1'000});
    CHECK(fitted_to({40'000, 3'000, 1'000}, 10'000) == CompactionLimits{10'000, 3'000, 1'000});
    CHECK(fitted_to({40'000, 3'000, 1'000}, 1'200) == CompactionLimits{1'200, 600, 300});
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Ladder ladder(sizes(40'000, 3'000, 100));
    CHECK(ladder.ask(conversation).outcome == Outcome::not_due);
    CHECK(ladder.chain.on_overflow(conversation, {.context_limit_tokens = 700, .requested_tokens = 1'400}, {}));
    for (int n = 11; n <= 30; ++n) {
        push_turn(conversation, n, std::string(200, 'y'));
        ladder.ask(conversation);
        CHECK(conversation.tokens(pessimistic_counter()) <= 700);
    }
}

TEST_CASE("where only the newest rounds stay as they are, older results of the current turn are pruned",
          "[compaction]") {
    Conversation<> conversation("long");
    conversation.push_back(ChatMessage::user("do it all"));
    for (int i = 1; i <= 12; ++i) {
        const std::string id = "c" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("step").call(id, "read_file", "{}"));
        conversation.push_back(ChatMessage::result(id, "read_file", id + std::string(3'000, 'r')));
    }
    CompactionConfig config = sizes(9'000, 300, 60);
    config.current_turn_keep_rounds = 2;
    Ladder ladder(config);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(ladder.asked.empty());  // pruning leaves a headroom
    for (std::size_t i = 2; i < conversation.size(); i += 2) {
        CHECK((origin_of(conversation.outline()[i].parts[0].mark) == Origin::placeholder) ==
              (i < conversation.size() - 4));
    }
}

TEST_CASE("pruning in the ladder counts by the ladder's counter", "[compaction]") {
    Conversation<> conversation = mixed(1'000);  // a result has 250 tokens by fours, 334 by threes
    CompactionConfig config = sizes(500, 200, 60);
    config.token_counter = pessimistic_counter();
    config.media = MediaMode::keep;
    config.pruning->skip_boundary_turns = 1;
    config.pruning->protect_newest_tokens = 300;
    Ladder ladder(config, {}, std::shared_ptr<Model<ChatMessage>>());
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    REQUIRE(conversation.outline()[8].parts[0].mark);
    CHECK(conversation.outline()[8].parts[0].mark->reason == "prune");
}
