// How the model is asked: the bound of a request, the agent's own prefix, and folds of more calls than a hook has.
#include "support/catch.hpp"
#include "talk.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using M = ChatMessage;
using S = Summarization<M>;

std::int64_t size_of(const ModelRequest<M>& request) {
    std::int64_t tokens = count_overhead(request.system, request.tools, *chars_counter());
    for (const M& m : request.messages) tokens += count_message(m, *chars_counter());
    return tokens;
}

/// Sees each request before it answers.
std::shared_ptr<Summarizer<M>> watched(std::function<void(const ModelRequest<M>&, int)> watch) {
    return std::make_shared<Summarizer<M>>([watch = std::move(watch)](const ModelRequest<M>& request, int number) {
        watch(request, number);
        return Reply<M>{M::assistant(good_summary())};
    });
}

struct Bench {
    explicit Bench(std::shared_ptr<Summarizer<M>> summarizer, SummarizationConfig config,
                   SummarizationCallbacks<M> callbacks = {}, ChainConfig chain_config = {})
        : model(std::move(summarizer)),
          chain(complete(std::move(chain_config)),
                {.on_event = [this](const Event& event) { events.push_back(std::string(event.kind)); }},
                S{model, std::move(config), std::move(callbacks)}) {}

    ChainConfig complete(ChainConfig config) const {
        config.clock = clock;
        config.random = std::make_shared<SeededRandom>(1);
        return config;
    }
    const StageReport& ask(Conversation<M>& c) {
        return chain.before_model(c, {.tools = tools, .system = "beside"}).stages.at(0);
    }
    /// Requests with the agent's own tools: those that reuse its prefix.
    [[nodiscard]] std::ptrdiff_t with_prefix() const {
        return std::ranges::count_if(model->asked, [](const auto& asked) { return asked.tools > 0; });
    }

    std::vector<std::string> events{};
    std::vector<ToolSpec> tools{{"read_file", "reads", "{}"}};
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1'000);
    std::shared_ptr<Summarizer<M>> model;
    Chain<M> chain;
};

Conversation<M> talk(int requests = 3, int rounds = 4, std::size_t bytes = 2'000) {
    Conversation<M> c("conv");
    push_all(c, long_talk(requests, rounds, bytes));
    return c;
}

SummarizationConfig reusing() {
    SummarizationConfig config = small_trigger();
    config.reuse_prompt_cache = true;
    return config;
}

bool warns_of_reuse(const SummarizationConfig& config, const ChainConfig& chain) {
    Problems problems;
    check_summarization(config, chain, {}, "s", problems);
    return std::ranges::any_of(problems.all(), [](const Problem& p) { return p.field == "s.reuse_prompt_cache"; });
}

}  // namespace

TEST_CASE("a provider that refuses the whole prefix as too large gets pieces, and is not sent so much again",
          "[summarization]") {
    int refused = 0;
    Bench bench(watched([&](const ModelRequest<M>& request, int) {
                    if (size_of(request) <= 4'000) return;
                    ++refused;
                    throw ModelError(Overflow{4'000, size_of(request)}, "too large");
                }),
                reusing());
    Conversation<M> c = talk();
    CHECK(bench.ask(c).outcome == Outcome::committed);
    CHECK(refused == 1);
    CHECK(bench.with_prefix() == 1);
    CHECK(bench.model->asked.size() > 2);
    push_all(c, long_talk(3, 4, 2'000));
    CHECK(bench.ask(c).outcome == Outcome::committed);
    CHECK(refused == 1);
    CHECK(bench.with_prefix() == 1);
}

TEST_CASE("a prefix that does not fit is neither retried nor sent to another model: the first one gets pieces",
          "[summarization]") {
    for (const bool by_provider : {false, true}) {
        CAPTURE(by_provider);
        SummarizationConfig config = reusing();
        config.retry = RetryConfig{};
        config.failover = FailoverConfig{};
        if (!by_provider) config.max_input_tokens = 4'000;
        const auto backup = std::make_shared<Summarizer<M>>(good_summary());
        SummarizationCallbacks<M> callbacks;
        callbacks.failover.get_failover_model = [&](const auto&) { return FailoverModel<M>{backup}; };
        Bench bench(watched([](const ModelRequest<M>& request, int) {
                        if (size_of(request) > 4'000) throw ModelError(Overflow{}, "too large");
                    }),
                    config, callbacks);
        Conversation<M> c = talk();
        CHECK(bench.ask(c).outcome == Outcome::committed);
        CHECK(bench.clock->now() == 1'000);
        CHECK(backup->asked.empty());
        CHECK(bench.with_prefix() == (by_provider ? 1 : 0));
    }
}

TEST_CASE("a server's error is retried with the prefix, and failover follows", "[summarization]") {
    SummarizationConfig config = reusing();
    config.retry = RetryConfig{.max_retries = 1};
    config.failover = FailoverConfig{};
    const auto backup = std::make_shared<Summarizer<M>>(good_summary());
    SummarizationCallbacks<M> callbacks;
    callbacks.failover.get_failover_model = [&](const auto&) { return FailoverModel<M>{backup}; };
    Bench bench(watched([](const ModelRequest<M>&, int) { throw ModelError(ModelErrorClass::server, "down"); }), config,
                callbacks);
    Conversation<M> c = talk();
    CHECK(bench.ask(c).outcome == Outcome::committed);
    CHECK(bench.with_prefix() == 2);
    CHECK(bench.model->asked.size() == 2);
    CHECK(backup->asked.size() == 1);
}

TEST_CASE("a prefix with kept thinking that was edited says so to the backend, other requests do not",
          "[summarization]") {
    for (const bool reuses : {true, false}) {
        CAPTURE(reuses);
        std::vector<bool> edited;
        SummarizationConfig config = small_trigger();
        config.reuse_prompt_cache = reuses;
        ChainConfig chain;
        chain.profile.thinking_bound_to_prefix = true;
        Bench bench(
            watched([&](const ModelRequest<M>& request, int) { edited.push_back(request.thinking_prefix_edited); }),
            config, {}, chain);
        Conversation<M> c = talk();
        c.push_back({Role::assistant, {{PartKind::thinking, "t"}, {PartKind::text, "a"}}});
        c.push_back(M::user("go on"));
        auto edit = c.edit("test");
        edit.set_text(3, 0, "cut", {.reason = "test"});
        REQUIRE(edit.commit().committed());
        REQUIRE(c.thinking_prefix_edited());
        bench.ask(c);
        CHECK(edited == std::vector<bool>{reuses});
    }
}

TEST_CASE("without a bound of its own a request fits the window less the reply", "[summarization]") {
    ChainConfig chain;
    chain.profile.context_window = 8'000;
    chain.profile.output_reserve = 1'000;
    std::int64_t largest = 0;
    Bench bench(watched([&](const ModelRequest<M>& request, int) { largest = std::max(largest, size_of(request)); }),
                small_trigger(), {}, chain);
    Conversation<M> c = talk(10, 4, 2'000);
    CHECK(bench.ask(c).outcome == Outcome::committed);
    CHECK(largest <= 7'000);
    CHECK(largest > 5'000);
    SummarizationConfig config;
    CHECK(input_bound(config, 0, 1'000) == default_summary_input_tokens);
    CHECK(input_bound(config, 200'000, 8'000) == 192'000);
    CHECK(input_bound(config, 4'000, 8'000) == 2'000);
    config.model_options.max_output_tokens = 20'000;
    CHECK(input_bound(config, 200'000, 8'000) == 180'000);
    config.max_input_tokens = 5'000;
    CHECK(input_bound(config, 200'000, 8'000) == 5'000);
}

TEST_CASE("with a window above the trigger the default trigger leaves room for the prefix; without one it is warned of",
          "[summarization]") {
    ChainConfig chain;
    CHECK(warns_of_reuse({.reuse_prompt_cache = true}, chain));
    CHECK_FALSE(warns_of_reuse({}, chain));
    chain.profile.context_window = 200'000;
    CHECK_FALSE(warns_of_reuse({.reuse_prompt_cache = true}, chain));
    CHECK(warns_of_reuse({.reuse_prompt_cache = true, .max_input_tokens = 50'000}, chain));
    Bench bench(std::make_shared<Summarizer<M>>(good_summary()), {.reuse_prompt_cache = true}, {}, chain);
    Conversation<M> c = talk(5, 10, 13'200);
    CHECK(bench.ask(c).outcome == Outcome::committed);
    CHECK(bench.model->asked.size() == 1);
    CHECK(bench.with_prefix() == 1);
}

TEST_CASE("a fold of more calls than a hook has is no failure, and ends under propagate too", "[summarization]") {
    for (const OnError on_error : {OnError::skip, OnError::propagate}) {
        SummarizationConfig config = small_trigger();
        config.max_input_tokens = 4'000;
        Bench bench(std::make_shared<Summarizer<M>>(good_summary()), config, {},
                    {.limits = {.model_calls = 2}, .on_error = on_error});
        Conversation<M> c = talk(10, 4, 2'000);
        int hooks = 1;
        for (; hooks < 20; ++hooks) {
            const StageReport& report = bench.ask(c);
            if (report.outcome == Outcome::committed) break;
            CHECK(report.outcome == Outcome::nothing);
            CHECK(report.details->error.find(" messages are read") != std::string::npos);
            CHECK(bench.model->asked.size() == static_cast<std::size_t>(2 * hooks));
        }
        CHECK(hooks > 2);
        CHECK(hooks < 20);
        CHECK(std::ranges::count(bench.events, "unfinished") == hooks - 1);
        CHECK(std::ranges::count(bench.events, "failed") == 0);
    }
}

TEST_CASE("a hook whose calls all fail has made no progress: that is a failure", "[summarization]") {
    SummarizationConfig config = small_trigger();
    config.max_input_tokens = 4'000;
    config.retry = RetryConfig{};
    Bench bench(watched([](const ModelRequest<M>&, int number) {
                    if (number > 2) throw ModelError(ModelErrorClass::server, "down");
                }),
                config, {}, {.limits = {.model_calls = 2}, .on_error = OnError::propagate});
    Conversation<M> c = talk(10, 4, 2'000);
    CHECK(bench.ask(c).outcome == Outcome::nothing);
    CHECK_THROWS_WITH(bench.ask(c), Catch::Contains("down") || Catch::Contains("used up"));
}

TEST_CASE("calls that another middleware used up are no failure", "[summarization]") {
    Bench bench(std::make_shared<Summarizer<M>>(good_summary()), small_trigger(), {},
                {.limits = {.model_calls = 0}, .on_error = OnError::propagate});
    Conversation<M> c = talk(10, 4, 2'000);
    CHECK(bench.ask(c).outcome == Outcome::nothing);
    CHECK(bench.model->asked.empty());
    CHECK(std::ranges::count(bench.events, "unfinished") == 1);
}
