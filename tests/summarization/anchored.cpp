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

/// A long chat of `tokens` by chars_counter(), the last reply billed as `reported` (0: nothing reported).
Conversation<> joined_chat(std::int64_t tokens, std::int64_t reported) {
    Conversation<> c("joined");
    constexpr std::int64_t each = 500;
    for (std::int64_t i = 0; i * 2 * each < tokens; ++i) {
        c.push_back(ChatMessage::user("wish " + std::to_string(i) + std::string(each * 4 - 10, 'u')));
        const bool is_last = (i + 1) * 2 * each >= tokens;
        c.push_back(ChatMessage::assistant(std::string(each * 4, 'a')),
                    Usage{.uncached_input = is_last ? reported : 0});
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
                        Summarization<>{std::make_shared<Summarizer<>>(good_summary()), config});
    told.outcome = chain.before_model(c, {.system = system}).stages[0].outcome;
    told.after = c.context(chars_counter(), system, {}).total;
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
            CHECK(told.outcome == Outcome::not_due);
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
    CHECK(c.tokens(chars_counter()) < 10'000);
    CHECK(told.events == Kinds{"still_above_trigger"});
    CHECK(ask_with_trigger(c, 40'000).outcome != Outcome::committed);  // and it is not tried at once again
}

TEST_CASE("a trigger below what has to stay is told once, with the numbers, and stands in each report", "[anchored]") {
    std::vector<std::string> told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) {
        if (event.level != Event::Level::info) told.push_back(std::string(event.kind) + ": " + std::string(event.text));
    };
    const SummarizationConfig config{.trigger = {.context_tokens = 40'000}};
    const Chain<> chain(ChainConfig{}, callbacks,
                        Summarization<>{std::make_shared<Summarizer<>>(good_summary()), config});
    Conversation<> c = joined_chat(20'000, 200'000);
    int commits = 0;
    for (int i = 0; i < 6; ++i) {
        const StageReport& report = chain.before_model(c).stages[0];
        if (report.outcome == Outcome::committed) {
            ++commits;
            CHECK(report.details->error.find("after the summary") != std::string::npos);
        }
        for (int more = 0; more < 8; ++more) {
            c.push_back(ChatMessage::assistant(std::string(6'000, 'b')));
            c.push_back(ChatMessage::user("go on " + std::string(500, 'u')));
        }
    }
    CHECK(commits > 2);
    REQUIRE(told.size() == 1);
    CHECK(told[0].starts_with("still_above_trigger: after the summary"));
    CHECK(told[0].ends_with("the trigger is 40000"));
}

TEST_CASE("a trigger of fewer messages than a summary leaves is told once", "[anchored]") {
    std::vector<std::string> told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) {
        if (event.kind == "still_above_trigger") told.emplace_back(event.text);
    };
    const SummarizationConfig config{.trigger = {.context_messages = 2}, .keep_recent_tokens = 0};
    SummarizationCallbacks<ChatMessage> files;
    files.attach_files = [](const CallbackContext&, std::span<const FileUse> used) {
        return std::vector<AttachedFile>{{used.front().path, "as it is now"}};
    };
    const Chain<> chain(ChainConfig{}, callbacks,
                        Summarization<>{std::make_shared<Summarizer<>>(good_summary()), config, files});
    Conversation<> c("few");
    int commits = 0;
    for (int i = 0; i < 3; ++i) {
        History more = long_talk(2, 3, 3'000);
        more.erase(more.begin());  // no system text
        push_all(c, more);
        commits += chain.before_model(c).changed() ? 1 : 0;
    }
    CHECK(commits == 3);
    REQUIRE(told.size() == 1);
    CHECK(told[0].ends_with("messages, the trigger is 2"));
}

TEST_CASE("system text that is really too large is irreducible, at the provider's ratio", "[anchored]") {
    const std::string system(100'000, 's');  // 25,000 tokens of ours
    Conversation<> fits = joined_chat(20'000, 0);
    CHECK(ask_with_trigger(fits, 30'000, system).outcome == Outcome::committed);
    Conversation<> dense = joined_chat(20'000, 90'000);  // two for one: 50,000 of the system text alone
    CHECK(ask_with_trigger(dense, 30'000, system).events == Kinds{"irreducible"});
}
