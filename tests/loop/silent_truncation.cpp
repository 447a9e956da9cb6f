// A provider that cuts a request that is too large and answers all the same.
#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace whittle;

namespace {

struct Told {
    std::vector<std::string> kinds{};
    RunResult result{};
    bool is_anchored = false;
};

/// One answer to a question, also one of `bytes` letters, for which `billed` input tokens are reported.
Told ask(ChatMessage question, std::int64_t billed, ChainConfig config = {}) {
    Told told;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector<Reply<ChatMessage>>{
        {ChatMessage::assistant("fine"),
         Usage{.uncached_input = billed / 2, .cache_read = billed - billed / 2, .output = 3}}});
    ChainCallbacks<> callbacks{.on_event = [&](const Event& event) { told.kinds.emplace_back(event.kind); }};
    AgentLoop<> loop(model, {}, Chain<>(config, callbacks, {}));
    Conversation<> conversation("cut");
    conversation.push_back(std::move(question));
    told.result = loop.run(conversation);
    told.is_anchored = conversation.context(config.token_counter, "", {}).anchored;
    return told;
}

Told ask(std::size_t bytes, std::int64_t billed, ChainConfig config = {}) {
    return ask(ChatMessage::user(std::string(bytes, 'a')), billed, std::move(config));
}

}  // namespace

TEST_CASE("a request of which hardly anything was billed is told as silently cut", "[loop]") {
    const Told told = ask(40'000, 4'000);
    CHECK(told.result.outcome == RunOutcome::answered);
    CHECK(told.result.silent_truncations == 1);
    CHECK(told.kinds == std::vector<std::string>{"silent_truncation"});
    CHECK_FALSE(told.is_anchored);  // the small usage would hide how large the conversation is
    CHECK(told.result.usage.cache_read == 2'000);
}

TEST_CASE("a usage near the count, of a small request, or below a pessimistic count is no sign of cutting", "[loop]") {
    CHECK(ask(40'000, 7'000).result.silent_truncations == 0);
    CHECK(ask(40'000, 7'000).is_anchored);
    CHECK(ask(4'000, 100).result.silent_truncations == 0);
    CHECK(ask(40'000, 9'000, {.token_counter = pessimistic_counter()}).result.silent_truncations == 0);
    CHECK(ask(40'000, 4'000, {.token_counter = pessimistic_counter()}).result.silent_truncations == 1);
}

TEST_CASE("images cost what the provider likes, and thinking is not read again: neither is a sign of cutting",
          "[loop]") {
    ChatMessage images = ChatMessage::user("what is this?");
    for (int i = 0; i < 2; ++i)
        images.parts.push_back({.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "pixels"}});
    CHECK(ask(images, 220).result.silent_truncations == 0);
    CHECK(ask(images, 220).is_anchored);

    ChatMessage thought = ChatMessage::user("go on");
    thought.parts.push_back({.kind = PartKind::thinking, .text = std::string(40'000, 't')});
    CHECK(ask(thought, 220).result.silent_truncations == 0);
    CHECK(ask(thought, 220).is_anchored);

    images.parts.push_back({.kind = PartKind::text, .text = std::string(40'000, 'a')});
    CHECK(ask(images, 4'000).result.silent_truncations == 1);
}

TEST_CASE("the loop tells a model how much of the conversation stays as it is", "[loop]") {
    std::optional<std::size_t> prefix;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>& request) {
        if (request.count_stable_messages != nullptr) prefix = (*request.count_stable_messages)();
        return Reply<ChatMessage>{ChatMessage::assistant("fine")};
    });
    AgentLoop<> loop(model, {}, Chain<>(ChainConfig{}));
    Conversation<> conversation("prefix");
    conversation.push_back(ChatMessage::user("one"));
    conversation.push_back(ChatMessage::assistant("two"));
    (void)loop.run(conversation, "three");
    CHECK(prefix == 3);
}
