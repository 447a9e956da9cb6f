#include "support/catch.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/summary/summary.hpp"

#include <string>
#include <vector>

using namespace whittle;

namespace {

/// A summary of the first two messages; empty if the model does not give one.
std::string sum_up(Model<ChatMessage>& model, const Conversation<>& conversation) {
    const std::vector<std::size_t> fold{0, 1};
    const SummaryGenerationConfig config{.max_input_tokens = 8'000, .retry = RetryConfig{.max_retries = 2}};
    SummaryGenerationState state;
    const auto result = generate_summary<ChatMessage>(
        {.model = model, .all_messages = conversation.messages(), .outline = conversation.outline(), .fold = fold},
        config, {}, {.purpose = "example: summary"}, state);
    return result.ok() ? result.summary : "";
}

}  // namespace

TEST_CASE("the example of docs/summarization.md works", "[digest]") {
    Conversation<> conversation("example");
    conversation.push_back(ChatMessage::user("Find the bug. " + std::string(600, 'x')));
    conversation.push_back(ChatMessage::assistant("It is in a.cpp."));
    ScriptedModel<ChatMessage> model(std::vector{ChatMessage::assistant("<summary>The bug is in a.cpp.</summary>")});
    CHECK(sum_up(model, conversation) == "The bug is in a.cpp.");
}
