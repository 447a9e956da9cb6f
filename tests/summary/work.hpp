#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/summary/summary.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

using Request = ModelRequest<ChatMessage>;
using ChatReply = Reply<ChatMessage>;

/// A digest of a whole conversation, with a clock that stands still.
struct Work {
    Conversation<> conversation{"digest"};
    SummaryGenerationConfig config{};
    SummaryGenerationCallbacks<ChatMessage> callbacks{};
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    SummaryGenerationEnvironment environment{
        .clock = clock, .random = std::make_shared<SeededRandom>(1), .purpose = "test: summary"};
    SummaryGenerationState state{};

    Work& user(std::string text) { return conversation.push_back(ChatMessage::user(std::move(text))), *this; }
    Work& assistant(std::string text) { return conversation.push_back(ChatMessage::assistant(std::move(text))), *this; }
    Work& round(const std::string& id, const std::string& tool, const std::string& arguments, std::string result) {
        conversation.push_back(ChatMessage::assistant().call(id, tool, arguments));
        conversation.push_back(ChatMessage::result(id, tool, std::move(result)));
        return *this;
    }

    SummaryGenerationResult<ChatMessage> run(Model<ChatMessage>& model,
                                             const std::function<std::string(std::string_view)>& accept = {}) {
        std::vector<std::size_t> fold(conversation.size());
        for (std::size_t i = 0; i < fold.size(); ++i) fold[i] = i;
        return generate_summary({.model = model,
                                 .all_messages = conversation.messages(),
                                 .outline = conversation.outline(),
                                 .fold = fold,
                                 .rejection_reason = accept},
                                config, callbacks, environment, state);
    }
    SummaryGenerationResult<ChatMessage> run(ScriptedModel<ChatMessage>::Answer answer) {
        ScriptedModel<ChatMessage> model(std::move(answer));
        return run(model);
    }
};

[[nodiscard]] inline ChatReply say(std::string text) { return {ChatMessage::assistant(std::move(text))}; }

/// The middle one of a summary request's three messages.
[[nodiscard]] inline std::string data_of(const Request& request) { return text_of(request.messages[1]); }

/// A user message and an answer, 400 tokens by `chars_counter()`.
[[nodiscard]] inline Work short_talk() {
    Work work;
    work.user("please look " + std::string(788, 'x')).assistant("done " + std::string(795, 'y'));
    return work;
}

}  // namespace whittle::testing
