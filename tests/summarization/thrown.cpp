// What a failed summary throws under OnError::propagate: what the model or a callback threw, as it came.
#include "whittle/summarization/summarization.hpp"

#include "support/catch.hpp"
#include "talk.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// An error of a host's own, of a model or of a callback.
struct HostError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct QuotaError : ModelError {
    explicit QuotaError(int days) : ModelError(ModelErrorClass::auth, "no credit"), days_left(days) {}
    int days_left = 0;
};

struct Outcomes {
    std::exception_ptr thrown{};
    std::vector<std::string> events{};
    bool is_unchanged = false;
};

Outcomes run(std::shared_ptr<Summarizer<ChatMessage>> model, SummarizationConfig config,
             SummarizationCallbacks<ChatMessage> callbacks, OnError on_error = OnError::propagate) {
    Outcomes outcomes;
    ChainCallbacks<ChatMessage> chain_callbacks;
    chain_callbacks.on_event = [&](const Event& event) { outcomes.events.emplace_back(event.text); };
    const Chain<ChatMessage> chain(
        {.on_error = on_error, .clock = std::make_shared<ManualClock>(1'000)}, std::move(chain_callbacks),
        Summarization<ChatMessage>{std::move(model), std::move(config), std::move(callbacks)});
    Conversation<ChatMessage> conversation("conv");
    push_all(conversation, long_talk(3, 4, 2'000));
    const auto before = texts_of<ChatMessage>(conversation.messages());
    try {
        chain.before_model(conversation);
    } catch (...) {
        outcomes.thrown = std::current_exception();
    }
    outcomes.is_unchanged = before == texts_of<ChatMessage>(conversation.messages());
    return outcomes;
}

std::shared_ptr<Summarizer<ChatMessage>> without_credit() {
    return std::make_shared<Summarizer<ChatMessage>>(
        [](const ModelRequest<ChatMessage>&, int call) -> Reply<ChatMessage> { throw QuotaError(call); });
}

template <typename E>
E caught(const std::exception_ptr& thrown) {
    REQUIRE(thrown != nullptr);
    try {
        std::rethrow_exception(thrown);
    } catch (const E& error) {
        return error;
    }
}

}  // namespace

TEST_CASE("under propagate a model's error is thrown as it came, whatever attempts there were", "[summarization]") {
    SummarizationConfig config = small_trigger();
    SECTION("one attempt") {
        const Outcomes outcomes = run(without_credit(), config, {});
        const auto error = caught<QuotaError>(outcomes.thrown);
        CHECK(error.error_class() == ModelErrorClass::auth);
        CHECK(error.days_left == 1);
        CHECK(std::string(error.what()) == "no credit");
        CHECK(outcomes.is_unchanged);
    }
    SECTION("the last one of several; the event says how many there were") {
        config.retry = RetryConfig{.max_retries = 1};
        config.failover = FailoverConfig{.max_retries = 2};
        const Outcomes outcomes = run(without_credit(), config, {});
        CHECK(caught<QuotaError>(outcomes.thrown).days_left == 4);
        REQUIRE(outcomes.events.size() == 1);
        CHECK(outcomes.events[0] == "summarization: write a summary: exceeds max failover attempts (2): no credit");
    }
    SECTION("what is no exception class") {
        const auto model = std::make_shared<Summarizer<ChatMessage>>(
            [](const ModelRequest<ChatMessage>&, int) -> Reply<ChatMessage> { throw 42; });
        CHECK(caught<int>(run(model, config, {}).thrown) == 42);
    }
    SECTION("a reply that is no summary is an Error of the library") {
        const auto error = caught<Error>(run(std::make_shared<Summarizer<ChatMessage>>(""), config, {}).thrown);
        CHECK(error.errc() == Errc::model_failed);
    }
}

TEST_CASE("under propagate what a callback throws is thrown as it came, and everything is as it was",
          "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.retry = RetryConfig{.max_retries = 1};
    config.failover = FailoverConfig{.max_retries = 1};
    const auto throws = [](const auto&...) { throw HostError("the host's own"); };
    using Set = std::function<void(SummarizationCallbacks<ChatMessage>&)>;
    const std::vector<std::pair<std::string, Set>> callbacks{
        {"gen_model_input",
         [&](auto& c) {
             c.gen_model_input = [=](const auto&...) -> std::vector<ChatMessage> {
                 return throws(), std::vector<ChatMessage>{};
             };
         }},
        {"finalize",
         [&](auto& c) { c.finalize = [=](const auto&...) { return throws(), std::vector<ChatMessage>{}; }; }},
        {"callback", [&](auto& c) { c.callback = throws; }},
        {"user_message_filter",
         [&](auto& c) { c.user_message_filter = [=](const auto&...) { return throws(), true; }; }},
        {"should_retry", [&](auto& c) { c.retry.should_retry = [=](const auto&) { return throws(), true; }; }},
        {"should_failover", [&](auto& c) { c.failover.should_failover = [=](const auto&) { return throws(), true; }; }},
        {"token_counter",
         [&](auto& c) { c.token_counter = [=](const auto&...) { return throws(), std::int64_t{0}; }; }},
    };
    for (const auto& [name, set] : callbacks) {
        INFO(name);
        SummarizationCallbacks<ChatMessage> with_one;
        set(with_one);
        const Outcomes outcomes = run(std::make_shared<Summarizer<ChatMessage>>(good_summary()), config, with_one);
        CHECK(std::string(caught<HostError>(outcomes.thrown).what()) == "the host's own");
        CHECK(outcomes.is_unchanged);
    }
    SummarizationCallbacks<ChatMessage> pausing;
    pausing.retry.backoff = [=](const auto&) { return throws(), std::chrono::milliseconds(1); };
    caught<HostError>(run(without_credit(), config, pausing).thrown);
    SummarizationCallbacks<ChatMessage> failing_over;
    failing_over.failover.get_failover_model = [=](const auto&) { return throws(), FailoverModel<ChatMessage>{}; };
    caught<HostError>(run(without_credit(), config, failing_over).thrown);
}

TEST_CASE("under skip what is no exception class is reported like any other failure, and remembered",
          "[summarization]") {
    SummarizationCallbacks<ChatMessage> callbacks;
    int calls = 0;
    callbacks.finalize = [&](const auto&...) -> std::vector<ChatMessage> {
        ++calls;
        throw 42;
    };
    const Chain<ChatMessage> chain(
        {}, Summarization<ChatMessage>{std::make_shared<Summarizer<ChatMessage>>(good_summary()), small_trigger(),
                                       callbacks});
    Conversation<ChatMessage> conversation("conv");
    push_all(conversation, long_talk(3, 4, 2'000));
    CHECK(chain.before_model(conversation).stages.at(0).outcome == Outcome::failed);
    CHECK(chain.before_model(conversation).stages.at(0).outcome == Outcome::cooling_down);
    CHECK(calls == 1);
}
