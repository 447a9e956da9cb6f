// Text beside tool results: reminders of coding agents, or a person's word in the middle of a run.
#include "support/catch.hpp"
#include "talk.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/saved/side_table.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr std::int64_t session_trigger = 6'000;
const std::string opening = "Mend the parser in src/parser.cpp and never touch config.yaml.";
const std::string word_in_between = "By the way, use tabs in that file.";

std::string reminder(int round) {
    return "<system-reminder>\nThe list of tasks is empty so far. Use the tool for tasks if that helps; do not mention "
           "this to the user. Round " +
           std::to_string(round) + ".\n</system-reminder>";
}

/// A result with texts beside it, as coding agents send them.
ChatMessage result_with(const std::string& id, std::size_t bytes, const std::vector<std::string>& beside) {
    ChatMessage message{Role::user, {}};
    message.parts.push_back({PartKind::tool_result, id + ": " + std::string(bytes, 'x'), id, "read_file"});
    for (const std::string& text : beside) message.parts.push_back({PartKind::text, text});
    return message;
}

std::size_t occurrences_in(std::string_view text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

/// A coding session under summarization, asked before each reply.
template <AgentMessage M>
class CodingSession {
public:
    explicit CodingSession(const ValidityProfile& validity) {
        ChainConfig config;
        config.profile.validity = validity;
        ChainCallbacks<M> callbacks;
        callbacks.on_event = [this](const Event& event) {
            events.emplace_back(event.kind);
            if (event.level != Event::Level::info) warnings += std::string(event.text) + "\n";
        };
        SummarizationConfig summarization{.trigger = {.context_tokens = session_trigger}, .keep_recent_tokens = 1'000};
        chain = std::make_unique<Chain<M>>(
            std::move(config), std::move(callbacks),
            typename Chain<M>::Stages{std::make_shared<Summarization<M>>(model, std::move(summarization))});
        push(ChatMessage::user(opening));
    }

    void push(const ChatMessage& message) {
        for (M& built : Builder<M>::build(message)) c.push_back(std::move(built));
    }
    void round(int number, bool thinks, std::size_t bytes = 1'600, std::vector<std::string> beside = {}) {
        const Report& report = chain->before_model(c);
        const std::int64_t now = c.context(chars_counter(), {}, {}).total;
        largest = std::max(largest, now);
        if (report.stages[0].outcome == Outcome::committed) ++summaries;
        const std::string id = "call_" + std::to_string(number);
        ChatMessage call{Role::assistant, {}};
        if (thinks) call.parts.push_back({PartKind::thinking, "I look at the parser first."});
        push(call.call(id, "read_file", R"({"path":"src/parser.cpp"})"));
        push(result_with(id, bytes, beside));
    }
    [[nodiscard]] std::size_t told(std::string_view kind) const {
        return static_cast<std::size_t>(std::ranges::count(events, kind));
    }
    [[nodiscard]] std::string all_text() const {
        std::string text;
        for (const M& m : c.messages()) text += text_of(m) + "\n";
        return text;
    }

    std::vector<std::string> events{};
    std::string warnings{};
    std::shared_ptr<Summarizer<M>> model =
        std::make_shared<Summarizer<M>>("<summary>1. Intent: mend src/parser.cpp with read_file.</summary>");
    std::unique_ptr<Chain<M>> chain{};
    Conversation<M> c{"coding"};
    std::int64_t largest = 0;
    int summaries = 0;
};

template <AgentMessage M>
void expect_bounded_with_reminders(const ValidityProfile& validity) {
    INFO(Builder<M>::name << ", " << validity.name);
    CodingSession<M> session(validity);
    for (int i = 1; i <= 60; ++i)
        session.round(i, false, 1'600, i == 4 ? std::vector{word_in_between, reminder(i)} : std::vector{reminder(i)});
    CHECK(session.largest <= session_trigger);
    CHECK(session.summaries >= 3);
    CHECK(session.summaries <= 20);
    CHECK(session.told("failed") == 0);
    CHECK(text_of(session.c.messages()[0]) == opening);
    CHECK(session.c.outline().newest_turn_start() == 0U);
    const std::size_t summary = summary_at(session.c);
    const std::string text = text_of(session.c.messages()[summary]);
    CHECK(occurrences_in(text, word_in_between) == 1);
    CHECK(occurrences_in(text, "<system-reminder>") <= 1);
    CHECK(occurrences_in(text, "Round ") <= 1);
    const auto& carried = session.c.outline()[summary].mark->verbatim_user_messages;
    CHECK(std::ranges::count(carried, word_in_between) == 1);
    while (session.c.undo()) {
    }
    CHECK(occurrences_in(session.all_text(), "<system-reminder>") == 60);
}

}  // namespace

TEST_CASE("a session with a reminder beside each result stays below its trigger and keeps its request", "[reminders]") {
    expect_bounded_with_reminders<anthropic::Message>(anthropic_messages());
    expect_bounded_with_reminders<ChatMessage>(anthropic_messages());
    expect_bounded_with_reminders<ChatMessage>(openai_chat());
}

TEST_CASE("what repeats beside results is carried once and gets what other texts leave", "[reminders]") {
    const std::string beginning(repeated_beginning_bytes, 'r');
    const auto message = [](const std::string& text, int beside = 0) { return UserText{text, beside}; };
    const std::vector<UserText> texts{
        message("first request"),      message(beginning + " one", 1), message("short", 1),
        message("second request"),     message(beginning + " two", 1), message("short", 1),
        message("a person's word", 1), message(beginning + " two")};
    const std::vector<UserText> distinct = without_repeats(texts, {});
    CHECK(distinct == std::vector<UserText>{message("first request"), message("second request"),
                                            message(beginning + " two", 2), message("short", 2),
                                            message("a person's word", 1), message(beginning + " two")});
    CHECK(without_repeats(distinct, {}) == distinct);
    const std::vector<std::string> standing{beginning + " three"};
    CHECK(without_repeats(distinct, standing).size() == distinct.size() - 1);
    CHECK(without_repeats({message("alike", 1), message("alikes", 1)}, {}).size() == 2);  // no long beginning

    std::size_t left_out = 0;
    const auto small = chars_counter({.chars_per_token = 1});
    const std::vector<UserText> kept = keep_user_texts(distinct, 120, *small, Language::english, left_out);
    CHECK(kept == std::vector<UserText>{message("first request"), message("second request"), message("short", 2),
                                        message("a person's word", 1), message(beginning + " two")});
    CHECK(left_out == 1);
}

TEST_CASE("how often a carried text stood beside results outlives the next fold and the side table", "[reminders]") {
    CodingSession<ChatMessage> session(openai_chat());
    for (int i = 1; i <= 30; ++i) session.round(i, false, 1'600, {reminder(i)});
    REQUIRE(session.summaries >= 2);
    const Mark mark = session.c.outline()[summary_at(session.c)].mark;
    if (!mark->times_beside_results.empty())
        CHECK(mark->times_beside_results.size() == mark->verbatim_user_messages.size());
    CHECK(std::ranges::count_if(mark->verbatim_user_messages,
                                [](const std::string& text) { return text.starts_with("<system-reminder>"); }) <= 1);
}

namespace {

template <AgentMessage M>
void expect_bounded_with_thinking(std::size_t thinks_every) {
    INFO(Builder<M>::name << ", thinking every " << thinks_every);
    CodingSession<M> session(anthropic_thinking());
    for (int i = 1; i <= 60; ++i) session.round(i, static_cast<std::size_t>(i) % thinks_every == 1 % thinks_every);
    CHECK(session.largest <= session_trigger);
    CHECK(session.summaries >= 3);
    CHECK(session.summaries <= 20);
    CHECK(session.told("failed") == 0);
    CHECK(session.told("no_valid_summary") == 0);
    const auto loop = session.c.outline().open_loop_begin();
    REQUIRE(loop);
    CHECK(session.c.outline()[*loop].has(PartKind::thinking));
    CHECK(validate(session.c.outline(), anthropic_thinking()).empty());
}

}  // namespace

TEST_CASE("a loop with thinking in its first step alone is folded behind that step", "[reminders]") {
    for (const std::size_t every : {1U, 3U, 1'000U}) {
        expect_bounded_with_thinking<anthropic::Message>(every);
        expect_bounded_with_thinking<ChatMessage>(every);
    }
}

TEST_CASE("a first step that is too large to stay is told once, with its thinking as the reason", "[reminders]") {
    CodingSession<ChatMessage> session(anthropic_thinking());
    session.round(1, true, 40'000);
    for (int i = 2; i <= 30; ++i) session.round(i, false);
    CHECK(session.told("irreducible") == 1);
    CHECK(session.model->asked.empty());
    CHECK(session.told("failed") == 0);
}

TEST_CASE("a summary goes to the front where a pinned round would otherwise make the assistant speak first",
          "[reminders]") {
    for (const ValidityProfile* validity : {&anthropic_messages(), &openai_chat()}) {
        INFO(validity->name);
        CodingSession<ChatMessage> session(*validity);
        for (int i = 1; i <= 6; ++i) session.round(i, false);
        REQUIRE(session.summaries == 0);
        session.c.pin(session.c.outline()[3].serial);
        session.push(ChatMessage::assistant("Done."));
        session.push(ChatMessage::user("And now the printer."));
        for (int i = 7; i <= 30; ++i) session.round(i, false);
        CHECK(session.warnings == "");
        CHECK(session.summaries >= 2);
        CHECK(session.largest <= session_trigger);
        CHECK((session.c.outline()[0].role == Role::assistant) == (validity == &openai_chat()));
        CHECK(validate(session.c.outline(), *validity).empty());
    }
}
