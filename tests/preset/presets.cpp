// What the presets are made of, and what their stages do together.
#include "whittle/preset/presets.hpp"

#include "support/catch.hpp"
#include "support/tuned_trimming.hpp"
#include "whittle/model/scripted_model.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// An agent that reads one file after the other; nothing that it reads comes up again.
class Reader {
public:
    explicit Reader(PresetConfig config, std::shared_ptr<Model<ChatMessage>> model = nullptr)
        : Reader(config, preset_stages<ChatMessage>(config, std::move(model))) {}
    Reader(const PresetConfig& config, Chain<>::Stages stages)
        : chain(with_clock(config), {}, std::move(stages)), conversation("reader") {
        push(ChatMessage::user("read them all"));
    }

    void read(int calls, int lines = 60) {
        for (int i = 0; i < calls; ++i) {
            chain.before_model(conversation);
            sent.push_back(conversation.tokens(chars_counter()));
            const std::string id = "r" + std::to_string(next_++);
            push(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + "\"}"));
            chain.after_model(conversation);
            push(ChatMessage::result(id, "read_file", file(id, lines)));
            clock->advance(std::chrono::seconds(10));
        }
    }

    /// Calls whose outputs are trimmed to extracts, two a round.
    void run_logs(int rounds) {
        for (int i = 0; i < rounds; ++i) {
            chain.before_model(conversation);
            sent.push_back(conversation.tokens(chars_counter()));
            ChatMessage calls = ChatMessage::assistant("");
            for (const char* half : {"a", "b"})
                calls.call(half + std::to_string(i), "bash",
                           "{\"command\":\"make part" + std::to_string(i) + half + "\"}");
            push(calls);
            chain.after_model(conversation);
            for (const char* half : {"a", "b"}) {
                std::string log;
                for (int line = 0; line < 40; ++line)
                    log += "error: " + std::string(half) + std::to_string(i * 100 + line) + " is not what it was\n";
                push(ChatMessage::result(half + std::to_string(i), "bash", log));
            }
            clock->advance(std::chrono::seconds(10));
        }
    }
    void use_skill() {
        push(ChatMessage::assistant("").call("s", "skill", "{}"));
        push(ChatMessage::result("s", "skill", "always be kind"));
    }

    /// Whether a middleware committed in the newest hook.
    [[nodiscard]] bool committed(std::string_view middleware) const {
        const StageReport* stage = conversation.report().find(middleware);
        return stage != nullptr && stage->outcome == Outcome::committed;
    }

    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    Chain<> chain;
    Conversation<> conversation;
    std::vector<std::int64_t> sent{};  // tokens of each request
    std::vector<ChatMessage> pushed{};

private:
    void push(const ChatMessage& message) {
        pushed.push_back(message);
        conversation.push_back(message);
    }

    static std::string file(const std::string& name, int lines) {
        std::string text;
        for (int i = 0; i < lines; ++i)
            text +=
                "value_" + name + "_" + std::to_string(i) + " = compute_" + std::to_string(i * 7) + "(" + name + ")\n";
        return text;
    }

    ChainConfig with_clock(const PresetConfig& config) const {
        ChainConfig chain_config = config.chain;
        chain_config.clock = clock;
        return chain_config;
    }

    int next_ = 0;
};

}  // namespace

TEST_CASE("presets are found by their names, and every name is its own", "[preset]") {
    for (const Preset preset : presets()) CHECK(find_preset(to_string(preset)) == preset);
    CHECK_FALSE(find_preset("Recommended").has_value());
    CHECK_FALSE(find_preset("").has_value());
}

TEST_CASE("the sizes of a preset follow the window, and hold without one", "[preset]") {
    const PresetConfig small = recommended({.context_window = 32'000});
    CHECK(small.trimming.start_tokens == 8'000);
    CHECK(small.reduction.max_length_for_trunc == 32'000);
    CHECK(limits_of(small.reduction, 32'000).trigger_tokens == 27'200);
    CHECK(limits_of(small.summarization->trigger, 32'000).tokens == 29'440);
    CHECK(small.summarization->keep_recent_tokens == 6'400);
    const PresetConfig large = recommended({.context_window = 1'000'000});
    CHECK(large.trimming.start_tokens == 20'000);
    CHECK(limits_of(large.reduction, 1'000'000).trigger_tokens == 850'000);
    const PresetConfig unknown = recommended();
    CHECK(limits_of(unknown.reduction, 0).trigger_tokens == 160'000);
    CHECK(limits_of(unknown.reduction, 0).target == 96'000);
    CHECK(limits_of(unknown.summarization->trigger, 0).tokens == 160'000);
}

TEST_CASE("a preset takes the cache of the profile, or brings its own", "[preset]") {
    CHECK(recommended().chain.profile.cache.name == "anthropic_5m");
    CHECK(preset_config(Preset::local).chain.profile.cache.name == "local");
    CHECK(recommended({.cache = *find_cache_profile("openai")}).chain.profile.cache.name == "openai");
}

TEST_CASE("every preset passes the checks of its chain at every window, with a model and without", "[preset]") {
    for (const Preset preset : presets()) {
        for (const std::int64_t window : {0, 4'000, 8'192, 32'000, 128'000, 200'000, 1'000'000}) {
            CAPTURE(to_string(preset), window);
            const PresetConfig config =
                preset_config(preset, {.context_window = window, .output_reserve = window / 4 * (window % 3)});
            const auto model =
                std::make_shared<ScriptedModel<ChatMessage>>(std::vector{ChatMessage::assistant("a summary")});
            CHECK(make_chain(config).stages().size() == (preset == Preset::lossless || window == 0 ? 2U : 3U));
            CHECK(make_chain(config).config_warnings().empty());
            CHECK(make_chain(config, model).stages().size() == (preset == Preset::lossless ? 2U : 3U));
            CHECK(make_chain(config, model).config_warnings().empty());
        }
    }
}

TEST_CASE("below its start size a preset changes nothing that was sent", "[preset]") {
    Reader agent(recommended({.context_window = 200'000}));
    agent.read(20, 40);
    REQUIRE(agent.sent.back() < 20'000);
    CHECK(agent.conversation.journal().empty());
}

TEST_CASE("a preset keeps a long run inside a small window, and nothing is lost", "[preset]") {
    for (const Preset preset : presets()) {
        CAPTURE(to_string(preset));
        Reader agent(preset_config(preset, {.context_window = 8'000}));
        agent.read(120);
        for (const std::int64_t tokens : agent.sent) CHECK(tokens < 8'000);
        while (!agent.conversation.journal().empty()) agent.conversation.undo();
        CHECK(std::ranges::equal(agent.conversation.messages(), agent.pushed));
    }
}

TEST_CASE("without a window a preset learns it from the first overflow", "[preset]") {
    for (const Preset preset : presets()) {
        CAPTURE(to_string(preset));
        Reader agent(preset_config(preset));
        while (agent.sent.empty() || agent.sent.back() < 9'000) agent.read(1);
        CHECK(agent.chain.on_overflow(agent.conversation,
                                      {.context_limit_tokens = 9'000, .requested_tokens = agent.sent.back()}));
        agent.sent.clear();
        agent.read(120);
        for (const std::int64_t tokens : agent.sent) CHECK(tokens < 9'000);
    }
}

TEST_CASE("parts of a window leave the output reserve free", "[preset]") {
    for (const Preset preset : presets()) {
        CAPTURE(to_string(preset));
        Reader agent(preset_config(preset, {.context_window = 12'000, .output_reserve = 4'000}));
        agent.read(120);
        for (const std::int64_t tokens : agent.sent) CHECK(tokens < 8'000);
    }
}

TEST_CASE("without a window clearing comes before the summary", "[preset]") {
    for (const Preset preset : presets()) {
        const PresetConfig config = preset_config(preset);
        if (!config.summarization) continue;
        const std::int64_t due = limits_of(config.reduction, 0).trigger_tokens;
        CHECK(limits_of(config.reduction, 0).target < due);
        CHECK(due <= limits_of(config.summarization->trigger, 0).tokens);
    }
}

TEST_CASE("results that trimming has shortened are cleared when room is needed, and come back", "[preset]") {
    for (const Preset preset : presets()) {
        CAPTURE(to_string(preset));
        PresetConfig config = preset_config(preset, {.context_window = 8'000});
        config.trimming.force_above_window_fraction = 0.0;
        config.chain.on_error = OnError::propagate;
        Chain<>::Stages stages = preset_stages<ChatMessage>(config);
        TrimmingSettings trimming{config.trimming};
        trimming.rules.extract.bytes = 1'500;  // so that much is left of each
        stages.front() = std::make_shared<TunedTrimming<>>(trimming);
        Reader agent(config, std::move(stages));
        agent.run_logs(80);
        int trimmed_then_cleared = 0;
        const Outline outline = agent.conversation.outline();
        for (std::size_t i = 0; i < outline.size(); ++i) {
            const auto& mark = mark_of(outline[i], 0);
            trimmed_then_cleared += mark && mark->by == "reduction" && outline[i].role == Role::tool ? 1 : 0;
        }
        CHECK(trimmed_then_cleared > 20);
        for (const std::int64_t tokens : agent.sent) CHECK(tokens <= 8'000 * 85 / 100);
        while (!agent.conversation.journal().empty()) agent.conversation.undo();
        CHECK(std::ranges::equal(agent.conversation.messages(), agent.pushed));
    }
}

TEST_CASE("a protected result in front does not keep clearing from going with a commit of trimming", "[preset]") {
    PresetConfig config = recommended({.context_window = 10'000});
    config.trimming.force_above_window_fraction = 0.0;
    config.chain.protected_tools = {"skill"};
    Reader agent(config);
    agent.use_skill();
    while (agent.sent.empty() || agent.sent.back() < 7'200) agent.read(1, 20);
    agent.clock->advance(std::chrono::minutes(20));
    agent.chain.before_model(agent.conversation);
    CHECK(agent.conversation.tokens(chars_counter()) <= 6'000);
}

TEST_CASE("with a model the ladder ends in a summary, without one it goes on", "[preset]") {
    int summaries = 0;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>&) {
        ++summaries;
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>The files were read.</summary>")};
    });
    PresetConfig config = recommended({.context_window = 8'000});
    config.reduction.skip_clear = true;
    config.trimming.trim_reads = false;
    Reader agent(config, model);
    agent.read(60);
    CHECK(summaries > 0);
    for (const std::int64_t tokens : agent.sent) CHECK(tokens < 8'000);
}

TEST_CASE("clearing goes early at a pause, when the provider has forgotten the prompt anyway", "[preset]") {
    PresetConfig config = recommended({.context_window = 10'000});
    config.trimming.trim_reads = config.trimming.trim_program_output = config.trimming.drop_known_lines_on_arrival =
        false;
    config.trimming.force_above_window_fraction = 0.0;
    Reader agent(config);
    while (agent.sent.empty() || agent.sent.back() < 7'200) agent.read(1, 20);
    REQUIRE(agent.sent.back() < 8'500);
    CHECK_FALSE(agent.committed("reduction"));
    agent.clock->advance(std::chrono::minutes(20));
    agent.chain.before_model(agent.conversation);
    CHECK(agent.committed("reduction"));
    CHECK(agent.conversation.tokens(chars_counter()) <= 6'000);
}

TEST_CASE("lossless leaves arguments, line numbers and results that just came as they are", "[preset]") {
    const PresetConfig config = preset_config(Preset::lossless, {.context_window = 32'000});
    CHECK_FALSE(config.trimming.trim_arguments);
    CHECK(config.trimming.unit == TrimUnit::passages);
    CHECK_FALSE(config.summarization.has_value());
}

TEST_CASE("without a model a preset ends its ladder with a summary by rule, once it knows the window", "[preset]") {
    PresetConfig config = recommended({.context_window = 8'000});
    config.trimming.min_result_bytes = config.trimming.min_argument_bytes = 1'000'000;
    config.reduction.skip_clear = true;
    config.reduction.max_fraction_for_clear = config.reduction.clear_fraction_if_cache_cold = 0.0;
    config.reduction.clear_target_fraction = 0.0;
    Reader agent(config);
    agent.read(40, 40);
    CHECK(*std::ranges::max_element(agent.sent) < 8'000);
    const bool is_folded = std::ranges::any_of(agent.conversation.messages(), [](const ChatMessage& message) {
        return text_of(message).find("Written without a model") != std::string::npos;
    });
    CHECK(is_folded);
    CHECK_FALSE(effective_summarization(recommended(), false).has_value());
    CHECK(effective_summarization(recommended(), true)->trigger.context_tokens == 160'000);
    CHECK_FALSE(effective_summarization(preset_config(Preset::lossless), true).has_value());
    PresetConfig without = recommended({.context_window = 8'000});
    CHECK(effective_summarization(without, false).has_value());
    without.summarization->rule_based_summary_tokens = 0;
    CHECK_FALSE(effective_summarization(without, false).has_value());
}
