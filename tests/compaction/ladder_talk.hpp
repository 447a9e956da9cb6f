// A summarizer that a test scripts, and conversations in turns.
#pragma once

#include "whittle/compaction/compaction.hpp"
#include "whittle/model/scripted_model.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// What a summarizer was asked.
struct AskedOnce {
    std::string text{};  ///< of all messages
    std::int64_t max_output_tokens = 0;
    std::string purpose{};
};
using Asked = std::vector<AskedOnce>;

/// Says always the same; what it is asked goes to `asked`.
template <AgentMessage M = ChatMessage>
std::shared_ptr<Model<M>> summarizer(Asked& asked, std::string reply = "[summary]") {
    return std::make_shared<ScriptedModel<M>>([&asked, reply = std::move(reply)](const ModelRequest<M>& request) {
        std::string text;
        for (const M& m : request.messages) text += text_of(m) + "\n";
        asked.push_back(
            {text, request.options != nullptr ? request.options->max_output_tokens : 0, std::string(request.purpose)});
        return Reply<M>{message_traits<M>::make(Role::assistant, reply)};
    });
}

/// As the source counts: 3 bytes per token, 1,000 per image.
inline ChainConfig pessimistic_chain() { return {.token_counter = pessimistic_counter()}; }

inline CompactionConfig sizes(std::int64_t threshold, std::int64_t target, std::int64_t summary) {
    CompactionConfig config;
    config.threshold_tokens = threshold;
    config.target_tokens = target;
    config.summary_size_tokens = summary;
    config.summary_role = SummaryRole::system;
    return config;
}

inline ChatMessage image_of(std::size_t bytes) {
    ChatMessage message = ChatMessage::user("");
    message.parts.assign(1,
                         {.kind = PartKind::media, .media = {.mime = "image/png", .bytes = std::string(bytes, '\1')}});
    return message;
}

/// "q{n}: {text}" and "a{n}: {text}" as turn n.
inline void push_turn(Conversation<>& conversation, int n, const std::string& text) {
    conversation.begin_turn();
    conversation.push_back(ChatMessage::user("q" + std::to_string(n) + ": " + text));
    conversation.push_back(ChatMessage::assistant("a" + std::to_string(n) + ": " + text));
}

inline Conversation<> build(int turns, const std::string& text, const std::string& system = "You are a test agent.") {
    Conversation<> conversation("dm");
    if (!system.empty()) conversation.push_back(ChatMessage::system(system));
    for (int n = 1; n <= turns; ++n) push_turn(conversation, n, text);
    return conversation;
}

/// Of a list without turn numbers, as a host that saved only the messages has it.
inline Conversation<> untagged(std::vector<ChatMessage> messages) {
    Conversation<> tagged("untagged");
    for (ChatMessage& m : messages) tagged.push_back(std::move(m));
    auto state = tagged.state();
    for (MessageInfo& info : state.infos) info.turn = 0;
    state.counters.turn = 0;
    state.counters.explicit_turns = true;
    return Conversation<>::from_state(std::move(state));
}

inline std::string all_text(const Conversation<>& conversation) {
    std::string text;
    for (const ChatMessage& m : conversation.messages()) text += text_of(m) + "\n";
    return text;
}

inline std::vector<ChatMessage> messages_of(const Conversation<>& conversation) {
    return {conversation.messages().begin(), conversation.messages().end()};
}

/// Indices of summaries.
inline std::vector<std::size_t> summaries_of(const Conversation<>& conversation) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        if (origin_of(conversation.outline()[i].mark) == Origin::summary) found.push_back(i);
    }
    return found;
}

inline bool contains(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

/// A chain with one ladder, its summarizer and what it was told.
struct Ladder {
    explicit Ladder(const CompactionConfig& config, ChainConfig base = pessimistic_chain(),
                    std::string reply = "[summary]")
        : Ladder(config, std::move(base), summarizer(asked, std::move(reply))) {}
    Ladder(const CompactionConfig& config, ChainConfig base, std::shared_ptr<Model<ChatMessage>> model)
        : chain(watched(std::move(base)), callbacks(), Chain<>::Stages{std::make_shared<Compaction<>>(model, config)}) {
    }

    const StageReport& ask(Conversation<>& conversation, const HookRequest<>& request = {}) {
        return chain.before_model(conversation, request).stages.at(0);
    }

    Asked asked{};
    std::vector<std::string> events{};  ///< kinds
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1'000);
    Chain<> chain;

private:
    ChainConfig watched(ChainConfig config) const {
        config.clock = clock;
        return config;
    }
    ChainCallbacks<ChatMessage> callbacks() {
        return {.on_event = [this](const Event& event) { events.emplace_back(event.kind); }};
    }
};

/// Two old turns with a tool result each, one with an image, and the current turn.
inline Conversation<> mixed(std::size_t result_bytes, std::size_t text_bytes = 30) {
    Conversation<> conversation("mixed");
    conversation.push_back(ChatMessage::system("SYSTEM"));
    for (int n = 1; n <= 3; ++n) {
        const std::string id = "c" + std::to_string(n);
        conversation.begin_turn();
        conversation.push_back(ChatMessage::user("ask " + id + std::string(text_bytes, 'u')));
        conversation.push_back(ChatMessage::assistant("look").call(id, "read_file", R"({"path":"src/a.cpp"})"));
        conversation.push_back(ChatMessage::result(id, "read_file", std::string(result_bytes, 'r')));
        if (n == 1) conversation.push_back(image_of(50));
        conversation.push_back(ChatMessage::assistant("answer " + id));
    }
    return conversation;
}

inline std::string bytes_of_all(const Conversation<>& conversation) {
    std::string bytes;
    for (const ChatMessage& m : conversation.messages()) bytes += message_traits<ChatMessage>::to_bytes(m) + "\n";
    return bytes;
}

inline std::shared_ptr<Model<ChatMessage>> failing(ModelErrorClass error, int& calls, int times = 1'000'000) {
    return std::make_shared<ScriptedModel<ChatMessage>>(
        [&calls, error, times](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> {
            if (++calls <= times) throw ModelError(error, "no luck");
            return {ChatMessage::assistant("[summary]")};
        });
}

}  // namespace whittle::testing
