// Users make configurations in templates and generic lambdas, where g++ 12 breaks off with an internal error at some
// default member initialisers that it takes anywhere else. That this file compiles is the test.
#include "support/catch.hpp"

#include <whittle/config/config_json.hpp>
#include <whittle/saved/trajectory.hpp>
#include <whittle/whittle.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

template <typename... Configs>
std::size_t number_of(const Configs&...) {
    return sizeof...(Configs);
}

// Text, since what a template calls with a type of its own is another case.
#define WHITTLE_TEST_CHAIN_CONFIGS                                                                                 \
    ChainConfig{}, ChainConfig{.dry_run = true}, ModelProfile{}, CacheProfile{}, PricesPerMillion{}, HookLimits{}, \
        ValidityProfile{}, RequestLimits{}, CommitOptions{}, RepairOptions{}, HookRequest<>{}, ChainCallbacks<>{}, \
        GenerateOptions{}, TextOptions{}, CharsOptions{}, MemoryStorageOptions{}, FileStorageOptions {}
#define WHITTLE_TEST_DIGEST_CONFIGS                                                                                 \
    SummaryGenerationConfig{}, RetryConfig{}, FailoverConfig{}, RenderOptions{}, DataFrameOptions{},                \
        SummaryGenerationCallbacks<ChatMessage>{}, SummarizationConfig{}, PreserveSkillsConfig{},                   \
        DefaultFinalizerConfig{}, SummarizationCallbacks<>{}, FoldLimits{}, CompactionConfig{}, CompactionLimits{}, \
        CompactionCallbacks<>{}, PruningConfig{}, FetchMediaOptions {}
#define WHITTLE_TEST_OTHER_CONFIGS                                                                                 \
    ReductionConfig{}, ToolReductionConfig{}, ReductionCallbacks<>{}, ToolReductionCallbacks{},                    \
        ReadOffloadedOptions{}, TokenSavingConfig{}, WordOptions{}, LoopConfig{}, LoopCallbacks{},                 \
        TrajectoryOptions{}, StorageSettings{}, StageSettings{}, ModelSettings{}, ChainSettings{}, ConfigSource{}, \
        ConfigTypes{}, FileStoreConfig{}, ScriptedModelConfig{}, MiddlewareType<LoopConfig>{},                     \
        MiddlewareType<LoopConfig>{.type = "x", .fields = {{"max_steps", &LoopConfig::max_steps}}},                \
        MiddlewareBuildContext<ChatMessage> {}

template <typename T>
std::size_t made_in_a_template() {
    return number_of(WHITTLE_TEST_CHAIN_CONFIGS) + number_of(WHITTLE_TEST_DIGEST_CONFIGS) +
           number_of(WHITTLE_TEST_OTHER_CONFIGS);
}

template <typename Verify>
Chain<> chain_made_in_a_template(Verify verify) {
    return Chain<>(ChainConfig{.verify = verify}, Chain<>::Stages{});
}

}  // namespace

TEST_CASE("every configuration can be made as a temporary in a template and in a generic lambda", "[loop]") {
    const auto made_in_a_lambda = [](auto) {
        return number_of(WHITTLE_TEST_CHAIN_CONFIGS) + number_of(WHITTLE_TEST_DIGEST_CONFIGS) +
               number_of(WHITTLE_TEST_OTHER_CONFIGS);
    };
    CHECK(made_in_a_template<int>() == made_in_a_lambda(0));
    CHECK(chain_made_in_a_template(false).config().protected_tools == std::vector<std::string>{"skill"});
}

TEST_CASE("a loop is made of a model and a chain, whoever owns the model", "[loop]") {
    const Chain<> chain = make_chain(recommended({.context_window = 200'000}), ChainCallbacks<>{});
    const auto answers = [&](AgentLoop<> loop) {
        Conversation<> conversation("forms");
        return loop.run(conversation, "Hi.").text;
    };
    const std::vector replies{ChatMessage::assistant("Hello.")};
    CHECK(answers(AgentLoop{std::make_shared<ScriptedModel<>>(replies), chain}) == "Hello.");
    CHECK(answers(AgentLoop{std::make_unique<ScriptedModel<>>(replies), chain}) == "Hello.");
    CHECK(answers(AgentLoop{std::make_unique<ScriptedModel<>>(replies), {}, chain}) == "Hello.");
}

TEST_CASE("a function is a model: it gets the request, and gives a reply or its message", "[loop]") {
    const Chain<> chain{ChainConfig{}};
    Conversation<> conversation("functions");
    const auto count = [](const ModelRequest<ChatMessage>& request) {
        return ChatMessage::assistant(std::to_string(request.messages.size()));
    };
    CHECK(AgentLoop{count, chain}.run(conversation, "Hi.").text == "1");
    CHECK(AgentLoop{count, {}, chain}.run(conversation, "And now?").text == "3");
    const auto bill = [](const auto&) {
        return Reply<ChatMessage>{.message = ChatMessage::assistant("Done."), .usage = Usage{.uncached_input = 7}};
    };
    CHECK(AgentLoop{bill, chain}.run(conversation, "Go.").usage.uncached_input == 7);
    AgentLoop<> counting{[calls = 0](const auto&) mutable { return ChatMessage::assistant(std::to_string(++calls)); },
                         chain};
    counting.run(conversation, "One.");
    CHECK(counting.run(conversation, "Two.").text == "2");
    StopSource stop;
    stop.request_stop();
    CHECK(AgentLoop{count, chain}.run(conversation, "No.", stop.get_token()).outcome == RunOutcome::stopped);
}

TEST_CASE("with_retry and with_failover come with whittle.hpp", "[loop]") {
    const auto model = std::make_shared<ScriptedModel<>>(std::vector{ChatMessage::assistant("Hello.")});
    const AgentLoop loop{with_retry<ChatMessage>(with_failover<ChatMessage>({model})), Chain<>{ChainConfig{}}};
    CHECK(loop.tool_specs().empty());
}

TEST_CASE("a trigger above the window is told in the result where nobody listens", "[loop]") {
    const auto summarizer = std::make_shared<ScriptedModel<>>(std::vector<ChatMessage>{});
    const Chain<> chain{ChainConfig{.profile = {.context_window = 32'000}}, Reduction<>{{.skip_truncation = true}},
                        Summarization<>{summarizer}, Compaction<>{summarizer}};
    Conversation<> conversation("warned");
    AgentLoop loop{[](const auto&) { return ChatMessage::assistant("Hello."); }, chain};
    const RunResult result = loop.run(conversation, "Hi.");
    std::vector<std::string> fields;
    for (const Problem& warning : result.config_warnings) {
        if (warning.allowed.find("below the context window") != std::string::npos) fields.push_back(warning.field);
    }
    CHECK(fields == std::vector<std::string>{"reduction.max_tokens_for_clear", "summarization.trigger",
                                             "compaction.threshold_tokens"});
}
