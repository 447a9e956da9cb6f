// Old thinking, and arguments of calls that failed: what goes, what stays, and why.
#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace whittle;

namespace {

constexpr std::int64_t always_due = 1;

/// `steps` answered requests, each with a thought and a tool round, then an open tool loop of two steps that think.
Conversation<> thinking_talk(int steps) {
    Conversation<> c("thinking");
    const auto step = [&](const std::string& id) {
        ChatMessage call{Role::assistant, {{PartKind::thinking, "thought " + id + std::string(400, 't')}}};
        call.call(id, "run", R"({"cmd":"make"})");
        c.push_back(std::move(call));
        c.push_back(ChatMessage::result(id, "run", "ok"));
    };
    for (int i = 0; i < steps; ++i) {
        c.push_back(ChatMessage::user("request " + std::to_string(i)));
        step("c" + std::to_string(i));
        c.push_back(
            {Role::assistant, {{PartKind::thinking, "close " + std::string(400, 'u')}, {PartKind::text, "done"}}});
    }
    c.push_back(ChatMessage::user("and now"));
    step("open1");
    step("open2");
    return c;
}

ReductionConfig thinking_config() { return {.skip_truncation = true, .max_tokens_for_clear = always_due}; }

std::vector<std::size_t> thinking_places(const Conversation<>& c) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < c.size(); ++i) {
        if (c.outline()[i].has(PartKind::thinking)) places.push_back(i);
    }
    return places;
}

const Report& clear_once(Conversation<>& c, const ReductionConfig& config, ChainConfig chain = {}) {
    return Chain{std::move(chain), Reduction{config}}.before_model(c);
}

/// Thinking messages of the open loop of `thinking_talk`.
constexpr std::size_t open_steps = 2;

}  // namespace

// [thinking]
TEST_CASE("thinking beyond the newest replies goes when clearing is due", "[reduction][thinking]") {
    Conversation<> conversation = thinking_talk(5);
    ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 500};
    config.clear_thinking_keep_turns = 4;
    const Chain chain{ChainConfig{}, Reduction{config}};
    REQUIRE(chain.before_model(conversation).changed());
    CHECK(thinking_places(conversation).size() == 4);
    CHECK(conversation.undo());
    CHECK(thinking_places(conversation).size() == 2 * 5 + open_steps);
}
// [/thinking]

TEST_CASE("by default and below the trigger all thinking stays", "[reduction][thinking]") {
    Conversation<> conversation = thinking_talk(3);
    CHECK_FALSE(clear_once(conversation, thinking_config()).changed());
    ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 1'000'000};
    config.clear_thinking_keep_turns = 0;
    CHECK_FALSE(clear_once(conversation, config).changed());
    CHECK(thinking_places(conversation).size() == 2 * 3 + open_steps);
}

TEST_CASE("thinking of the open tool loop stays, whatever the limit", "[reduction][thinking]") {
    for (const ValidityProfile* rules : {&openai_chat(), &anthropic_thinking()}) {
        INFO(rules->name);
        Conversation<> conversation = thinking_talk(4);
        ReductionConfig config = thinking_config();
        config.clear_thinking_keep_turns = 0;
        ChainConfig chain;
        chain.profile.validity = *rules;
        REQUIRE(clear_once(conversation, config, chain).changed());
        const std::vector<std::size_t> left = thinking_places(conversation);
        REQUIRE(left.size() == open_steps);
        CHECK(left.front() + 4 == conversation.size());
        CHECK(validate(conversation.outline(), *rules).empty());
    }
}

TEST_CASE("a budget keeps the newest thinking, and the stricter of two limits counts", "[reduction][thinking]") {
    Conversation<> conversation = thinking_talk(5);
    ReductionConfig config = thinking_config();
    config.clear_thinking_keep_tokens = 500;  // about five of 100
    REQUIRE(clear_once(conversation, config).changed());
    const std::size_t by_budget = thinking_places(conversation).size();
    CHECK(by_budget >= 3);
    CHECK(by_budget <= 5);

    Conversation<> both = thinking_talk(5);
    config.clear_thinking_keep_turns = 3;
    REQUIRE(clear_once(both, config).changed());
    CHECK(thinking_places(both).size() == 3);
}

TEST_CASE("thinking goes oldest first and stops at the target", "[reduction][thinking]") {
    Conversation<> conversation = thinking_talk(8);
    const std::int64_t before = conversation.tokens(chars_counter());
    ReductionConfig config = thinking_config();
    config.clear_thinking_keep_turns = 0;
    config.clear_target_tokens = before - 350;
    REQUIRE(clear_once(conversation, config).changed());
    const std::vector<std::size_t> left = thinking_places(conversation);
    CHECK(left.size() == 2 * 8 + open_steps - 4);
    CHECK(left.front() > 6);
    CHECK(conversation.tokens(chars_counter()) < before - 350);
}

TEST_CASE("where thinking is bound, what goes from the front leaves the rest valid", "[reduction][thinking]") {
    Conversation<> conversation = thinking_talk(5);
    ReductionConfig config = thinking_config();
    config.clear_thinking_keep_turns = 4;
    ChainConfig chain;
    chain.profile.thinking_bound_to_prefix = true;
    REQUIRE(clear_once(conversation, config, chain).changed());
    CHECK_FALSE(conversation.thinking_prefix_edited());
}

TEST_CASE("a reply that only thinks stays, and the report names each with its rule", "[reduction][thinking]") {
    Conversation<> conversation("only");
    conversation.push_back(ChatMessage::user("go"));
    conversation.push_back({Role::assistant, {{PartKind::thinking, std::string(400, 't')}}});
    conversation.push_back(ChatMessage::user("go on"));
    conversation.push_back({Role::assistant, {{PartKind::thinking, std::string(400, 't')}, {PartKind::text, "so"}}});
    conversation.push_back(ChatMessage::user("and?"));
    ReductionConfig config = thinking_config();
    config.clear_thinking_keep_turns = 0;
    ChainConfig chain;
    chain.explain = true;
    const Report& report = clear_once(conversation, config, chain);
    REQUIRE(report.changed());
    CHECK(thinking_places(conversation) == std::vector<std::size_t>{1});
    std::vector<std::string> rules;
    for (const Candidate& c : report.stages.front().details->candidates) rules.emplace_back(c.rule);
    CHECK(rules == std::vector<std::string>{"kept_thinking", "old_thinking"});
}

TEST_CASE("a prefix that is planned to stay ends where thinking may go", "[reduction][thinking]") {
    const Conversation<> conversation = thinking_talk(3);
    ReductionConfig config = thinking_config();
    CHECK(Reduction<>{config}.expected_stable_prefix(conversation) >= 1);
    config.clear_thinking_keep_turns = 0;
    CHECK(Reduction<>{config}.expected_stable_prefix(conversation) == 1);
}

TEST_CASE("arguments of failed calls go once they are old, and the error stays", "[reduction]") {
    const auto talk = [] {
        Conversation<> c("failed");
        c.push_back(ChatMessage::user("write it"));
        for (int i = 0; i < 4; ++i) {
            const std::string id = "w" + std::to_string(i);
            c.push_back(ChatMessage::assistant("").call(
                id, "write_file", "{\"path\":\"a\",\"content\":\"" + std::string(2'000, 'x') + "\"}"));
            ChatMessage result = ChatMessage::result(id, "write_file", i == 3 ? "ok" : "no such folder");
            result.parts.front().is_error = i % 2 == 0;
            c.push_back(std::move(result));
        }
        return c;
    };
    const auto arguments_at = [](const Conversation<>& c, int round) {
        return c.messages()[static_cast<std::size_t>(1 + 2 * round)].parts.back().text;
    };
    Conversation<> kept = talk();
    CHECK_FALSE(clear_once(kept, thinking_config()).changed());

    Conversation<> cleared = talk();
    ReductionConfig config = thinking_config();
    config.clear_failed_inputs = true;
    ChainConfig chain;
    chain.storage = memory_storage();
    REQUIRE(clear_once(cleared, config, chain).changed());
    CHECK(arguments_at(cleared, 0).find("argument offloaded") != std::string::npos);
    CHECK(arguments_at(cleared, 1).size() > 2'000);  // it did not fail
    CHECK(arguments_at(cleared, 2).find("argument offloaded") != std::string::npos);
    CHECK(cleared.messages()[2].parts.front().text == "no such folder");
    CHECK(cleared.undo());
    CHECK(arguments_at(cleared, 0).size() > 2'000);
}

TEST_CASE("a server that wants reasoning back with its calls keeps it", "[reduction][thinking]") {
    Conversation<> conversation = thinking_talk(5);
    ReductionConfig config = thinking_config();
    config.clear_thinking_keep_turns = 0;
    ChainConfig chain;
    chain.profile.validity = openai_compatible();
    REQUIRE(clear_once(conversation, config, chain).changed());
    int without = 0;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        const MessageInfo& info = conversation.outline()[i];
        without += info.has(PartKind::tool_call) && !info.has(PartKind::thinking) ? 1 : 0;
    }
    CHECK(without == 0);
    CHECK(thinking_places(conversation).size() == 5 + open_steps);  // that of closing words went
}

TEST_CASE("a trigger below what has to stay is told once", "[reduction]") {
    std::vector<std::string> told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) {
        if (event.kind == "still_above_trigger") told.emplace_back(event.kind);
    };
    ChainConfig chain_config;
    chain_config.storage = memory_storage();
    const Chain<> chain{chain_config, callbacks, Reduction<>{{.skip_truncation = true, .max_tokens_for_clear = 2'000}}};
    Conversation<> c("low");
    c.push_back(ChatMessage::user(std::string(12'000, 'u')));
    int commits = 0;
    for (int i = 0; i < 10; ++i) {
        const std::string id = "c" + std::to_string(i);
        c.push_back(ChatMessage::assistant("").call(id, "read", "{}"));
        c.push_back(ChatMessage::result(id, "read", std::string(2'000, 'x')));
        commits += chain.before_model(c).changed() ? 1 : 0;
    }
    CHECK(commits > 5);
    CHECK(told == std::vector<std::string>{"still_above_trigger"});
}
