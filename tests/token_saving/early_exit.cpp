#include "agent.hpp"
#include "support/catch.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/saved/trajectory.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Calls of the nudge lever alone, from call `from` on.
TokenSavingConfig nudging(SignalsFunction signals, int from = 0) {
    return {.enable_compression = false, .early_exit_min_call_index = from, .signals_fn = std::move(signals)};
}

SignalsFunction always(Signals signals) {
    return [signals = std::move(signals)](std::span<const Step>) { return signals; };
}

bool is_nudge(const ChatMessage& m) {
    return m.role == Role::user && text_of(m) == default_early_exit_text(Language::english);
}

Step step(const std::string& action, const std::string& input, const std::string& observation = "ok",
          const std::string& thought = {}) {
    return {.action = action, .action_input = input, .thought = thought, .observation = observation};
}

/// `count` different steps, then one for each letter of `pattern`: equal letters are equal steps.
std::vector<Step> steps_of(int count, const std::string& pattern) {
    std::vector<Step> steps;
    for (int i = 0; i < count; ++i) steps.push_back(step("run", R"({"n": )" + std::to_string(i) + "}"));
    for (const char c : pattern)
        steps.push_back(step("run", std::string(R"({"cmd": ")") + c + "\"}", std::string(1, c)));
    return steps;
}

double signal(const std::vector<Step>& steps, const std::string& name) { return trajectory_signals(steps).at(name); }

}  // namespace

TEST_CASE("the nudge comes for every combination of signals above the thresholds, and for no other", "[token_saving]") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double streak : {-1.0, 0.0, 0.69, 0.7, 0.71, 1.0, 7.0, nan}) {
        for (const double hedge : {0.0, 0.6, 0.61, 1.0, 7.0, nan}) {
            for (const double diversity : {0.0, 0.5, 0.51, 1.0, nan}) {
                const bool expected = streak > 0.7 || (hedge > 0.6 && diversity > 0.5);
                CAPTURE(streak, hedge, diversity);
                const Signals signals{{"streak", streak}, {"hedge", hedge}, {"diversity", diversity}};
                CHECK(is_stuck(signals) == expected);
                Conversation<> c = asked();
                add_step(c, "result");
                Chain{ChainConfig{.on_error = OnError::propagate}, TokenSaving<>{nudging(always(signals))}}
                    .before_model(c);
                CHECK(is_nudge(c.messages().back()) == expected);
            }
        }
    }
    CHECK_FALSE(is_stuck({}));
    CHECK_FALSE(is_stuck({{"hedge", 1.0}}));
    CHECK_FALSE(is_stuck({{"call_count", 1.0}, {"edit_revert", 1.0}}));
}

TEST_CASE("the nudge comes before the call with the minimum index, at the end, once per run", "[token_saving]") {
    const auto stage = std::make_shared<TokenSaving<>>(nudging(always({{"streak", 1.0}}), 3));
    const Chain<> chain{ChainConfig{}, {}, Chain<>::Stages{stage}};
    Conversation<> c = asked();
    std::vector<int> nudged_before;
    for (int call = 0; call < 8; ++call) {
        if (call == 6) c.begin_run();
        chain.before_model(c);
        if (is_nudge(c.messages().back())) nudged_before.push_back(call);
        add_step(c, "result");
    }
    CHECK(nudged_before == std::vector<int>{3, 7});  // 7: behind the second run's first step
    CHECK(stage->stats().early_exits == 2);
    CHECK(c.outline()[7].mark->origin == Origin::nudge);
    CHECK(c.outline().newest_turn_start() == std::optional<std::size_t>(0));  // it is no user's message
    CHECK(validate(c.messages(), openai_chat()).empty());
}

TEST_CASE("the nudge judges what came of the newest request, not what was answered before", "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{nudging(trajectory_signals)}};
    Conversation<> c = asked();
    for (int i = 0; i < 5; ++i) add_step(c, "the same");
    c.push_back(ChatMessage::assistant("I was wrong about the port. Done."));
    c.begin_run();
    c.push_back(ChatMessage::user("Thanks. Write the README."));
    for (int call = 0; call < 4; ++call) {
        CAPTURE(call);
        const std::size_t size = c.size();
        chain.before_model(c);
        CHECK(c.size() == size);
        add_step(c, "the same");
    }
    CHECK(build_steps_from_messages(c).size() == 10);
    chain.before_model(c);  // four equal steps of this request
    CHECK(is_nudge(c.messages().back()));
}

TEST_CASE("a run that goes on without a new request is judged by its own steps, also after a reload",
          "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{nudging(trajectory_signals)}};
    Conversation<> c = asked();
    c.begin_run();
    for (int i = 0; i < 4; ++i) {
        chain.before_model(c);
        add_step(c, "the same");
    }
    chain.before_model(c);
    REQUIRE(is_nudge(c.messages().back()));
    add_step(c, "the same");
    c.begin_run();  // the host lets it go on
    for (int i = 0; i < 4; ++i) {
        CAPTURE(i);
        chain.before_model(c);
        CHECK_FALSE(is_nudge(c.messages().back()));
        if (i == 2) c = Conversation<>::from_state(c.state());
        add_step(c, "the same");
    }
    chain.before_model(c);  // four equal steps of this run
    CHECK(is_nudge(c.messages().back()));
}

TEST_CASE("no nudge stands before the first call of a request, whatever the signals say", "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{nudging(always({{"streak", 1.0}}))}};
    Conversation<> c = asked();
    chain.before_model(c);
    CHECK(c.size() == 1);
    add_step(c, "result");
    chain.before_model(c);
    CHECK(is_nudge(c.messages().back()));
}

TEST_CASE("the default minimum is 40 model calls", "[token_saving]") {
    TokenSavingConfig config;
    config.signals_fn = always({{"streak", 1.0}});
    const Chain chain{ChainConfig{}, TokenSaving<>{config}};
    Conversation<> c = asked();
    for (int i = 0; i < 39; ++i) add_step(c, "result");
    chain.before_model(c);
    CHECK_FALSE(is_nudge(c.messages().back()));
    add_step(c, "result");
    chain.before_model(c);
    CHECK(is_nudge(c.messages().back()));
}

TEST_CASE("an own text, or Chinese, is used for the nudge", "[token_saving]") {
    TokenSavingConfig config = nudging(always({{"streak", 1.0}}));
    const auto own = GENERATE(std::string("Answer now."), std::string());
    config.early_exit_text = own;
    Conversation<> c = asked();
    add_step(c, "result");
    Chain{ChainConfig{.language = Language::chinese}, TokenSaving<>{config}}.before_model(c);
    CHECK(text_of(c.messages().back()) == (own.empty() ? default_early_exit_text(Language::chinese) : own));
}

TEST_CASE("without signals, or switched off, there is never a nudge", "[token_saving]") {
    TokenSavingConfig config = nudging({});
    if (GENERATE(false, true)) {
        config.signals_fn = always({{"streak", 1.0}});
        config.enable_early_exit = false;
    }
    const Chain chain{ChainConfig{}, TokenSaving<>{config}};
    Conversation<> c = asked();
    for (int call = 0; call < 100; ++call) {
        chain.before_model(c);
        add_step(c, "the same");
    }
    CHECK(c.size() == 201);
}

TEST_CASE("a signals function that throws is reported and does no harm, also under propagate", "[token_saving]") {
    std::vector<std::string> events;
    TokenSavingConfig config = nudging([](std::span<const Step>) -> Signals { throw std::runtime_error("no idea"); });
    config.enable_compression = true;
    config.batch_calls = 1;
    ChainCallbacks<> callbacks{.on_event = [&](const Event& event) { events.emplace_back(event.text); }};
    const Chain<> chain{ChainConfig{.on_error = OnError::propagate}, callbacks,
                        Chain<>::Stages{std::make_shared<TokenSaving<>>(config)}};
    Conversation<> c = asked();
    for (int i = 0; i < 3; ++i) add_step(c, std::string(5'000, 'x'));
    const Report& report = chain.before_model(c);
    CHECK(report.find("token_saving")->outcome == Outcome::committed);  // the other lever worked
    CHECK(report.find("token_saving")->details->error.find("no idea") != std::string::npos);
    CHECK(std::ranges::any_of(events, [](const std::string& e) { return e.find("no idea") != std::string::npos; }));
    CHECK(c.size() == 7);
}

TEST_CASE("no nudge goes between a call and its results", "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{nudging(always({{"streak", 1.0}}))}};
    Conversation<> c = asked();
    c.push_back(ChatMessage::assistant("").call("a", "run").call("b", "run"));
    c.push_back(ChatMessage::result("a", "run", "1"));
    chain.before_model(c);
    CHECK(c.size() == 3);
    c.push_back(ChatMessage::result("b", "run", "2"));
    chain.before_model(c);
    CHECK(is_nudge(c.messages().back()));
    REQUIRE(c.undo());
    CHECK(c.size() == 4);
}

TEST_CASE("a dry run shows the nudge and makes none", "[token_saving]") {
    Conversation<> c = asked();
    add_step(c, "result");
    Chain{ChainConfig{.dry_run = true}, TokenSaving<>{nudging(always({{"streak", 1.0}}))}}.before_model(c);
    CHECK(c.report().find("token_saving")->outcome == Outcome::planned);
    CHECK(c.size() == 3);
    CHECK_FALSE(c.notes("token_saving").integer("nudged"));
}

TEST_CASE("one step per message, one per call where there are several, results matched by id", "[token_saving]") {
    Conversation<> c = asked();
    c.push_back(ChatMessage::assistant("look").call("a", "read", R"({"p":1})").call("b", "run", R"({"p":2})"));
    c.push_back(ChatMessage::result("b", "run", "boom", true));
    c.push_back(ChatMessage::result("a", "read", "text"));
    c.push_back(ChatMessage::assistant("done"));
    const std::vector<Step> steps = build_steps_from_messages(c);
    REQUIRE(steps.size() == 3);
    CHECK(steps[0].action == "read");
    CHECK(steps[0].action_input == R"({"p":1})");
    CHECK(steps[0].thought == "look");
    CHECK(steps[0].observation == "text");
    CHECK_FALSE(steps[0].is_error);
    CHECK(steps[1].action == "run");
    CHECK(steps[1].observation == "boom");
    CHECK(steps[1].is_error);
    CHECK(steps[2].step_index == 2);
    CHECK(steps[2].action.empty());
    CHECK(steps[2].thought == "done");
    CHECK(steps[2].observation.empty());
}

TEST_CASE("diversity looks at the last five of eight or more calls", "[token_saving]") {
    CHECK(signal(steps_of(5, "aaaaa"), "diversity") == 1.0);
    CHECK(signal(steps_of(5, "ababa"), "diversity") == 0.0);
    CHECK(signal(steps_of(5, "aabba"), "diversity") == 0.7);
    CHECK(signal(steps_of(5, "abcab"), "diversity") == 0.0);
    CHECK(signal(steps_of(2, "aaaaa"), "diversity") == 0.0);
    CHECK(signal(steps_of(3, "aaaaa"), "diversity") == 1.0);
}

TEST_CASE("streak counts equal steps at the end, by arguments and outcome too", "[token_saving]") {
    const std::vector<std::pair<std::string, double>> expected{
        {"a", 0.0}, {"aa", 0.4}, {"aaa", 0.6}, {"aaaa", 0.8}, {"aaaaa", 1.0}, {"aaaaaaa", 1.0}, {"aaaab", 0.0}};
    for (const auto& [pattern, value] : expected) {
        CAPTURE(pattern);
        CHECK(signal(steps_of(10, pattern), "streak") == value);
    }
    std::vector<Step> shell;
    for (int i = 0; i < 50; ++i) shell.push_back(step("bash", R"({"command": "step )" + std::to_string(i) + "\"}"));
    CHECK(signal(shell, "streak") == 0.0);  // one tool only, but other arguments
    for (int i = 0; i < 50; ++i) shell[static_cast<std::size_t>(i)] = step("bash", "{}", "line " + std::to_string(i));
    CHECK(signal(shell, "streak") == 0.0);  // the same command shows something new each time
    const std::vector<Step> chat{{.thought = "Hello."}, {.thought = "Which order?"}, {.thought = "Done."}};
    CHECK(signal(chat, "streak") == 0.0);
}

TEST_CASE("blanks, times and durations make no difference between two runs of a command", "[token_saving]") {
    std::vector<Step> steps;
    for (int i = 0; i < 5; ++i) {
        const std::string n = std::to_string(i);
        steps.push_back(step("bash", R"({"command":)" + std::string(static_cast<std::size_t>(i), ' ') + R"("go test"})",
                             "12:0" + n + ":31 FAIL  x_test.go:17 in 0." + n + "s, " + n + " seconds"));
    }
    CHECK(signal(steps, "streak") == 1.0);
    steps.back().observation = "FAIL x_test.go:18 in 0.3s";
    CHECK(signal(steps, "streak") == 0.0);
}

TEST_CASE("a loop that our own lever has shortened is still seen as one", "[token_saving]") {
    TokenSavingConfig config;
    config.when = SavingTime::on_arrival;
    config.early_exit_min_call_index = 0;
    config.signals_fn = trajectory_signals;
    const Chain chain{ChainConfig{.storage = memory_storage()}, TokenSaving<>{config}};
    Conversation<> c = asked();
    for (int i = 0; i < 5; ++i) {
        const std::string id = "c" + std::to_string(i);
        c.push_back(ChatMessage::assistant("").call(id, "run", R"({"cmd": "make"})"));
        const ToolContext context = chain.pending_tool_calls(c, {}).front();
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(context, sink, [](const ToolContext&, PartSink& out) {
            out.write(std::string(9'000, 'x'));
            return ToolOutcome{};
        });
        c.push_tool_results(std::vector{collect_tool_return(context, sink, std::move(outcome))});
    }
    REQUIRE(text_at(c, 2) != text_at(c, 4));  // each names its own object
    chain.before_model(c);
    CHECK(is_nudge(c.messages().back()));
}

TEST_CASE("generated loops raise an alarm: one command, an alternating pair, edit and revert", "[token_saving]") {
    const auto edit = [](const std::string& from, const std::string& to) {
        return step("edit", R"({"path": "a.go", "old_string": ")" + from + R"(", "new_string": ")" + to + "\"}");
    };
    CHECK(is_stuck(trajectory_signals(steps_of(20, "aaaaa"))));
    CHECK(is_stuck(trajectory_signals(steps_of(20, "abababab"))));
    CHECK(is_stuck(trajectory_signals(steps_of(20, "abcabcabcabc"))));
    CHECK_FALSE(is_stuck(trajectory_signals(steps_of(20, "ababab"))));
    std::vector<Step> reverting = steps_of(10, "");
    for (int i = 0; i < 4; ++i) {
        reverting.push_back(edit("x", "y"));
        reverting.push_back(step("bash", R"({"command": "go test"})", "FAIL"));
        reverting.push_back(edit("y", "x"));
        reverting.push_back(step("bash", R"({"command": "go test"})", "FAIL"));
    }
    const Signals signals = trajectory_signals(reverting);
    CHECK(is_stuck(signals));
    CHECK(signals.at("edit_revert") == 1.0);
    CHECK(signals.at("test_repeat") == 1.0);
    const std::vector<Step> forward{edit("x", "y"), edit("y", "z"), edit("z", "w")};
    CHECK(signal(forward, "edit_revert") == 0.0);
}

TEST_CASE("hedge is a retraction, or hedging that grows", "[token_saving]") {
    const auto thinking = [](const std::vector<std::string>& thoughts) {
        std::vector<Step> steps;
        for (const std::string& thought : thoughts) steps.push_back({.action = "a", .thought = thought});
        return signal(steps, "hedge");
    };
    CHECK(thinking({"I read it.", "Wait, I was wrong about the cache."}) == 1.0);
    CHECK(thinking({"maybe", "maybe maybe"}) == 0.0);
    CHECK(thinking({"maybe", "maybe perhaps, it might"}) == 0.5);
    CHECK(thinking({"maybe", "maybe perhaps, it might, not sure"}) == 1.0);
    CHECK(thinking({"fine", "maybe"}) == 0.0);
    CHECK(thinking({}) == 0.0);
}

TEST_CASE("signals of nothing are zeros, and call_count grows to 1", "[token_saving]") {
    for (const auto& [name, value] : trajectory_signals({})) CHECK(value == 0.0);
    CHECK(signal(steps_of(50, ""), "call_count") == 0.5);
    CHECK(signal(steps_of(150, ""), "call_count") == 1.0);
}

namespace {

/// The calls at which a session would have been nudged, with the minimum index at 0.
int first_alarm(const std::vector<ChatMessage>& messages) {
    Conversation<> c("recorded");
    for (const ChatMessage& m : messages) {
        if (m.role == Role::assistant && is_stuck(trajectory_signals(build_steps_from_messages(c))))
            return c.model_calls();
        c.push_back(m);
    }
    return -1;
}

}  // namespace

TEST_CASE("recorded sessions of coding agents that got somewhere are hardly ever told to stop",
          "[token_saving][data]") {
    const std::filesystem::path file =
        std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories" / "coding_sweagent_demos.jsonl";
    if (!std::filesystem::is_regular_file(file)) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    int sessions = 0;
    int stopped = 0;
    read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
        std::vector<ChatMessage> messages;
        for (const openai::Message& m : trajectory.messages)
            messages.push_back({message_traits<openai::Message>::role(m), parts_of(m)});
        ++sessions;
        stopped += first_alarm(messages) >= 0 ? 1 : 0;
    });
    CHECK(sessions == 22);
    CHECK(stopped <= 1);
}
