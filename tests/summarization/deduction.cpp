// A middleware is made from a pointer to a host's own model class, and its braces take every callback.
#include "whittle/compaction/compaction.hpp"
#include "whittle/summarization/summarization.hpp"

#include "support/catch.hpp"

#include <memory>
#include <span>
#include <type_traits>
#include <vector>

using namespace whittle;

namespace {

class HostModel final : public Model<ChatMessage> {
public:
    Reply<ChatMessage> generate(const ModelRequest<ChatMessage>&) override {
        return {ChatMessage::assistant("What was done.")};
    }
};

}  // namespace

TEST_CASE("a pointer to a model class of the host's own says the message type", "[summarization]") {
    const auto model = std::make_shared<HostModel>();
    const Summarization plain{model};
    const Summarization configured{model, {.trigger = {.context_tokens = 500}}};
    const Summarization called{model,
                               {.trigger = {.context_tokens = 500}},
                               {.finalize = [](const FinalizeContext&, std::span<const ChatMessage>,
                                               const ChatMessage& summary) { return std::vector{summary}; },
                                .retry = {.should_retry = [](const auto&) { return false; }}}};
    SummarizationCallbacks<> callbacks;
    callbacks.callback = [](const auto&...) {};
    const Summarization typed{model, {}, callbacks};
    const Summarization based{std::shared_ptr<Model<ChatMessage>>(model), {}, {.finalize = nullptr}};
    const Compaction compaction{model, {.threshold_tokens = 9'000}};
    STATIC_REQUIRE(std::is_same_v<decltype(called), const Summarization<ChatMessage>>);
    STATIC_REQUIRE(std::is_same_v<decltype(compaction), const Compaction<ChatMessage>>);
    CHECK(plain.name() == "summarization");
    CHECK(typed.name() == based.name());
    CHECK(configured.config().trigger.context_tokens == 500);
    CHECK(compaction.config().threshold_tokens == 9'000);
}

TEST_CASE("callbacks in braces are the ones that are called", "[summarization]") {
    int finalized = 0;
    int counted = 0;
    const auto model = std::make_shared<HostModel>();
    const Summarization summarization{
        model,
        {.trigger = {.context_tokens = 500}},
        {.token_counter =
             [&](const auto&...) {
                 ++counted;
                 return std::int64_t{9'000};
             },
         .finalize =
             [&](const FinalizeContext&, std::span<const ChatMessage>, const ChatMessage& summary) {
                 ++finalized;
                 return std::vector{summary};
             }}};
    Conversation<> conversation("host");
    for (int i = 0; i < 4; ++i) conversation.push_back(ChatMessage::user(std::string(2'000, 'x')));
    conversation.push_back(ChatMessage::user("go on"));
    Chain({}, summarization).before_model(conversation);
    CHECK(counted > 0);
    CHECK(finalized == 1);
    CHECK(conversation.size() < 5);
}

TEST_CASE("callbacks of retry and failover are taken in nested braces and as objects", "[summarization]") {
    const auto model = std::make_shared<HostModel>();
    RetryCallbacks<ChatMessage> retry;
    retry.should_retry = [](const Attempt<ChatMessage>&) { return false; };
    FailoverCallbacks<ChatMessage> failover;
    failover.get_failover_model = [&](const FailoverContext<ChatMessage>&) {
        return FailoverModel<ChatMessage>{.model = model};
    };
    const Summarization mixed{model, {}, {.retry = retry, .failover = failover}};
    const Compaction nested{model,
                            {.threshold_tokens = 9'000},
                            {.retry = {.should_retry = [](const auto&) { return false; }}, .failover = failover}};
    CompactionCallbacks<ChatMessage> callbacks;
    callbacks.retry = retry;
    const Compaction typed{model, {.threshold_tokens = 9'000}, callbacks, "named"};
    const Compaction<> without;
    STATIC_REQUIRE(std::is_same_v<decltype(nested), const Compaction<ChatMessage>>);
    STATIC_REQUIRE(std::is_same_v<decltype(typed), const Compaction<ChatMessage>>);
    CHECK(mixed.name() == "summarization");
    CHECK(nested.name() == without.name());
    CHECK(typed.name() == "named");
}
