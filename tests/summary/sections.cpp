// Summaries that lack sections are asked for once more.
#include "whittle/summary/detail/sections.hpp"

#include "support/catch.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/summary/summary.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace whittle;

namespace {

const std::vector<std::string> wanted{"Goal", "Files"};

/// Answers one text after the other, and keeps what it was asked.
struct SectionModel {
    std::vector<std::string> answers{};
    std::vector<std::vector<ChatMessage>> asked{};
    ScriptedModel<ChatMessage> model{[this](const ModelRequest<ChatMessage>& request) {
        asked.emplace_back(request.messages.begin(), request.messages.end());
        const std::string& text = answers[std::min(asked.size(), answers.size()) - 1];
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>" + text + "</summary>")};
    }};

    SummaryGenerationResult<ChatMessage> generate_summary_with(
        SummaryGenerationConfig config = {.required_sections = wanted}, HookBudget* budget = nullptr) {
        Conversation<> c("c");
        c.push_back(ChatMessage::user("mend it " + std::string(2'000, 'w')));
        c.push_back(ChatMessage::assistant("mended"));
        const std::vector<std::size_t> fold{0, 1};
        SummaryGenerationEnvironment environment;
        environment.purpose = "test: summary";
        environment.budget = budget;
        SummaryGenerationState state;
        return generate_summary<ChatMessage>(
            {.model = model, .all_messages = c.messages(), .outline = c.outline(), .fold = fold}, config, {},
            environment, state);
    }
};

}  // namespace

TEST_CASE("headings are found in any case of letters, wherever they stand", "[sections]") {
    CHECK(missing_sections("## GOAL\nx\n2. files: a.cpp", wanted).empty());
    CHECK(missing_sections("goal: x", wanted) == std::vector<std::string>{"Files"});
    CHECK(missing_sections("", wanted) == wanted);
    CHECK(missing_sections("anything", {}).empty());
    for (const Language language : {Language::english, Language::chinese}) {
        const std::string instruction(summary_instruction(language));
        const auto sections = summary_sections(language);
        CHECK(missing_sections(instruction, std::vector<std::string>(sections.begin(), sections.end())).empty());
    }
}

TEST_CASE("a model that leaves a section out is told once which, and asked again", "[sections]") {
    SectionModel script{{"Goal: mend it", "Goal: mend it\nFiles: a.cpp"}};
    const auto result = script.generate_summary_with();
    REQUIRE(result.ok());
    CHECK(result.summary == "Goal: mend it\nFiles: a.cpp");
    CHECK(result.missing_sections.empty());
    CHECK(result.model_calls == 2);
    REQUIRE(script.asked.size() == 2);
    REQUIRE(script.asked[1].size() == script.asked[0].size() + 2);
    CHECK(script.asked[1].back().role == Role::user);
    CHECK(text_of(script.asked[1].back()).find("- Files") != std::string::npos);
    CHECK(text_of(script.asked[1].back()).find("- Goal") == std::string::npos);
}

TEST_CASE("what lacks fewer sections stands, and a summary is never refused for them", "[sections]") {
    SectionModel worse{{"Goal: mend it", "nothing of the kind but longer"}};
    const auto first = worse.generate_summary_with();
    REQUIRE(first.ok());
    CHECK(first.summary == "Goal: mend it");
    CHECK(first.missing_sections == std::vector<std::string>{"Files"});
    CHECK(first.model_calls == 2);

    SectionModel refused{{"Goal: mend it", ""}};
    CHECK(refused.generate_summary_with().summary == "Goal: mend it");
}

TEST_CASE("nobody is asked twice where nothing lacks, nothing is required, or no call or room is left", "[sections]") {
    SectionModel whole{{"Goal: mend it\nFiles: none"}};
    CHECK(whole.generate_summary_with().model_calls == 1);
    SectionModel free{{"no heading at all in this one"}};
    CHECK(free.generate_summary_with({}).model_calls == 1);

    SectionModel poor{{"Goal: mend it", "Goal: mend it\nFiles: a.cpp"}};
    HookBudget budget{.model_calls = 1};
    const auto result = poor.generate_summary_with({.required_sections = wanted}, &budget);
    CHECK(result.ok());
    CHECK(poor.asked.size() == 1);

    SectionModel narrow{{"Goal: mend it " + std::string(1'600, 'g')}};
    SummaryGenerationConfig config{.required_sections = wanted};
    config.max_input_tokens = 1'400;
    config.max_summary_tokens = 1'000;
    CHECK(narrow.generate_summary_with(config).model_calls <= 2);
}
