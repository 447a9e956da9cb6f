// A summarizer that a test scripts, and conversations for it.
#pragma once

#include "support/generators_messages.hpp"
#include "whittle/summarization/summarization.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Answers by a function of the request and the number of the call (from 1), and remembers what it was asked.
template <AgentMessage M = ChatMessage>
class Summarizer final : public Model<M> {
public:
    using Answer = std::function<Reply<M>(const ModelRequest<M>&, int)>;
    struct Asked {
        std::vector<M> messages{};
        std::string system{};
        std::size_t tools = 0;
        std::string purpose{};
        std::size_t count_stable_messages = 0;  ///< 0: not known
    };

    explicit Summarizer(Answer answer) : answer_(std::move(answer)) {}
    /// Always this text.
    explicit Summarizer(std::string text)
        : Summarizer([text = std::move(text)](const ModelRequest<M>&, int) {
              return Reply<M>{message_traits<M>::make(Role::assistant, text)};
          }) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        asked.push_back({{request.messages.begin(), request.messages.end()},
                         std::string(request.system),
                         request.tools.size(),
                         std::string(request.purpose),
                         request.count_stable_messages != nullptr ? (*request.count_stable_messages)() : 0});
        return answer_(request, static_cast<int>(asked.size()));
    }

    std::vector<Asked> asked{};

private:
    Answer answer_;
};

inline const std::string& good_summary() {
    static const std::string text =
        "<analysis>\nThe user wants <summary> tags.\n</analysis>\n<summary>\n1. Intent: THE GIST\n6. All user "
        "messages:\n<all_user_messages>\nas the model saw them\n</all_user_messages>\n7. Pending: none\n</summary>";
    return text;
}

/// A system text, then `requests` requests, each with `rounds` tool rounds whose results have `bytes`.
inline History long_talk(int requests, int rounds, std::size_t bytes) {
    History history{ChatMessage::system("SYSTEM TEXT")};
    int call = 0;
    for (int r = 1; r <= requests; ++r) {
        history.push_back(ChatMessage::user("request number " + std::to_string(r)));
        for (int i = 0; i < rounds; ++i) {
            const std::string id = "call_" + std::to_string(++call);
            history.push_back(ChatMessage::assistant("step " + id).call(id, "read_file", R"({"path":"src/a.cpp"})"));
            history.push_back(ChatMessage::result(id, "read_file", id + ": " + std::string(bytes, 'x')));
        }
        history.push_back(ChatMessage::assistant("done with " + std::to_string(r)));
    }
    return history;
}

template <AgentMessage M>
void push_all(Conversation<M>& conversation, const History& history) {
    for (const ChatMessage& m : history) {
        for (M& built : Builder<M>::build(m)) conversation.push_back(std::move(built));
    }
}

template <AgentMessage M>
std::vector<std::string> texts_of(std::span<const M> messages) {
    std::vector<std::string> texts;
    for (const M& m : messages) {
        std::string text;
        for (const Part& part : parts_of(m)) text += part.text + part.call_id;
        texts.push_back(std::move(text));
    }
    return texts;
}

/// The settings of most tests: due above 3,000 tokens, no tail.
inline SummarizationConfig small_trigger() { return {.trigger = {.context_tokens = 3'000}, .keep_recent_tokens = 0}; }

/// How many messages of that origin there are.
template <AgentMessage M>
std::size_t count_of(const Conversation<M>& conversation, Origin origin) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < conversation.size(); ++i)
        count += origin_of(conversation.outline()[i].mark) == origin ? 1U : 0U;
    return count;
}

/// The newest summary's index.
template <AgentMessage M>
std::size_t summary_at(const Conversation<M>& conversation) {
    for (std::size_t i = conversation.size(); i-- > 0;) {
        if (origin_of(conversation.outline()[i].mark) == Origin::summary) return i;
    }
    return conversation.size();
}

}  // namespace whittle::testing
