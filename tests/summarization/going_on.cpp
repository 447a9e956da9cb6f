// When a summary is due by several conditions together, and the order to go on as a message of its own.
#include "support/catch.hpp"
#include "talk.hpp"
#include "whittle/summarization/summarization.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr std::string_view order = "Go on with the current work";

/// A talk that stops behind the results of a round: the model is asked next.
template <AgentMessage M = ChatMessage>
Conversation<M> working_talk(int rounds = 4) {
    Conversation<M> conversation("going on");
    History history = long_talk(3, rounds, 2'000);
    history.pop_back();
    push_all(conversation, history);
    return conversation;
}

SummarizationConfig with_continue_message() {
    SummarizationConfig config = small_trigger();
    config.continue_message = true;
    return config;
}

template <AgentMessage M = ChatMessage>
Chain<M> summing_up(const SummarizationConfig& config, ChainConfig chain = {}) {
    const typename Chain<M>::Stages stages{
        std::make_shared<Summarization<M>>(std::make_shared<Summarizer<M>>(good_summary()), config)};
    return Chain<M>(std::move(chain), stages);
}

template <AgentMessage M>
bool says(const M& message, std::string_view words) {
    return text_of(message).find(words) != std::string::npos;
}

/// Outcome of a summary that both conditions are asked about.
Outcome outcome_of(const Trigger& trigger, const Conversation<>& like) {
    Conversation<> conversation = like.fork("fork", nullptr);
    SummarizationConfig config;
    config.trigger = trigger;
    config.keep_recent_tokens = 0;
    return summing_up<ChatMessage>(config).before_model(conversation).stages.front().outcome;
}

}  // namespace

TEST_CASE("with needs_all a summary waits until every condition holds", "[summarization]") {
    const Conversation<> talk = working_talk();
    const auto messages = static_cast<std::int64_t>(talk.size());
    const Trigger any{.context_tokens = 3'000, .context_messages = messages};
    CHECK(outcome_of(any, talk) == Outcome::committed);
    Trigger both = any;
    both.needs_all = true;
    CHECK(outcome_of(both, talk) == Outcome::not_due);
    both.context_messages = messages - 1;
    CHECK(outcome_of(both, talk) == Outcome::committed);
    both.context_tokens = 100'000;
    CHECK(outcome_of(both, talk) == Outcome::not_due);
}

TEST_CASE("with needs_all the higher of two sizes decides, and an unknown window lets it wait", "[summarization]") {
    const Trigger both{.context_tokens = 3'000, .context_fraction = 0.5, .needs_all = true};
    CHECK(limits_of(both, 10'000).tokens == 5'000);
    CHECK(limits_of(both, 2'000).tokens == 3'000);
    CHECK(limits_of(both, 0).tokens == INT64_MAX);
    CHECK(outcome_of(both, working_talk()) == Outcome::not_due);

    Conversation<> taught = working_talk();
    const Chain<> chain = summing_up<ChatMessage>({.trigger = both, .keep_recent_tokens = 0});
    CHECK(chain.on_overflow(taught, {.context_limit_tokens = 8'000, .requested_tokens = 9'000}));
}

TEST_CASE("the report of a summary that waits shows the condition that is missing", "[summarization]") {
    Conversation<> conversation = working_talk();
    const auto messages = static_cast<std::int64_t>(conversation.size());
    const Chain<> chain = summing_up<ChatMessage>(
        {.trigger = {.context_tokens = 3'000, .context_messages = messages, .needs_all = true}});
    const StageReport& stage = chain.before_model(conversation).stages.front();
    CHECK(stage.outcome == Outcome::not_due);
    CHECK(stage.count == messages);
    CHECK(stage.threshold == messages);
}

TEST_CASE("needs_all over one condition is doubtful", "[config]") {
    Problems problems;
    ChainConfig chain;
    check_summarization({.trigger = {.context_tokens = 3'000, .needs_all = true}, .keep_recent_tokens = 0}, chain, {},
                        "s", problems);
    REQUIRE(problems.all().size() == 1);
    CHECK(problems.all()[0].severity == Problem::Severity::warning);
    CHECK(problems.all()[0].field == "s.trigger.needs_all");
}

TEST_CASE("the order to go on stands in a message of its own, on every message type", "[summarization]") {
    for_each_message_type([](auto type) {
        using T = typename decltype(type)::type;
        if constexpr (ToolMessage<T>) {
            INFO(Builder<T>::name);
            Conversation<T> conversation = working_talk<T>();
            const std::size_t before = conversation.size();
            REQUIRE(summing_up<T>(with_continue_message()).before_model(conversation).changed());
            const std::size_t summary = summary_at(conversation);
            REQUIRE(summary < conversation.size());
            CHECK_FALSE(says(conversation.messages()[summary], order));
            CHECK(says(conversation.messages().back(), order));
            CHECK(says(conversation.messages().back(), "not a message from the user"));
            const MessageInfo& last = conversation.outline()[conversation.size() - 1];
            CHECK(origin_of(last.mark) == Origin::nudge);
            CHECK_FALSE(starts_turn(last));
            CHECK(last.mark->reason == "continue");
            CHECK(validate(conversation.outline(), openai_chat()).empty());
            CHECK(conversation.undo());  // one entry: the order goes with its summary
            CHECK(conversation.size() == before);
            CHECK(conversation.journal().empty());
        }
    });
}

TEST_CASE("the order to go on stays in the summary where the user has just asked, or by default", "[summarization]") {
    Conversation<> asked = working_talk();
    asked.push_back(ChatMessage::assistant("done"));
    asked.push_back(ChatMessage::user("and now the rest"));
    REQUIRE(summing_up<ChatMessage>(with_continue_message()).before_model(asked).changed());
    CHECK(says(asked.messages()[summary_at(asked)], order));
    CHECK(count_of(asked, Origin::nudge) == 0);

    Conversation<> plain = working_talk();
    REQUIRE(summing_up<ChatMessage>(small_trigger()).before_model(plain).changed());
    CHECK(says(plain.messages()[summary_at(plain)], order));
    CHECK(count_of(plain, Origin::nudge) == 0);
}

TEST_CASE("the next summary folds the order of the last one, and does not carry it as the user's word",
          "[summarization]") {
    Conversation<> conversation = working_talk();
    const Chain<> chain = summing_up<ChatMessage>(with_continue_message());
    for (int i = 0; i < 3; ++i) {
        REQUIRE(chain.before_model(conversation).changed());
        CHECK(count_of(conversation, Origin::nudge) == 1);
        CHECK(count_of(conversation, Origin::summary) == 1);
        CHECK_FALSE(says(conversation.messages()[summary_at(conversation)], order));
        for (int r = 0; r < 6; ++r) {
            const std::string id = "late_" + std::to_string(i) + "_" + std::to_string(r);
            conversation.push_back(ChatMessage::assistant("").call(id, "read_file", "{}"));
            conversation.push_back(ChatMessage::result(id, "read_file", std::string(2'500, 'y')));
        }
    }
}

TEST_CASE("a host may refuse the order to go on alone", "[summarization][before_commit]") {
    std::vector<std::string> reasons;
    ChainConfig config;
    config.before_commit = [&](const CommitPlan& plan) {
        reasons.emplace_back(plan.reason);
        return plan.reason != "continue";
    };
    Conversation<> conversation = working_talk();
    REQUIRE(summing_up<ChatMessage>(with_continue_message(), config).before_model(conversation).changed());
    CHECK(reasons == std::vector<std::string>{"summary", "continue", "summary"});
    CHECK(count_of(conversation, Origin::nudge) == 0);
    CHECK(says(conversation.messages()[summary_at(conversation)], order));
}

TEST_CASE("the profiles take the order behind the results of a round", "[summarization]") {
    for (const ValidityProfile* rules : {&openai_chat(), &openai_compatible(), &anthropic_messages(), &gemini_chat()}) {
        INFO(rules->name);
        ChainConfig config;
        config.profile.validity = *rules;
        Conversation<> conversation = working_talk();
        REQUIRE(summing_up<ChatMessage>(with_continue_message(), config).before_model(conversation).changed());
        const bool is_refused = has_rule(*rules, Rule::OC6_user_turns);  // behind a tool's message
        CHECK(count_of(conversation, Origin::nudge) == (is_refused ? 0 : 1));
        CHECK(validate(conversation.outline(), *rules).empty());
    }
}
