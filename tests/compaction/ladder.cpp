// The ladder: its settings, stages, stop rules and summaries, and what never changes.
#include "ladder_talk.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::vector<std::string> problems_of(const CompactionConfig& config, const ChainConfig& chain = {}) {
    Problems problems;
    check_compaction(config, chain, {}, "compaction", problems);
    std::vector<std::string> fields;
    for (const Problem& problem : problems.all()) {
        if (problem.severity == Problem::Severity::error) fields.push_back(problem.field);
    }
    return fields;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a target at or above the threshold, and a summary at or above the target, are refused", "[compaction]") {
    CHECK(problems_of({}).empty());
    CHECK(problems_of(sizes(3'000, 3'000, 100)) == Names{"compaction.target_tokens"});
    CHECK(problems_of(sizes(3'001, 3'000, 2'999)).empty());
    CHECK(problems_of(sizes(9'000, 3'000, 3'000)) == Names{"compaction.summary_size_tokens"});
    CHECK(problems_of(sizes(100, 3'000, 4'000)).size() == 2);
    CHECK_THROWS_AS(Chain<>(ChainConfig{}, Compaction<>(nullptr, sizes(10, 20, 5))), Error);
}

TEST_CASE("fractions of the window take over where they are set", "[compaction]") {
    CompactionConfig config;
    config.threshold_fraction = 0.6;
    config.target_fraction = 0.05;
    config.summary_fraction = 0.03;
    CHECK(limits_of(config, 100'000) == CompactionLimits{60'000, 5'000, 3'000});
    CHECK(limits_of(config, 0) == CompactionLimits{40'000, 3'000, 1'000});
    CHECK(limits_of(CompactionConfig{}, 100'000) == CompactionLimits{40'000, 3'000, 1'000});
    ChainConfig chain;
    CHECK(problems_of(config, chain).empty());  // warned of: nobody knows which window
    chain.profile.context_window = 100'000;
    CHECK(problems_of(config, chain).empty());
    config.target_fraction = 0.6;
    CHECK(problems_of(config, chain) == Names{"compaction.target_fraction"});
}

TEST_CASE("every bad setting is named", "[compaction]") {
    CompactionConfig config;
    config.threshold_tokens = 0;
    config.threshold_fraction = 1.5;
    config.skip_summary_margin_fraction = 1.0;
    config.current_turn_keep_rounds = 0;
    config.failure_cool_down_tokens = -1;
    config.pruning->head_bytes = -1;
    config.retry = RetryConfig{-1};
    config.model_options.max_output_tokens = 5;
    CHECK(problems_of(config).size() == 8);  // a threshold of 0 is also below the target
}

TEST_CASE("pruning alone is enough: neither media nor a model are touched", "[compaction]") {
    Conversation<> conversation = mixed(3'000);
    CompactionConfig config = sizes(2'500, 2'400, 100);
    config.pruning->skip_boundary_turns = 1;
    Ladder ladder(config);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(conversation.outline()[3].parts[0].mark->reason == "prune");
    CHECK(conversation.outline()[4].has(PartKind::media));
    CHECK(conversation.outline()[8].parts[0].mark->reason == "prune");
    CHECK(ladder.asked.empty());
    CHECK(conversation.journal().size() == 1);
}

TEST_CASE("a real margin below the threshold makes a summary needless, a bare one does not", "[compaction]") {
    CompactionConfig config = sizes(0, 200, 60);
    for (const bool has_margin : {true, false}) {
        Conversation<> conversation = mixed(30, 600);
        const std::int64_t tokens = conversation.tokens(pessimistic_counter());
        const std::int64_t after = tokens - 995;  // an image becomes "[image removed]"
        config.threshold_tokens = has_margin ? after * 100 / 85 + 5 : after * 100 / 85 - 5;
        REQUIRE(config.threshold_tokens < tokens);
        Ladder ladder(config);
        CHECK(ladder.ask(conversation).outcome == Outcome::committed);
        CHECK(contains(all_text(conversation), "[image removed]") == has_margin);
        CHECK(ladder.asked.size() == (has_margin ? 0U : 1U));
        CHECK(conversation.journal().size() == 1);
    }
}

TEST_CASE("pruned results, media and turns go in one commit, and undo gives everything back", "[compaction]") {
    Conversation<> conversation = mixed(900);
    const std::string before = bytes_of_all(conversation);
    CompactionConfig config = sizes(480, 200, 60);
    config.pruning->skip_boundary_turns = 1;
    ChainConfig chain = pessimistic_chain();
    chain.storage = memory_storage();
    Ladder ladder(config, chain);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    REQUIRE(ladder.asked.size() == 1);
    CHECK(contains(ladder.asked[0].text, "ref://"));
    CHECK(conversation.journal().size() == 1);
    REQUIRE(summaries_of(conversation) == std::vector<std::size_t>{1});
    const Mark mark = conversation.outline()[1].mark;
    CHECK(mark->stored_keys.size() == 3);  // two results, one image
    for (const std::string& key : mark->stored_keys) CHECK(chain.storage->get(key, 0, INT64_MAX));
    CHECK(conversation.undo());
    CHECK(bytes_of_all(conversation) == before);
    CHECK_FALSE(conversation.undo());
}

TEST_CASE("taking a fold back leaves what was planned before it on the same messages", "[compaction]") {
    Conversation<> conversation = build(3, "text");
    auto edit = conversation.edit("test");
    edit.begin_edit_group();
    edit.set_text(1, 0, "shorter", {.origin = Origin::placeholder});
    const EditGroup fold = edit.begin_edit_group();
    edit.replace_range(1, 3, {ChatMessage::user("a fold")}, {.origin = Origin::summary});
    edit.drop_edit_group(fold);
    CHECK(edit.messages().size() == conversation.size());
    CHECK(text_of(edit.messages()[1]) == "shorter");
    CHECK(text_of(edit.messages()[2]) == "a1: text");
}

TEST_CASE("an image that stage 1 took out is in the store, also when its message was summarized", "[compaction]") {
    Conversation<> conversation = mixed(900);
    ChainConfig chain = pessimistic_chain();
    chain.storage = memory_storage();
    CompactionConfig config = sizes(700, 200, 60);
    config.pruning.reset();
    Ladder ladder(config, chain);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    REQUIRE(summaries_of(conversation).size() == 1);
    const auto& stored = conversation.outline()[1].mark->stored_keys;
    REQUIRE(stored.size() == 1);
    CHECK(chain.storage->get(stored[0], 0, INT64_MAX) == offload_content(image_of(50).parts));
    CHECK(conversation.undo());
    CHECK(conversation.messages()[4] == image_of(50));
}

TEST_CASE("the current turn is the same before and after, byte for byte, images included", "[compaction]") {
    Conversation<> conversation = mixed(900);
    conversation.begin_turn();
    conversation.push_back(image_of(70));
    conversation.push_back(ChatMessage::user("what is this?"));
    conversation.push_back(ChatMessage::assistant("look").call("now", "read_file", "{}"));
    conversation.push_back(ChatMessage::result("now", "read_file", std::string(900, 'n')));
    const auto before = messages_of(conversation);
    CompactionConfig config = sizes(1'800, 200, 60);
    config.pruning->skip_boundary_turns = 0;
    Ladder ladder(config);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    REQUIRE(conversation.size() >= 4);
    CHECK(std::equal(before.end() - 4, before.end(), conversation.messages().end() - 4));
    CHECK(ladder.asked.size() == 1);
}

TEST_CASE("of a long current turn only the newest rounds stay, as many as are named", "[compaction]") {
    Conversation<> conversation("long");
    conversation.push_back(ChatMessage::user("do it all"));
    for (int i = 1; i <= 12; ++i) {
        const std::string id = "c" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("step").call(id, "read_file", "{}"));
        conversation.push_back(ChatMessage::result(id, "read_file", id + std::string(300, 'r')));
    }
    const auto before = messages_of(conversation);
    CompactionConfig config = sizes(1'000, 300, 60);
    config.pruning.reset();
    Ladder whole_turn(config);
    CHECK(whole_turn.ask(conversation).outcome == Outcome::nothing);
    CHECK(contains(whole_turn.chain.config().clock ? conversation.report().stages[0].details->error : "",
                   "current turn"));
    config.current_turn_keep_rounds = 2;
    Ladder ladder(config);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(conversation.messages()[0] == before[0]);
    CHECK(summaries_of(conversation) == std::vector<std::size_t>{1});
    CHECK(conversation.outline()[1].turn == 1);
    CHECK(std::equal(before.end() - 4, before.end(), conversation.messages().end() - 4));
    CHECK(validate(conversation.outline(), openai_chat()).empty());
}

TEST_CASE("a second run changes nothing, and a lone summary is never summarized", "[compaction]") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Ladder ladder(sizes(400, 200, 20));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    const auto version = conversation.version();
    CHECK(ladder.ask(conversation).outcome == Outcome::not_due);
    conversation.push_back(ChatMessage::assistant(std::string(600, 'z')));  // the current turn grows alone
    push_turn(conversation, 11, "now");
    ladder.ask(conversation);
    const std::size_t calls = ladder.asked.size();
    conversation.begin_turn();
    conversation.push_back(ChatMessage::user(std::string(1'000, 'u')));
    for (int i = 0; i < 3; ++i) ladder.ask(conversation);
    CHECK(ladder.asked.size() <= calls + 1);
    CHECK(summaries_of(conversation).size() == 1);
    CHECK(version < conversation.version());
}

TEST_CASE("with only a summary to fold, none is bought", "[compaction]") {
    Conversation<> conversation = build(6, std::string(200, 'y'));
    // No turn fits beside the summary and the current one.
    Ladder ladder(sizes(400, 150, 20), pessimistic_chain(), std::string(60, 's'));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    REQUIRE(conversation.size() == 4);
    conversation.push_back(ChatMessage::user(std::string(705, 'u')));
    const auto before = messages_of(conversation);
    CHECK(ladder.ask(conversation).outcome == Outcome::nothing);
    CHECK(messages_of(conversation) == before);
    CHECK(ladder.asked.size() == 1);
}

TEST_CASE("a summary that is a little too long is cut to its size, one that is far too long is refused",
          "[compaction]") {
    CompactionConfig config = sizes(400, 200, 20);
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Ladder ladder(config, pessimistic_chain(), std::string(100, 's'));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    const std::string text = text_of(conversation.messages()[1]);
    CHECK(contains(text, std::string(60, 's')));
    CHECK_FALSE(contains(text, std::string(61, 's')));
    Conversation<> other = build(10, std::string(200, 'y'));
    Ladder talkative(config, pessimistic_chain(), std::string(150, 's'));
    CHECK(talkative.ask(other).outcome == Outcome::failed);
    CHECK(talkative.asked.size() == 3);
    CHECK(other.size() == 21);
}

TEST_CASE("the summarizer is told how long a summary may be, with a task of the user's too", "[compaction]") {
    for (const bool is_own : {false, true}) {
        Conversation<> conversation = build(10, std::string(200, 'y'));
        CompactionConfig config = sizes(600, 400, 60);
        if (is_own) config.user_instruction = "List what happened.";
        Ladder ladder(config);
        CHECK(ladder.ask(conversation).outcome == Outcome::committed);
        REQUIRE(ladder.asked.size() == 1);
        CHECK(contains(ladder.asked[0].text, "at most 30 words"));
        CHECK(contains(ladder.asked[0].text, "List what happened.") == is_own);
    }
}

TEST_CASE("what the summary leaves of its size goes to facts that it lacks, and they outlive the next one",
          "[compaction]") {
    Conversation<> conversation("facts");
    conversation.begin_turn();
    conversation.push_back(ChatMessage::user("You must never touch /etc/secrets.yaml. " + std::string(400, 'x')));
    conversation.push_back(ChatMessage::assistant("ok " + std::string(400, 'x')));
    for (int n = 2; n <= 3; ++n) push_turn(conversation, n, std::string(300, 'y'));
    Ladder ladder(sizes(600, 400, 150));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(contains(text_of(conversation.messages()[0]), "/etc/secrets.yaml"));
    for (int n = 4; n <= 6; ++n) push_turn(conversation, n, std::string(300, 'y'));
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(ladder.asked.size() == 2);
    CHECK(summaries_of(conversation) == std::vector<std::size_t>{0});
    CHECK(contains(text_of(conversation.messages()[0]), "/etc/secrets.yaml"));
}

TEST_CASE("the summary is a user message that says what it is, or a system message where that is asked for",
          "[compaction]") {
    for (const SummaryRole role : {SummaryRole::automatic, SummaryRole::user, SummaryRole::system}) {
        Conversation<> conversation = build(10, std::string(200, 'y'));
        CompactionConfig config = sizes(600, 400, 60);
        config.summary_role = role;
        Ladder ladder(config);
        CHECK(ladder.ask(conversation).outcome == Outcome::committed);
        const ChatMessage& summary = conversation.messages()[1];
        CHECK(summary.role == (role == SummaryRole::system ? Role::system : Role::user));
        CHECK(contains(text_of(summary), "do not answer it") == (role != SummaryRole::system));
    }
}

TEST_CASE("a pinned message of an old turn stays, with its round", "[compaction]") {
    Conversation<> conversation = mixed(900);
    conversation.pin(conversation.outline()[3].serial);
    const auto before = messages_of(conversation);
    CompactionConfig config = sizes(1'200, 700, 60);
    config.pruning.reset();
    config.media = MediaMode::keep;
    Ladder ladder(config);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(ladder.asked.size() == 1);
    CHECK(std::ranges::count(conversation.messages(), before[2]) == 1);
    CHECK(std::ranges::count(conversation.messages(), before[3]) == 1);
    CHECK(validate(conversation.outline(), openai_chat()).empty());
}

TEST_CASE("a summary beyond the model's input is made in pieces that fit", "[compaction]") {
    Conversation<> conversation = build(40, std::string(900, 'y'));
    CompactionConfig config = sizes(9'000, 2'000, 300);
    config.max_input_tokens = 3'000;
    std::int64_t largest = 0;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>& request) {
        std::int64_t tokens = 0;
        for (const ChatMessage& m : request.messages) tokens += count_message(m, *pessimistic_counter());
        largest = std::max(largest, tokens);
        return Reply<ChatMessage>{ChatMessage::assistant("a short summary")};
    });
    Ladder ladder(config, pessimistic_chain(), model);
    CHECK(ladder.ask(conversation).outcome == Outcome::committed);
    CHECK(largest > 1'500);
    CHECK(largest <= 3'000);
}
