// Summaries that are made ahead of need, on the host's threads.
#include "support/catch.hpp"
#include "talk.hpp"
#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/summarization/summarization.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// An executor that runs what it got when the test says so.
struct Queue {
    std::vector<std::function<void()>> jobs{};

    [[nodiscard]] auto executor() {
        return [this](std::function<void()> job) { jobs.push_back(std::move(job)); };
    }
    void run_all() {
        for (auto& job : jobs) job();
        jobs.clear();
    }
};

SummarizationConfig preparing_at(std::int64_t trigger) {
    SummarizationConfig config{.trigger = {.context_tokens = trigger}, .keep_recent_tokens = 0};
    config.prepare_at_trigger_fraction = 0.5;
    config.failure_cool_down_tokens = 600;
    return config;
}

/// A chain that prepares, with everything that a test looks at.
template <AgentMessage M = ChatMessage>
struct Prepares {
    explicit Prepares(std::int64_t trigger = 5'000, std::string answer = good_summary())
        : model(std::make_shared<Summarizer<M>>(std::move(answer))), chain(make(preparing_at(trigger))) {}

    [[nodiscard]] Chain<M> make(const SummarizationConfig& config) {
        SummarizationCallbacks<M> callbacks;
        callbacks.prepare_executor = queue.executor();
        ChainCallbacks<M> of_chain;
        of_chain.on_event = [this](const Event& event) {
            if (event.kind == "prepared_dropped") dropped.emplace_back(event.text);
        };
        const typename Chain<M>::Stages stages{std::make_shared<Summarization<M>>(model, config, callbacks)};
        return Chain<M>(ChainConfig{}, of_chain, stages);
    }
    const StageReport& ask(Conversation<M>& conversation) { return chain.before_model(conversation).stages.front(); }

    Queue queue{};
    std::shared_ptr<Summarizer<M>> model;
    std::vector<std::string> dropped{};
    Chain<M> chain;
};

/// So many rounds of about 500 tokens behind a request.
template <AgentMessage M>
void work_on(Conversation<M>& conversation, int rounds, const std::string& name = "w") {
    History history;
    if (conversation.empty()) history.push_back(ChatMessage::user("do it"));
    for (int i = 0; i < rounds; ++i) {
        const std::string id = name + std::to_string(i);
        history.push_back(ChatMessage::assistant("step " + id).call(id, "run", R"({"cmd":"make"})"));
        history.push_back(ChatMessage::result(id, "run", id + std::string(2'000, 'x')));
    }
    push_all(conversation, history);
}

}  // namespace

TEST_CASE("a summary that was prepared is committed without a call, and what came later stays behind it, on every type",
          "[prepared]") {
    for_each_message_type([](auto type) {
        using T = typename decltype(type)::type;
        if constexpr (ToolMessage<T>) {
            INFO(Builder<T>::name);
            Prepares<T> bench;
            Conversation<T> conversation("c");
            work_on(conversation, 7);
            CHECK(bench.ask(conversation).outcome == Outcome::not_due);
            REQUIRE(bench.queue.jobs.size() == 1);
            CHECK(bench.ask(conversation).outcome == Outcome::not_due);
            CHECK(bench.queue.jobs.size() == 1);  // one is enough
            CHECK(bench.model->asked.empty());
            bench.queue.run_all();
            CHECK(bench.model->asked.size() == 1);

            work_on(conversation, 4, "late");
            const std::string late = text_of(conversation.messages().back());
            REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
            CHECK(bench.model->asked.size() == 1);
            const std::size_t summary = summary_at(conversation);
            CHECK(text_of(conversation.messages()[summary]).find("THE GIST") != std::string::npos);
            CHECK(conversation.size() > summary + 6);  // rounds that came while nobody waited
            CHECK(text_of(conversation.messages().back()) == late);
            CHECK(validate(conversation.outline(), openai_chat()).empty());
            CHECK(conversation.undo());
        }
    });
}

TEST_CASE("a host's own threads prepare the summary", "[prepared]") {
    const auto model = std::make_shared<Summarizer<>>(good_summary());
    Conversation<> conversation("c");
    work_on(conversation, 7);  // about 3,600 tokens
    std::vector<whittle::detail::JoiningThread> pool;
    SummarizationCallbacks<> callbacks;
    callbacks.prepare_executor = [&](std::function<void()> job) { pool.emplace_back(std::move(job)); };
    SummarizationConfig config{.trigger = {.context_tokens = 5'000}, .keep_recent_tokens = 0};
    config.prepare_at_trigger_fraction = 0.6;
    const Chain<> chain(ChainConfig{}, {},
                        Chain<>::Stages{std::make_shared<Summarization<>>(model, config, callbacks)});
    CHECK_FALSE(chain.before_model(conversation).changed());  // ordered
    pool.clear();                                             // an agent works on meanwhile
    work_on(conversation, 4, "late");
    CHECK(chain.before_model(conversation).changed());  // no call is waited for
    CHECK(model->asked.size() == 1);
}

TEST_CASE("the report has the call of a prepared summary, and the next one is prepared anew", "[prepared]") {
    Prepares<> bench;
    Conversation<> conversation("c");
    work_on(conversation, 7);
    bench.ask(conversation);
    bench.queue.run_all();
    work_on(conversation, 4, "late");
    const StageReport& stage = bench.ask(conversation);
    REQUIRE(stage.details->model_calls.size() == 1);
    CHECK(stage.details->model_calls[0].purpose == "summarization: prepared summary");
    work_on(conversation, 4, "more");
    bench.ask(conversation);
    CHECK(bench.queue.jobs.size() == 1);
}

TEST_CASE("messages that changed meanwhile drop a prepared summary, and the model is asked as ever", "[prepared]") {
    Prepares<> bench;
    Conversation<> conversation("c");
    work_on(conversation, 7);
    bench.ask(conversation);
    bench.queue.run_all();
    auto edit = conversation.edit("host");
    edit.set_text(2, 0, "shortened by somebody", {.reason = "test"});
    REQUIRE(edit.commit().committed());
    work_on(conversation, 6, "late");
    REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(bench.model->asked.size() == 2);
    REQUIRE(bench.dropped.size() == 1);
    CHECK(bench.dropped[0].find("have changed") != std::string::npos);
}

TEST_CASE("the order to go on stands once beside a prepared summary, and a host may refuse it there too",
          "[prepared]") {
    constexpr std::string_view go_on_words = "Go on with the current work";
    for (const bool is_refused : {false, true}) {
        Queue queue;
        SummarizationCallbacks<> callbacks;
        callbacks.prepare_executor = queue.executor();
        SummarizationConfig config = preparing_at(5'000);
        config.continue_message = true;
        ChainConfig chain_config;
        std::vector<std::string> asked;
        chain_config.before_commit = [&](const CommitPlan& plan) {
            asked.emplace_back(plan.reason);
            return !is_refused || plan.reason != "continue";
        };
        const auto model = std::make_shared<Summarizer<>>(good_summary());
        const Chain<> chain(chain_config, {},
                            Chain<>::Stages{std::make_shared<Summarization<>>(model, config, callbacks)});
        Conversation<> conversation("c");
        work_on(conversation, 7);
        chain.before_model(conversation);
        queue.run_all();
        work_on(conversation, 4, "late");
        REQUIRE(chain.before_model(conversation).changed());
        CHECK(asked == std::vector<std::string>{"continue", "summary"});
        int orders = 0;
        for (const ChatMessage& message : conversation.messages())
            orders += text_of(message).find(go_on_words) != std::string::npos ? 1 : 0;
        CHECK(orders == 1);
        CHECK(count_of(conversation, Origin::nudge) == (is_refused ? 0U : 1U));
    }
}

TEST_CASE("a prepared summary that leaves too much after an overflow is dropped for a larger fold", "[prepared]") {
    Prepares<> bench;
    Conversation<> conversation("c");
    work_on(conversation, 7);
    bench.ask(conversation);
    bench.queue.run_all();
    work_on(conversation, 12, "late");
    conversation.push_back(ChatMessage::assistant("so"));
    conversation.push_back(ChatMessage::user("and?"));
    REQUIRE(bench.chain.on_overflow(conversation, {.context_limit_tokens = 4'000, .requested_tokens = 10'000}));
    CHECK(bench.model->asked.size() > 1);  // in pieces that fit
    REQUIRE(bench.dropped.size() == 1);
    CHECK(bench.dropped[0].find("it would leave") != std::string::npos);
}

TEST_CASE("a preparation that came to nothing is ordered anew once there is more", "[prepared]") {
    Prepares<> bench(20'000);
    Conversation<> conversation("c");
    work_on(conversation, 22);
    bench.ask(conversation);
    bench.queue.run_all();
    auto edit = conversation.edit("host");
    edit.set_text(2, 0, "shortened", {.reason = "test"});
    REQUIRE(edit.commit().committed());
    bench.ask(conversation);
    CHECK(bench.queue.jobs.empty());  // it has not grown
    work_on(conversation, 3, "more");
    bench.ask(conversation);
    CHECK(bench.queue.jobs.size() == 1);
}

TEST_CASE("a message that was pinned meanwhile drops a prepared summary too", "[prepared]") {
    Prepares<> bench;
    Conversation<> conversation("c");
    work_on(conversation, 7);
    bench.ask(conversation);
    bench.queue.run_all();
    conversation.pin(conversation.outline()[3].serial);
    work_on(conversation, 5, "late");
    REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(bench.dropped.size() == 1);
}

TEST_CASE("a summary that is not ready is waited for a while without blocking, then made at once", "[prepared]") {
    Prepares<> bench;
    Conversation<> conversation("c");
    work_on(conversation, 7);
    bench.ask(conversation);
    work_on(conversation, 3, "late");
    const StageReport& waiting = bench.ask(conversation);
    CHECK(waiting.outcome == Outcome::nothing);
    CHECK(waiting.details->error.find("still being prepared") != std::string::npos);
    CHECK(bench.model->asked.empty());
    work_on(conversation, 2, "later");
    CHECK(bench.ask(conversation).outcome == Outcome::committed);
    REQUIRE(bench.dropped.size() == 1);
    CHECK(bench.dropped[0].find("not ready") != std::string::npos);
    bench.queue.run_all();  // too late: it was told to stop
    CHECK(bench.model->asked.size() == 1);
}

TEST_CASE("a preparation that fails is told when the summary is due, and that one is made as ever", "[prepared]") {
    int calls = 0;
    Queue queue;
    std::vector<std::string> dropped;
    const auto model = std::make_shared<Summarizer<>>([&](const ModelRequest<ChatMessage>&, int) {
        if (++calls == 1) throw std::runtime_error("the line is down");
        return Reply<ChatMessage>{ChatMessage::assistant(good_summary())};
    });
    SummarizationCallbacks<> callbacks;
    callbacks.prepare_executor = queue.executor();
    ChainCallbacks<> of_chain;
    of_chain.on_event = [&](const Event& event) {
        if (event.kind == "prepared_dropped") dropped.emplace_back(event.text);
    };
    const Chain<> chain(ChainConfig{}, of_chain,
                        Chain<>::Stages{std::make_shared<Summarization<>>(model, preparing_at(5'000), callbacks)});
    Conversation<> conversation("c");
    work_on(conversation, 7);
    chain.before_model(conversation);
    queue.run_all();
    work_on(conversation, 4, "late");
    CHECK(chain.before_model(conversation).changed());
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].find("the line is down") != std::string::npos);
}

TEST_CASE("an executor that throws is reported, or thrown under propagate", "[prepared]") {
    for (const OnError on_error : {OnError::skip, OnError::propagate}) {
        SummarizationCallbacks<> callbacks;
        callbacks.prepare_executor = [](const std::function<void()>&) {
            throw std::runtime_error("the pool is closed");
        };
        std::vector<std::string> told;
        ChainCallbacks<> of_chain;
        of_chain.on_event = [&](const Event& event) { told.emplace_back(event.text); };
        ChainConfig config;
        config.on_error = on_error;
        const auto model = std::make_shared<Summarizer<>>(good_summary());
        const Chain<> chain(config, of_chain,
                            Chain<>::Stages{std::make_shared<Summarization<>>(model, preparing_at(5'000), callbacks)});
        Conversation<> conversation("c");
        work_on(conversation, 7);
        if (on_error == OnError::propagate) {
            CHECK_THROWS_WITH(chain.before_model(conversation), "the pool is closed");
        } else {
            chain.before_model(conversation);
            CHECK(std::ranges::any_of(told, [](const std::string& t) { return t.find("pool is closed") != t.npos; }));
        }
    }
}

TEST_CASE("far below the trigger, in a dry run, and without an executor nothing is prepared", "[prepared]") {
    Prepares<> bench(50'000);
    Conversation<> conversation("c");
    work_on(conversation, 7);
    bench.ask(conversation);
    CHECK(bench.queue.jobs.empty());

    Problems problems;
    check_summarization(preparing_at(5'000), ChainConfig{}, {}, "s", problems);
    REQUIRE(problems.all().size() == 1);
    CHECK(problems.all()[0].field == "s.prepare_at_trigger_fraction");
}

TEST_CASE("a conversation that goes stops its preparation; one on another thread works on copies", "[prepared]") {
    std::vector<whittle::detail::JoiningThread> threads;
    SummarizationCallbacks<> callbacks;
    callbacks.prepare_executor = [&](std::function<void()> job) { threads.emplace_back(std::move(job)); };
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>& request) {
        for (int i = 0; i < 2'000 && !request.stop.stop_requested(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return Reply<ChatMessage>{ChatMessage::assistant(good_summary())};
    });
    const Chain<> chain(ChainConfig{}, {},
                        Chain<>::Stages{std::make_shared<Summarization<>>(model, preparing_at(5'000), callbacks)});
    {
        Conversation<> conversation("c");
        work_on(conversation, 7);
        chain.before_model(conversation);
        work_on(conversation, 1, "meanwhile");
        auto edit = conversation.edit("host");
        edit.set_text(2, 0, "changed", {.reason = "test"});
        CHECK(edit.commit().committed());
    }
    REQUIRE(threads.size() == 1);
    threads.clear();  // joins
}
