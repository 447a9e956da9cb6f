// Summaries where a provider bills other numbers than we count.
#include "support/catch.hpp"
#include "talk.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// A long chat of `tokens` by chars(), the last reply billed as `reported` (0: nothing reported).
Conversation<> joined_chat(std::int64_t tokens, std::int64_t reported) {
    Conversation<> c("joined");
    constexpr std::int64_t each = 500;
    for (std::int64_t i = 0; i * 2 * each < tokens; ++i) {
        c.push_back(ChatMessage::user("wish " + std::to_string(i) + std::string(each * 4 - 10, 'u')));
        const bool is_last = (i + 1) * 2 * each >= tokens;
        c.push_back(ChatMessage::assistant(std::string(each * 4, 'a')), Usage{.input = is_last ? reported : 0});
    }
    c.push_back(ChatMessage::user("go on"));
    return c;
}

struct Told {
    Outcome outcome{};
    std::int64_t after = 0;
    std::vector<std::string> events{};
};

Told ask_with_trigger(Conversation<>& c, std::int64_t trigger, std::string_view system = {}) {
    Told told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&told](const Event& event) {
        if (event.level != Event::Level::info) told.events.emplace_back(event.kind);
    };
    const SummarizationConfig config{.trigger = {.context_tokens = trigger}};
    const Chain<> chain({}, std::move(callbacks),
                        Summarization<>{std::make_shared<Summariser<>>(good_summary()), config});
    told.outcome = chain.before_model(c, {.system = system}).stages[0].outcome;
    told.after = c.context(chars(), system, {}).total;
    return told;
}

using Kinds = std::vector<std::string>;

}  // namespace

TEST_CASE("a chain that joins a long chat folds it, whatever the provider bills above our count", "[anchored]") {
    for (const std::int64_t reported : {0LL, 1LL, 60'000LL, 128'000LL, 300'000LL}) {
        INFO(reported);
        Conversation<> c = joined_chat(80'000, reported);
        const Told told = ask_with_trigger(c, 40'000);
        if (reported == 1) {  // by that usage nothing is due
            CHECK(told.outcome == Outcome::undue);
            continue;
        }
        CHECK(told.outcome == Outcome::committed);
        CHECK(told.after <= 40'000);
        CHECK(told.events == Kinds{});
    }
}

TEST_CASE("overhead that nobody can name makes nothing irreducible", "[anchored]") {
    Conversation<> c = joined_chat(20'000, 200'000);  // four for one, and 120,000 beside
    const Told told = ask_with_trigger(c, 40'000);
    CHECK(told.outcome == Outcome::committed);
    CHECK(c.tokens(chars()) < 10'000);
    CHECK(told.events == Kinds{"still_above_trigger"});
    CHECK(ask_with_trigger(c, 40'000).outcome != Outcome::committed);  // and it is not tried at once again
}

TEST_CASE("system text that is really too large is irreducible, at the provider's ratio", "[anchored]") {
    const std::string system(100'000, 's');  // 25,000 tokens of ours
    Conversation<> fits = joined_chat(20'000, 0);
    CHECK(ask_with_trigger(fits, 30'000, system).outcome == Outcome::committed);
    Conversation<> dense = joined_chat(20'000, 90'000);  // two for one: 50,000 of the system text alone
    CHECK(ask_with_trigger(dense, 30'000, system).events == Kinds{"irreducible"});
}
