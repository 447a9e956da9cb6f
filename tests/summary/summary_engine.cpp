// One engine makes the summaries of `Summarization` and of `Compaction`: what it promises, on both.
#include "../summarization/talk.hpp"
#include "support/catch.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/summary/detail/rule_based_summary.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr std::int64_t trigger = 4'000;

/// What a test asks of either middleware.
struct EngineSettings {
    std::int64_t rule_based_summary_tokens = 0;
    double prepare_at_trigger_fraction = 0.0;
    std::int64_t max_input_tokens = 0;
    SummaryExecutor executor{};
};

struct OfSummarization {
    static std::shared_ptr<Middleware<>> make(std::shared_ptr<Model<ChatMessage>> model,
                                              const EngineSettings& settings) {
        SummarizationConfig config{.trigger = {.context_tokens = trigger}, .keep_recent_tokens = 500};
        config.rule_based_summary_tokens = settings.rule_based_summary_tokens;
        config.prepare_at_trigger_fraction = settings.prepare_at_trigger_fraction;
        config.max_input_tokens = settings.max_input_tokens;
        SummarizationCallbacks<> callbacks;
        callbacks.prepare_executor = settings.executor;
        return std::make_shared<Summarization<>>(std::move(model), config, callbacks);
    }
    static std::shared_ptr<Middleware<>> make_fitting() {
        SummarizationConfig config{.trigger = {.context_tokens = 12'000}, .keep_recent_tokens = 8'000};
        config.rule_based_summary_tokens = 1'000;
        config.fit_image_and_byte_limits = true;
        return std::make_shared<Summarization<>>(nullptr, config);
    }
};

struct OfCompaction {
    static std::shared_ptr<Middleware<>> make(std::shared_ptr<Model<ChatMessage>> model,
                                              const EngineSettings& settings) {
        CompactionConfig config{.threshold_tokens = trigger, .target_tokens = 2'000, .summary_size_tokens = 800};
        config.pruning.reset();
        config.rule_based_summary_tokens = settings.rule_based_summary_tokens;
        config.prepare_at_trigger_fraction = settings.prepare_at_trigger_fraction;
        config.max_input_tokens = settings.max_input_tokens;
        config.retry.reset();
        CompactionCallbacks<> callbacks;
        callbacks.prepare_executor = settings.executor;
        return std::make_shared<Compaction<>>(std::move(model), config, callbacks);
    }
    static std::shared_ptr<Middleware<>> make_fitting() {
        CompactionConfig config{.threshold_tokens = 12'000, .target_tokens = 3'000, .summary_size_tokens = 800};
        config.media = MediaMode::keep;
        config.rule_based_summary_tokens = 800;
        return std::make_shared<Compaction<>>(nullptr, config);
    }
};

struct OfReduction {
    static std::shared_ptr<Middleware<>> make_fitting() {
        return std::make_shared<Reduction<>>(ReductionConfig{.fit_image_and_byte_limits = true});
    }
};

/// Turns of about 260 tokens each, each with a name of its own.
void push_turns(Conversation<>& conversation, int count) {
    for (int i = 0; i < count; ++i) {
        const std::string n = std::to_string(conversation.size());
        conversation.begin_turn();
        conversation.push_back(ChatMessage::user("please look at src/module_" + n + ".cpp"));
        std::string found = "I read src/module_" + n + ".cpp and found:";
        for (int line = 0; line < 40; ++line) found += " line " + std::to_string(line) + " is in order;";
        conversation.push_back(ChatMessage::assistant(found));
    }
}

Conversation<> talk(int turns) {
    Conversation<> conversation("engine");
    push_turns(conversation, turns);
    return conversation;
}

Reply<ChatMessage> gist() {
    return {ChatMessage::assistant("<summary>THE GIST: src/module_0.cpp and src/module_2.cpp are in order.</summary>")};
}

/// A chain with one of them, and everything that a test looks at.
template <typename Which>
struct Bench {
    explicit Bench(
        Summarizer<>::Answer answer = [](const auto&, int) { return gist(); }, EngineSettings settings = {},
        ChainConfig config = {})
        : model(std::make_shared<Summarizer<>>(std::move(answer))), chain(make(model, std::move(settings), config)) {}
    static Bench without_model(EngineSettings settings) {
        Bench bench;
        bench.chain = bench.make(nullptr, std::move(settings), {});
        return bench;
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;
    Bench(Bench&& other) noexcept = default;
    ~Bench() = default;

    const StageReport& ask(Conversation<>& conversation) { return chain.before_model(conversation).stages.front(); }
    [[nodiscard]] auto told(std::string_view kind) const { return std::ranges::count(*events, kind); }
    [[nodiscard]] SummaryExecutor executor() {
        return [jobs = jobs](std::function<void()> job) { jobs->push_back(std::move(job)); };
    }
    void run_jobs() {
        for (auto& job : *jobs) job();
        jobs->clear();
    }

    std::shared_ptr<std::vector<std::string>> events = std::make_shared<std::vector<std::string>>();
    std::shared_ptr<std::vector<std::function<void()>>> jobs = std::make_shared<std::vector<std::function<void()>>>();
    std::shared_ptr<Summarizer<>> model;
    Chain<> chain;

private:
    [[nodiscard]] Chain<> make(std::shared_ptr<Model<ChatMessage>> summarizer, EngineSettings settings,
                               ChainConfig config) {
        if (settings.prepare_at_trigger_fraction > 0.0) settings.executor = executor();
        ChainCallbacks<> callbacks;
        callbacks.on_event = [events = events](const Event& event) { events->emplace_back(event.kind); };
        return {std::move(config), callbacks, Chain<>::Stages{Which::make(std::move(summarizer), settings)}};
    }
};

[[nodiscard]] const Provenance* summary_in(const Conversation<>& conversation) {
    const Outline outline = conversation.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (origin_of(outline[i].mark) == Origin::summary) return outline[i].mark.get();
    }
    return nullptr;
}

std::string all_of(const Conversation<>& conversation) {
    std::string text;
    for (const ChatMessage& message : conversation.messages()) text += text_of(message) + "\n";
    return text;
}

/// One turn with so many small images, and a question behind them.
void push_images(Conversation<>& conversation, int count) {
    conversation.begin_turn();
    for (int i = 0; i < count; ++i) {
        ChatMessage message = ChatMessage::user("look " + std::to_string(i));
        Part image{PartKind::media};
        image.media.mime = "image/png";
        image.media.bytes = "image " + std::to_string(i) + std::string(600, 'p');
        image.media.width = image.media.height = 200;
        message.parts.push_back(image);
        conversation.push_back(std::move(message));
        conversation.push_back(ChatMessage::assistant("seen"));
    }
    conversation.push_back(ChatMessage::user("and now?"));
}

std::size_t images_of(const Conversation<>& conversation) {
    return whittle::detail::size_of_request(conversation.outline()).images;
}

ChainConfig at_most_four_images() {
    ChainConfig config;
    config.token_counter = pessimistic_counter();  // 1,000 tokens an image
    config.storage = memory_storage();
    config.profile.validity.limits = {.max_images = 4};
    return config;
}

Reply<ChatMessage> throws(const ModelRequest<ChatMessage>&, int) { throw std::runtime_error("model is down"); }

}  // namespace

#define ON_BOTH "[engine]", OfSummarization, OfCompaction

TEMPLATE_TEST_CASE("a summary of the model stands for what it folds, and is undone", ON_BOTH) {
    Bench<TestType> bench;
    Conversation<> conversation = talk(20);
    const std::string before = all_of(conversation);
    REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(bench.model->asked.size() == 1);
    REQUIRE(summary_in(conversation) != nullptr);
    CHECK(all_of(conversation).find("THE GIST") != std::string::npos);
    CHECK(conversation.tokens(chars_counter()) < trigger);
    REQUIRE(conversation.undo());
    CHECK(all_of(conversation) == before);
}

TEMPLATE_TEST_CASE("without a model a summary by rule stands", ON_BOTH) {
    auto bench = Bench<TestType>::without_model({.rule_based_summary_tokens = 600});
    Conversation<> conversation = talk(20);
    REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
    REQUIRE(summary_in(conversation) != nullptr);
    CHECK(summary_in(conversation)->reason == rule_based_summary_reason);
    CHECK(all_of(conversation).find("src/module_") != std::string::npos);
    CHECK(conversation.tokens(chars_counter()) < trigger);
    push_turns(conversation, 18);  // the next one takes it up
    REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(summary_in(conversation)->reason == rule_based_summary_reason);
}

TEMPLATE_TEST_CASE("where the model failed for good, a summary by rule stands, and the failure is told", ON_BOTH) {
    Bench<TestType> bench(throws, {.rule_based_summary_tokens = 600});
    Conversation<> conversation = talk(20);
    const StageReport& report = bench.ask(conversation);
    REQUIRE(report.outcome == Outcome::committed);
    CHECK(report.details->error.find("model is down") != std::string::npos);
    CHECK(bench.told("rule_based_summary") == 1);
    CHECK(summary_in(conversation)->reason == rule_based_summary_reason);
}

TEMPLATE_TEST_CASE("after a failure the history is as it was, and the next attempt waits for growth", ON_BOTH) {
    Bench<TestType> bench(throws);
    Conversation<> conversation = talk(20);
    const std::string before = all_of(conversation);
    CHECK(bench.ask(conversation).outcome == Outcome::failed);
    CHECK(all_of(conversation) == before);
    CHECK(bench.model->asked.size() == 1);
    CHECK(bench.ask(conversation).outcome == Outcome::cooling_down);
    CHECK(bench.model->asked.size() == 1);
    push_turns(conversation, 3);
    CHECK(bench.ask(conversation).outcome == Outcome::failed);
    CHECK(bench.model->asked.size() == 2);
}

TEMPLATE_TEST_CASE("a summary that was prepared is committed without a call in the hook", ON_BOTH) {
    Bench<TestType> bench([](const auto&, int) { return gist(); }, {.prepare_at_trigger_fraction = 0.7});
    Conversation<> conversation = talk(13);
    REQUIRE(conversation.tokens(chars_counter()) < trigger);
    CHECK(bench.ask(conversation).outcome == Outcome::not_due);
    REQUIRE(bench.jobs->size() == 1);
    CHECK(bench.ask(conversation).outcome == Outcome::not_due);
    CHECK(bench.jobs->size() == 1);  // one is enough
    CHECK(bench.model->asked.empty());
    bench.run_jobs();
    CHECK(bench.model->asked.size() == 1);
    push_turns(conversation, 6);
    const std::string newest = text_of(conversation.messages().back());
    REQUIRE(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(bench.model->asked.size() == 1);
    CHECK(all_of(conversation).find("THE GIST") != std::string::npos);
    CHECK(text_of(conversation.messages().back()) == newest);
    CHECK(conversation.tokens(chars_counter()) < trigger);
}

TEMPLATE_TEST_CASE("a summary that is still being prepared is waited for a while, then dropped", ON_BOTH) {
    Bench<TestType> bench([](const auto&, int) { return gist(); }, {.prepare_at_trigger_fraction = 0.7});
    Conversation<> conversation = talk(15);
    REQUIRE(bench.ask(conversation).outcome == Outcome::not_due);
    REQUIRE(bench.jobs->size() == 1);
    while (conversation.tokens(chars_counter()) <= trigger) conversation.push_back(ChatMessage::user("go on"));
    CHECK(bench.ask(conversation).outcome == Outcome::nothing);
    CHECK(bench.model->asked.empty());
    push_turns(conversation, 4);  // far above it
    CHECK(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(bench.told("prepared_dropped") == 1);
    CHECK(bench.model->asked.size() == 1);
}

TEMPLATE_TEST_CASE("a prepared summary of messages that may not go any more is dropped", ON_BOTH) {
    Bench<TestType> bench([](const auto&, int) { return gist(); }, {.prepare_at_trigger_fraction = 0.7});
    Conversation<> conversation = talk(13);
    REQUIRE(bench.ask(conversation).outcome == Outcome::not_due);
    bench.run_jobs();
    conversation.pin(conversation.outline()[1].serial);
    push_turns(conversation, 5);
    CHECK(bench.ask(conversation).outcome == Outcome::committed);
    CHECK(bench.told("prepared_dropped") == 1);
    CHECK(bench.model->asked.size() == 2);
}

TEMPLATE_TEST_CASE("a host that refuses is asked before the model is paid, and again after growth", ON_BOTH) {
    int asked = 0;
    ChainConfig config;
    config.before_commit = [&](const CommitPlan& plan) {
        CHECK(plan.needs_model);
        ++asked;
        return false;
    };
    Bench<TestType> bench([](const auto&, int) { return gist(); }, {}, config);
    Conversation<> conversation = talk(20);
    CHECK(bench.ask(conversation).outcome == Outcome::vetoed);
    CHECK(bench.ask(conversation).outcome == Outcome::cooling_down);
    CHECK(asked == 1);
    CHECK(bench.model->asked.empty());
    push_turns(conversation, 3);
    CHECK(bench.ask(conversation).outcome == Outcome::vetoed);
    CHECK(asked == 2);
}

TEMPLATE_TEST_CASE("a dry run plans, asks no model and leaves no notes", ON_BOTH) {
    ChainConfig config;
    config.dry_run = true;
    Bench<TestType> bench([](const auto&, int) { return gist(); }, {}, config);
    Conversation<> conversation = talk(20);
    const auto notes = conversation.state().notes.all();
    for (int i = 0; i < 2; ++i) {
        const StageReport& report = bench.ask(conversation);
        CHECK(report.outcome == Outcome::planned);
        CHECK(report.details->tokens_after < report.details->tokens_before);
    }
    CHECK(bench.model->asked.empty());
    CHECK(conversation.state().notes.all() == notes);
}

TEMPLATE_TEST_CASE("a summary that one hook has no calls for is gone on with by the next ones", ON_BOTH) {
    ChainConfig config;
    config.limits.model_calls = 1;
    Bench<TestType> bench([](const auto&, int) { return gist(); }, {.max_input_tokens = 3'000}, config);
    Conversation<> conversation = talk(30);
    int hooks = 1;
    for (; bench.ask(conversation).outcome != Outcome::committed && hooks < 10; ++hooks) {
        CHECK(summary_in(conversation) == nullptr);
    }
    CHECK(hooks > 1);
    CHECK(static_cast<int>(bench.model->asked.size()) == hooks);
    CHECK(bench.told("unfinished") == hooks - 1);
    CHECK(summary_in(conversation) != nullptr);
}

TEMPLATE_TEST_CASE("each can work down to the images that a provider takes, below its trigger too", "[engine]",
                   OfSummarization, OfCompaction, OfReduction) {
    const Chain<> chain(at_most_four_images(), ChainCallbacks<>{}, Chain<>::Stages{TestType::make_fitting()});
    Conversation<> conversation("images");
    push_images(conversation, 6);
    const Report report = chain.before_model(conversation);
    CHECK(report.stages.front().outcome == Outcome::committed);
    CHECK(images_of(conversation) == 3);
    CHECK(all_of(conversation).find("[image: ref://images/media/") != std::string::npos);
    CHECK(std::ranges::any_of(chain.tools(), [](const Tool& tool) { return tool.spec().name == "fetch_media"; }));
    CHECK_FALSE(chain.before_model(conversation).changed());
    CHECK(conversation.undo());
}

TEMPLATE_TEST_CASE("a summary and the images that go with it are one report", ON_BOTH) {
    const Chain<> chain(at_most_four_images(), ChainCallbacks<>{}, Chain<>::Stages{TestType::make_fitting()});
    Conversation<> conversation = talk(32);
    push_images(conversation, 5);
    const std::int64_t before = conversation.tokens(pessimistic_counter());
    const Report report = chain.before_model(conversation);
    const StageReport& stage = report.stages.front();
    REQUIRE(stage.outcome == Outcome::committed);
    CHECK(summary_in(conversation) != nullptr);
    CHECK(images_of(conversation) == 3);
    CHECK(stage.details->tokens_before == before);
    CHECK(stage.details->tokens_after == conversation.tokens(pessimistic_counter()));
    CHECK(stage.details->first_changed == 0);
    CHECK(stage.details->stored_keys.size() == 2);
}

TEMPLATE_TEST_CASE("a summary stands where the images beside it cannot go", ON_BOTH) {
    ChainConfig config = at_most_four_images();
    config.before_commit = [](const CommitPlan& plan) {
        const std::string_view reason = plan.reason;
        if (reason != "summary" && reason != rule_based_summary_reason)
            throw std::runtime_error("the host has no time");
        return true;
    };
    std::vector<std::string> told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) { told.emplace_back(event.text); };
    const Chain<> chain(config, callbacks, Chain<>::Stages{TestType::make_fitting()});
    Conversation<> conversation = talk(32);
    push_images(conversation, 5);
    const Report report = chain.before_model(conversation);
    CHECK(report.stages.front().outcome == Outcome::committed);
    CHECK(summary_in(conversation) != nullptr);
    CHECK(images_of(conversation) == 5);
    CHECK(std::ranges::any_of(
        told, [](const std::string& text) { return text.find("the host has no time") != std::string::npos; }));
}

TEST_CASE("compaction orders no summary that its cheap stages make needless", "[engine]") {
    const auto model = std::make_shared<Summarizer<>>([](const auto&, int) { return gist(); });
    std::vector<std::function<void()>> jobs;
    CompactionConfig config{.threshold_tokens = 20'000, .target_tokens = 9'000, .summary_size_tokens = 800};
    config.prepare_at_trigger_fraction = 0.5;
    config.pruning->protect_newest_tokens = 0;
    config.pruning->minimum_gain_tokens = 0;
    CompactionCallbacks<> callbacks;
    callbacks.prepare_executor = [&](std::function<void()> job) { jobs.push_back(std::move(job)); };
    const Chain<> chain(ChainConfig{.storage = memory_storage()}, Compaction<>(model, config, callbacks));
    Conversation<> conversation("outputs");
    for (int turn = 0; turn < 6; ++turn) {
        const std::string id = "c" + std::to_string(turn);
        conversation.begin_turn();
        conversation.push_back(ChatMessage::user("run it"));
        conversation.push_back(ChatMessage::assistant("").call(id, "run", "{}"));
        conversation.push_back(ChatMessage::result(id, "run", id + std::string(10'000, 'x')));
        conversation.push_back(ChatMessage::assistant("done"));
    }
    CHECK_FALSE(chain.before_model(conversation).changed());
    CHECK(jobs.empty());
    Conversation<> texts("texts");  // which cannot be pruned
    while (texts.tokens(chars_counter()) < 18'000) {
        texts.begin_turn();
        texts.push_back(ChatMessage::user("think " + std::string(300, 't')));
    }
    CHECK_FALSE(chain.before_model(texts).changed());
    CHECK(jobs.size() == 1);
}
