// The compaction source's own cases (rows DM of the scenario list), as black boxes: 3 bytes per token, 1,000 per image,
// summaries as system messages. Totals are upper bounds: they depend on the words around a summary.
#include "ladder_talk.hpp"
#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// The size of the whole request.
std::int64_t total_of(Conversation<>& conversation) { return conversation.tokens(pessimistic_counter()); }

const StageReport& run(Conversation<>& conversation, Asked& asked, const CompactionConfig& config,
                       const HookRequest<>& request = {}) {
    static std::vector<std::shared_ptr<void>> kept;
    const auto chain = std::make_shared<Chain<>>(pessimistic_chain(), Compaction<>(summarizer(asked), config));
    kept.push_back(chain);
    return chain->before_model(conversation, request).stages.at(0);
}

}  // namespace

TEST_CASE("thirty characters are ten tokens, an image is a thousand, the rest is counted once") {
    Conversation<> conversation;
    conversation.push_back(ChatMessage::user(std::string(30, 'x')));
    CHECK(total_of(conversation) == 10);
    ChatMessage with_image = image_of(10);
    with_image.parts.insert(with_image.parts.begin(), {.text = "see this"});
    conversation.push_back(with_image);
    CHECK(total_of(conversation) == 10 + 1'003);
    const std::vector<ToolSpec> tools{{"echo", "says it again", "{}"}};
    const auto first = conversation.context(pessimistic_counter(), "a prompt", tools).total;
    CHECK(first > 1'013);
    CHECK(conversation.context(pessimistic_counter(), "a prompt", tools).total == first);
}

TEST_CASE("below the threshold nothing happens") {
    Conversation<> conversation = build(2, std::string(60, 'x'));
    const auto before = messages_of(conversation);
    Asked asked;
    CHECK(run(conversation, asked, sizes(10'000, 5'000, 500)).outcome == Outcome::not_due);
    CHECK(messages_of(conversation) == before);
    CHECK(asked.empty());
}

TEST_CASE("taking an old image out is enough") {
    Conversation<> conversation;
    conversation.push_back(ChatMessage::system("sys"));
    conversation.begin_turn();
    conversation.push_back(ChatMessage::user("small msg 1"));
    conversation.push_back(image_of(100));
    conversation.push_back(ChatMessage::assistant("reply 1"));
    conversation.begin_turn();
    conversation.push_back(ChatMessage::user("small msg 2"));
    conversation.push_back(ChatMessage::assistant("reply 2"));
    Asked asked;
    REQUIRE(total_of(conversation) == 1'015);
    CHECK(run(conversation, asked, sizes(500, 300, 50)).outcome == Outcome::committed);
    CHECK(contains(all_text(conversation), "[image removed]"));
    CHECK(total_of(conversation) <= 29);
    CHECK(asked.empty());
}

TEST_CASE("ten turns become one summary of eight, the ninth and the tenth; the prompt stays first") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    const auto before = messages_of(conversation);
    Asked asked;
    REQUIRE(total_of(conversation) >= 1'369);
    CHECK(run(conversation, asked, sizes(400, 200, 20)).outcome == Outcome::committed);
    REQUIRE(conversation.size() == 6);
    CHECK(conversation.messages()[0] == before[0]);
    REQUIRE(summaries_of(conversation) == std::vector<std::size_t>{1});
    const MessageInfo& summary = conversation.outline()[1];
    CHECK(conversation.messages()[1].role == Role::system);
    CHECK(contains(text_of(conversation.messages()[1]), "[summary]"));
    CHECK(summary.turn == 8);
    CHECK(summary.mark->covers.size() == 16);
    CHECK(std::equal(before.end() - 4, before.end(), conversation.messages().begin() + 2));
    CHECK(total_of(conversation) <= 294);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].max_output_tokens == 20);
}

TEST_CASE("the next summary folds the one before, never stands beside it") {
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Asked asked;
    run(conversation, asked, sizes(400, 200, 20));
    for (int n = 11; n <= 20; ++n) {
        push_turn(conversation, n, std::string(200, 'y'));
        run(conversation, asked, sizes(400, 200, 20));
        CHECK(summaries_of(conversation) == std::vector<std::size_t>{1});
        CHECK(total_of(conversation) <= 400);
    }
    CHECK(contains(asked.back().text, "[summary]"));
    CHECK(conversation.outline()[1].mark->covers.size() >= 36);
}

TEST_CASE("an untagged message in the middle is summarized, not protected") {
    Conversation<> conversation = build(10, std::string(100, 'x'), "sys");
    auto state = conversation.state();
    MessageInfo info = describe(ChatMessage::user("MIDLIST-UNTAGGED-XYZ " + std::string(100, 'x')));
    info.serial = state.counters.next_serial++;
    state.infos.insert(state.infos.begin() + 11, info);
    state.messages.insert(state.messages.begin() + 11,
                          ChatMessage::user("MIDLIST-UNTAGGED-XYZ " + std::string(100, 'x')));
    conversation = Conversation<>::from_state(std::move(state));
    Asked asked;
    CHECK(run(conversation, asked, sizes(400, 200, 20)).outcome == Outcome::committed);
    REQUIRE(asked.size() == 1);
    CHECK(contains(asked[0].text, "MIDLIST-UNTAGGED-XYZ"));
    CHECK_FALSE(contains(all_text(conversation), "MIDLIST-UNTAGGED-XYZ"));
    REQUIRE(conversation.size() == 8);
    CHECK(text_of(conversation.messages()[2]).starts_with("q8: "));
    CHECK(total_of(conversation) <= 224);
}

TEST_CASE("the newest turns come back as they were, byte for byte") {
    Conversation<> conversation = build(10, std::string(200, 'w'));
    const auto before = messages_of(conversation);
    Asked asked;
    CHECK(run(conversation, asked, sizes(400, 300, 20)).outcome == Outcome::committed);
    CHECK(std::equal(before.end() - 4, before.end(), conversation.messages().end() - 4));
}

TEST_CASE("without tags the current turn starts at the latest user message") {
    Conversation<> conversation = untagged(
        {ChatMessage::system("You are a test agent."), ChatMessage::user("old 1 " + std::string(500, 'x')),
         ChatMessage::assistant(std::string(500, 'x')), ChatMessage::user("old 2 " + std::string(500, 'x')),
         ChatMessage::assistant(std::string(500, 'x')), ChatMessage::user("LATEST_QUESTION " + std::string(100, 'q')),
         ChatMessage::assistant().call("c1", "echo", R"({"text":"hi"})")});
    const auto before = messages_of(conversation);
    Asked asked;
    CHECK(run(conversation, asked, sizes(400, 200, 40)).outcome == Outcome::committed);
    REQUIRE(asked.size() == 1);
    CHECK_FALSE(contains(asked[0].text, "LATEST_QUESTION"));
    CHECK(contains(asked[0].text, "old 1"));
    REQUIRE(conversation.size() == 4);
    CHECK(std::equal(before.end() - 2, before.end(), conversation.messages().end() - 2));
    CHECK(total_of(conversation) <= 225);
}

TEST_CASE("a summarizer that fails surfaces after its attempts where that is asked for") {
    int calls = 0;
    const auto failing =
        std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> {
            ++calls;
            throw ModelError(ModelErrorClass::server, "no luck");
        });
    ChainConfig config = pessimistic_chain();
    config.clock = std::make_shared<ManualClock>(0);
    config.on_error = OnError::propagate;
    CompactionConfig compaction = sizes(400, 200, 20);
    compaction.on_failure = OnFailure::propagate;
    const Chain<> chain(std::move(config), Compaction<>(failing, compaction));
    Conversation<> conversation = build(10, std::string(200, 'y'));
    const auto before = messages_of(conversation);
    CHECK_THROWS_AS(chain.before_model(conversation, {}), Error);
    CHECK(calls == 3);
    CHECK(messages_of(conversation) == before);
}

TEST_CASE("in a loop the model sees the summary and the request, and one summary is bought") {
    Conversation<> conversation = build(8, std::string(150, 'x'), "");
    Asked asked;
    std::vector<ChatMessage> seen;
    const auto agent = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>& request) {
        seen.assign(request.messages.begin(), request.messages.end());
        return Reply<ChatMessage>{ChatMessage::assistant("done")};
    });
    Chain<> chain(pessimistic_chain(), Compaction<>(summarizer(asked), sizes(400, 200, 40)));
    AgentLoop<> loop(agent, {}, std::move(chain), {.system = "test agent"});
    CHECK(loop.run(conversation, ChatMessage::user("now please respond")).text == "done");
    CHECK(asked.size() == 1);
    std::string text;
    std::int64_t tokens = pessimistic_counter()->count("test agent");
    for (const ChatMessage& m : seen) text += text_of(m), tokens += count_message(m, *pessimistic_counter());
    CHECK(contains(text, "[summary]"));
    CHECK(contains(text, "now please respond"));
    CHECK_FALSE(contains(text, "q1: "));
    CHECK(tokens <= 133);
}

TEST_CASE("it fires between a tool result and the next call, and leaves that round alone") {
    Conversation<> conversation = build(8, std::string(100, 'x'), "");
    Asked asked;
    std::vector<std::vector<ChatMessage>> requests;
    const auto agent = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>& request) {
        requests.emplace_back(request.messages.begin(), request.messages.end());
        if (requests.size() == 1) return Reply<ChatMessage>{ChatMessage::assistant().call("c1", "big", "{}")};
        return Reply<ChatMessage>{ChatMessage::assistant("done")};
    });
    const std::string result = "RESULT " + std::string(600, 'r');
    Chain<> chain(pessimistic_chain(), Compaction<>(summarizer(asked), sizes(700, 200, 40)));
    AgentLoop<> loop(agent, {text_tool("big", "", "{}", [&](std::string_view) { return result; })}, std::move(chain));
    CHECK(loop.run(conversation, ChatMessage::user("call it")).text == "done");
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].size() == 17);
    CHECK(asked.size() == 1);
    REQUIRE(requests[1].size() >= 4);
    CHECK(text_of(requests[1].end()[-3]) == "call it");
    CHECK(requests[1].end()[-2].parts.at(0).call_id == "c1");
    CHECK(requests[1].end()[-1].parts.at(0).text == result);
    CHECK(requests[1].size() < 17);
}

TEST_CASE("an untagged tool pair at the cut is never split") {
    for (int target = 60; target <= 390; target += 5) {
        CAPTURE(target);
        std::vector<ChatMessage> messages{ChatMessage::system("sys"), ChatMessage::user("start")};
        for (int i = 1; i <= 8; ++i) {
            const std::string id = "c" + std::to_string(i);
            messages.push_back(ChatMessage::assistant("step").call(id, "echo", R"({"text":"hi"})"));
            messages.push_back(ChatMessage::result(id, "echo", std::string(150, 'r')));
        }
        messages.push_back(ChatMessage::user("go on"));
        Conversation<> conversation = untagged(messages);
        Asked asked;
        CHECK(run(conversation, asked, sizes(400, target, 20)).outcome == Outcome::committed);
        CHECK(validate(conversation.outline(), openai_chat()).empty());
        CHECK(asked.size() == 1);
    }
}
