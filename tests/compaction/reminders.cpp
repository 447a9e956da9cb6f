// The ladder where text stands beside tool results, and where a provider bills other numbers than we count.
#include "ladder_talk.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

const std::string running_request = "Mend the parser; never touch config.yaml.";

ChatMessage result_and_reminder(const std::string& id, int round) {
    ChatMessage message{Role::user, {}};
    message.parts.push_back({PartKind::tool_result, std::string(2'000, 'x'), id, "read"});
    message.parts.push_back({PartKind::text, "<system-reminder>Round " + std::to_string(round) + "</system-reminder>"});
    return message;
}

}  // namespace

TEST_CASE("with current_turn_keep_rounds the running request stays where reminders stand beside results",
          "[compaction]") {
    for (const bool thinks_first : {false, true}) {
        INFO(thinks_first);
        Asked asked;
        std::vector<std::string> events;
        ChainConfig chain_config;
        chain_config.profile.validity = thinks_first ? anthropic_thinking() : anthropic_messages();
        ChainCallbacks<> callbacks;
        callbacks.on_event = [&](const Event& event) {
            if (event.level != Event::Level::info) events.emplace_back(event.kind);
        };
        CompactionConfig config = sizes(6'000, 2'000, 500);
        config.summary_role = SummaryRole::automatic;
        config.current_turn_keep_rounds = 2;
        config.pruning.reset();
        const Chain<> chain(chain_config, callbacks,
                            Compaction<>{summarizer(asked, "The parser in read was looked at."), config});
        Conversation<> c("running");
        c.push_back(ChatMessage::user(running_request));
        std::int64_t largest = 0;
        for (int i = 1; i <= 40; ++i) {
            (void)chain.before_model(c);
            largest = std::max(largest, c.context(chars_counter(), {}, {}).total);
            const std::string id = "call_" + std::to_string(i);
            ChatMessage call{Role::assistant, {}};
            if (thinks_first && i == 1) call.parts.push_back({PartKind::thinking, "First I read."});
            c.push_back(call.call(id, "read", R"({"path":"src/parser.cpp"})"));
            c.push_back(result_and_reminder(id, i));
        }
        CHECK(text_of(c.messages()[0]) == running_request);
        CHECK(c.outline()[0].mark == nullptr);
        CHECK(largest <= 6'000);
        CHECK(asked.size() >= 2);
        CHECK(events.empty());
        CHECK(c.outline()[c.size() - 1].turn == 1);
        CHECK(validate(c.outline(), chain_config.profile.validity).empty());
    }
}

TEST_CASE("a ladder that joins a long chat runs its stages, whatever the provider bills above our count",
          "[compaction]") {
    for (const std::int64_t reported : {0LL, 128'000LL, 600'000LL}) {
        INFO(reported);
        Asked asked;
        std::vector<std::string> events;
        ChainCallbacks<> callbacks;
        callbacks.on_event = [&](const Event& event) {
            if (event.level != Event::Level::info) events.emplace_back(event.kind);
        };
        Conversation<> c("joined");
        for (int i = 1; i <= 80; ++i) {
            c.push_back(ChatMessage::user("wish " + std::to_string(i) + std::string(1'990, 'u')));
            c.push_back(ChatMessage::assistant(std::string(2'000, 'a')),
                        Usage{.uncached_input = i == 80 ? reported : 0});
        }
        c.push_back(ChatMessage::user("go on"));
        const Chain<> chain({}, callbacks, Compaction<>{summarizer(asked), sizes(40'000, 6'000, 1'000)});
        CHECK(chain.before_model(c).stages[0].outcome == Outcome::committed);
        CHECK(asked.size() >= 1);
        if (reported <= 128'000) {  // beside 600,000 there are 280,000 that nothing can be done about
            CHECK(events.empty());
            CHECK(c.context(chars_counter(), {}, {}).total <= 40'000);
        } else {
            CHECK(events == std::vector<std::string>{"still_above_trigger"});
            for (int i = 81; i <= 160; ++i) {
                c.push_back(ChatMessage::assistant(std::string(2'000, 'a')));
                c.push_back(ChatMessage::user("wish " + std::to_string(i) + std::string(1'990, 'u')));
            }
            const StageReport& again = chain.before_model(c).stages[0];
            CHECK(again.outcome == Outcome::committed);
            CHECK(again.details->error.find("still has") != std::string::npos);
            CHECK(events.size() == 1);  // told once
        }
    }
}
