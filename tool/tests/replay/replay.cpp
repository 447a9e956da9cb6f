#include "replay/replay.hpp"

#include "support/catch.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;

namespace {

/// One user message, then rounds of a call with a result of `bytes`, then an answer.
std::vector<ChatMessage> session(int rounds, std::size_t bytes) {
    std::vector<ChatMessage> messages{ChatMessage::user("go")};
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "c" + std::to_string(i);
        messages.push_back(ChatMessage::assistant("").call(id, "read", R"({"n":)" + std::to_string(i) + "}"));
        messages.push_back(ChatMessage::result(id, "read", std::string(bytes, static_cast<char>('a' + i % 26))));
    }
    messages.push_back(ChatMessage::assistant("done"));
    return messages;
}

Chain<ChatMessage> clearing_above(std::int64_t tokens, std::shared_ptr<Storage> storage = memory_storage()) {
    ChainConfig config{.storage = std::move(storage)};
    config.profile.cache = *find_cache_profile("anthropic_5m");
    return Chain{std::move(config),
                 Reduction{ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = tokens}}};
}

/// Shortens every result on return and stores nothing.
class Shorten final : public Middleware<ChatMessage> {
public:
    std::string_view name() const noexcept override { return "shorten"; }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        CollectingSink whole;
        const ToolOutcome outcome = next(context, whole);
        for (const Part& part : whole.take()) out.write(part.text.substr(0, 10));
        return outcome;
    }
};

/// Counts the hooks.
class Watch final : public Middleware<ChatMessage> {
public:
    std::string_view name() const noexcept override { return "watch"; }
    void before_agent(Turn<ChatMessage>& turn) override {
        log += "<" + std::to_string(turn.conversation.turn_number());
    }
    void before_model(Turn<ChatMessage>& turn) override { log += " m" + std::to_string(turn.conversation.size()); }
    void after_model(Turn<ChatMessage>&) override { log += "a"; }
    ToolOutcome wrap_tool(const ToolContext& c, PartSink& out, const ToolNext& next) override {
        log += " t:" + c.call_id + ":" + c.arguments;
        return next(c, out);
    }
    void after_agent(Turn<ChatMessage>&, RunOutcome outcome) override {
        log += " " + std::string(to_string(outcome)) + ">";
    }

    std::string log{};
};

/// Breaks rule G2 by taking away the newest finished round's result text and its message.
class DropResult final : public Middleware<ChatMessage> {
public:
    std::string_view name() const noexcept override { return "drop"; }
    void before_model(Turn<ChatMessage>& turn) override {
        if (turn.conversation.size() != 5) return;
        auto edit = turn.edit();
        edit.erase(2, {.origin = Origin::placeholder, .reason = "drop"});
        edit.commit();
    }
};

}  // namespace

TEST_CASE("a replay tells what was sent, what it cost and that nothing is lost", "[replay]") {
    const std::vector<ChatMessage> messages = session(10, 4'000);
    const Chain chain = clearing_above(3'000);
    const ReplayTotals totals = replay<ChatMessage>({.id = "s1", .messages = messages}, chain);

    CHECK(totals.calls == 11);
    CHECK(totals.raw.peak > 10'000);
    CHECK(totals.sent.peak < 4'000);
    CHECK(totals.sent.resets == totals.commits);
    CHECK(totals.violations.empty());
    CHECK(totals.restorable() == 1.0);
    CHECK(totals.not_undone == 0);
}

TEST_CASE("without a middleware the sent requests are the recorded ones", "[replay]") {
    const std::vector<ChatMessage> messages = session(5, 2'000);
    ChainConfig config;
    config.profile.cache = *find_cache_profile("anthropic_5m");
    const ReplayTotals totals =
        replay<ChatMessage>({.id = "s1", .system = "be brief", .messages = messages}, Chain<ChatMessage>(config));
    CHECK(totals.calls == 6);
    CHECK(totals.sent.input == totals.raw.input);
    CHECK(totals.sent.cached == totals.raw.cached);
    CHECK(totals.sent.input_cost == totals.raw.input_cost);
    CHECK(totals.raw.resets == 0);
    CHECK(totals.raw.invalidated == 0);
    CHECK(totals.commits == 0);
    CHECK(totals.edits.empty());
}

TEST_CASE("the figures of a small session are those worked out by hand", "[replay]") {
    // chars/4: "go" 0; a call "read" + {"n":0} 11 bytes = 2; a result of 8,000 bytes 2,000; "done" 1; system of 8
    // bytes 2.
    const std::vector<ChatMessage> messages = session(2, 8'000);
    ChainConfig config;
    config.profile.cache = *find_cache_profile("anthropic_5m");
    config.profile.context_window = 3'000;
    std::vector<std::optional<double>> seconds{0.0, 10.0, 11.0, 20.0, 21.0, 400.0};
    const ReplayTotals totals = replay<ChatMessage>(
        {.id = "s1", .system = "be brief", .messages = messages, .seconds = seconds}, Chain<ChatMessage>(config));
    // Requests of 2, 2,004 and 4,006 tokens at 10, 20 and 400 s: the second reads nothing (2 < 1,024), the third is too
    // late.
    CHECK(totals.raw.input == 2 + 2'004 + 4'006);
    CHECK(totals.raw.peak == 4'006);
    CHECK(totals.raw.cached == 0);
    CHECK(totals.raw.written == 2'004 + 4'006);
    CHECK(totals.raw.uncached == 2);
    CHECK(totals.raw.input_cost == 1.25 * 6'012);
    CHECK(totals.raw.over_window == 1);
    CHECK(totals.output == 2 + 2 + 1);
    seconds.back() = 320.0;
    const ReplayTotals in_time = replay<ChatMessage>(
        {.id = "s1", .system = "be brief", .messages = messages, .seconds = seconds}, Chain<ChatMessage>(config));
    CHECK(in_time.raw.cached == 2'004);
    CHECK(in_time.raw.input_cost == 0.1 * 2'004 + 1.25 * (6'012 - 2'004));
    const PricesPerMillion prices{.input = 2.0, .output = 10.0};
    CHECK(money(in_time.raw, in_time.output, prices) == (in_time.raw.input_cost * 2.0 + 50.0) / 1e6);
}

TEST_CASE("the hooks run as an agent loop runs them", "[replay]") {
    const auto watch = std::make_shared<Watch>();
    const Chain<ChatMessage> chain(ChainConfig{}, {watch});
    const std::vector<ChatMessage> messages{
        ChatMessage::user("one"),
        ChatMessage::assistant("").call("a", "x", "{}").call("b", "x", R"({"k":1})"),
        ChatMessage::result("a", "x", "ra"),
        ChatMessage::result("b", "x", "rb"),
        ChatMessage::assistant("first"),
        ChatMessage::assistant("and second"),
        ChatMessage::user("two"),
        ChatMessage::user("three"),
        ChatMessage::assistant("").call("c", "x", "{}")};
    (void)replay<ChatMessage>({.id = "s", .messages = messages}, chain);
    CHECK(watch->log == "<1 m1a t:a:{} t:b:{\"k\":1} m4a m5a answered><3 m8a stopped>");
}

TEST_CASE("call 0 may be empty", "[replay]") {
    const std::vector<ChatMessage> messages{ChatMessage::assistant("hello"), ChatMessage::user("hi"),
                                            ChatMessage::assistant("yes")};
    std::vector<std::size_t> sizes;
    const ReplayTotals totals =
        replay<ChatMessage>({.id = "s", .messages = messages}, Chain<ChatMessage>(ChainConfig{}),
                            {.on_request = [&](const auto& request) { sizes.push_back(request.messages.size()); }});
    CHECK(sizes == std::vector<std::size_t>{0, 2});
    CHECK(totals.calls == 2);
}

TEST_CASE("an empty recording has no calls", "[replay]") {
    const ReplayTotals totals = replay<ChatMessage>({.id = "s"}, clearing_above(1));
    CHECK(totals.calls == 0);
    CHECK(totals.trajectories == 1);
    CHECK(totals.not_undone == 0);
    CHECK(totals.restorable() == 1.0);
}

TEST_CASE("observers see each request, and where it differs from the one before", "[replay]") {
    const std::vector<ChatMessage> messages = session(4, 4'000);
    std::vector<std::vector<ChatMessage>> requests;
    std::vector<std::optional<std::size_t>> changed;
    const ReplayTotals totals = replay<ChatMessage>(
        {.id = "s", .messages = messages}, clearing_above(3'000), {.on_request = [&](const auto& request) {
            CHECK(request.call == static_cast<std::int64_t>(requests.size()));
            CHECK(request.tokens <= request.tokens_raw);
            CHECK(request.keep == request.first_changed.value_or(requests.empty() ? 0 : requests.back().size()));
            for (std::size_t i = 0; i < request.keep; ++i) CHECK(request.messages[i] == requests.back()[i]);
            if (request.first_changed)
                CHECK(request.messages[*request.first_changed] != requests.back()[*request.first_changed]);
            changed.push_back(request.first_changed);
            requests.emplace_back(request.messages.begin(), request.messages.end());
        }});
    // Requests of 1,000 tokens more each; the fourth is above 3,000 and clears messages 2 and 4, but
    // not 6, the newest round.
    CHECK(changed == std::vector<std::optional<std::size_t>>{{}, {}, {}, 2, {}});
    CHECK(totals.edits == std::map<std::string, std::int64_t>{{"clear", 2}});
    CHECK(totals.bytes_stored == 8'000);
    CHECK(totals.changed_bytes == 8'000);
    CHECK(totals.restored_bytes == 8'000);
    CHECK(totals.sent.resets == 1);
    CHECK(totals.sent.invalidated > 2'000);
}

TEST_CASE("a request says what was recorded under the serials of now, and each hook's report comes before it",
          "[replay]") {
    const std::vector<ChatMessage> messages = session(4, 4'000);
    std::vector<std::string> heard;
    ReplayOptions<ChatMessage> options;
    options.on_report = [&](const Report& report) { heard.emplace_back(to_string(report.hook)); };
    options.on_request = [&](const ReplayRequest<ChatMessage>& request) {
        heard.emplace_back("request");
        REQUIRE(request.recorded.size() == request.messages.size());
        for (std::size_t i = 0; i < request.recorded.size(); ++i) {
            const MessageInfo& now = request.conversation.outline()[i];
            CHECK(request.recorded[i].serial == now.serial);
            CHECK(request.recorded[i].fingerprint == fingerprint(messages[i]));
            CHECK((now.fingerprint != fingerprint(messages[i])) == (now.role == Role::tool));  // shortened
        }
    };
    const ReplayTotals totals = replay<ChatMessage>(
        {.id = "s", .messages = messages}, Chain<ChatMessage>(ChainConfig{}, {std::make_shared<Shorten>()}), options);
    CHECK(totals.calls == 5);
    REQUIRE(heard.size() >= 4);
    CHECK(std::vector<std::string>(heard.begin(), heard.begin() + 4) ==
          std::vector<std::string>{"before_agent", "before_model", "request", "after_model"});
    CHECK(heard.back() == "after_agent");
}

TEST_CASE("a result that a middleware changes on return goes in changed, and comes back without a store", "[replay]") {
    const std::vector<ChatMessage> messages = session(2, 100);
    std::vector<std::string> shown;
    ReplayOptions<ChatMessage> options;
    options.on_end = [&](const Conversation<ChatMessage>& conversation) {
        for (const ChatMessage& m : conversation.messages()) {
            if (m.role == Role::tool) shown.push_back(m.parts.front().text);
        }
    };
    const ReplayTotals totals = replay<ChatMessage>(
        {.id = "s", .messages = messages}, Chain<ChatMessage>(ChainConfig{}, {std::make_shared<Shorten>()}), options);
    CHECK(shown == std::vector<std::string>{std::string(10, 'a'), std::string(10, 'b')});
    CHECK(totals.changed_bytes == 200);
    CHECK(totals.restored_bytes == 200);
    CHECK(totals.restorable() == 1.0);
    CHECK(totals.not_undone == 0);
    CHECK(totals.violations.empty());
}

TEST_CASE("a rule that only the sent requests break is found, one that the recording breaks is not", "[replay]") {
    ChainConfig config;
    config.verify = false;
    const Chain<ChatMessage> chain(config, {std::make_shared<DropResult>()});
    std::vector<ChatMessage> messages = session(4, 1'000);
    const ReplayTotals totals = replay<ChatMessage>({.id = "s", .messages = messages}, chain);
    REQUIRE(totals.violations.size() >= 1);
    CHECK(totals.violations.front().call == 2);
    CHECK(totals.violations.front().trajectory == "s");
    CHECK(totals.not_undone == 0);

    messages.erase(messages.begin() + 2);  // the recording itself lacks a result now
    CHECK(replay<ChatMessage>({.id = "s", .messages = messages}, clearing_above(500)).violations.empty());
}

TEST_CASE("a failing store is counted and told, and the replay goes on", "[replay]") {
    const std::vector<ChatMessage> messages = session(6, 4'000);
    const ReplayTotals totals = replay<ChatMessage>({.id = "s", .messages = messages},
                                                    clearing_above(2'000, memory_storage({.max_bytes = 10})));
    CHECK(totals.calls == 7);
    CHECK(totals.failed_writes > 0);
    CHECK(totals.commits == 0);
    REQUIRE_FALSE(totals.errors.empty());
    CHECK(totals.errors.front().find("reduction") != std::string::npos);
}

TEST_CASE("a store that refuses where a result arrives is counted and told too", "[replay]") {
    const std::vector<ChatMessage> messages = session(3, 40'000);
    const bool is_handled = GENERATE(false, true);
    ReductionCallbacks<> callbacks;
    if (is_handled) {
        callbacks.tool_config["read"].trunc_handler = [](const ToolDetail& detail) {
            return TruncResult{.need_trunc = true,
                               .replacement_parts = {{.text = "short"}},
                               .need_offload = true,
                               .offload_content = detail.result_parts[0].text};
        };
    }
    std::vector<std::string> reported;
    ChainCallbacks<ChatMessage> events;
    events.on_event = [&](const Event& event) { reported.emplace_back(event.kind); };
    const Chain<ChatMessage> chain{
        ChainConfig{.storage = memory_storage({.max_bytes = 10})}, std::move(events),
        Reduction{ReductionConfig{.skip_clear = true, .max_length_for_trunc = 1'000}, std::move(callbacks)}};
    const ReplayTotals totals = replay<ChatMessage>({.id = "s", .messages = messages}, chain);
    CHECK(totals.failed_writes == 3);
    CHECK(totals.failed_hooks == 0);
    CHECK(std::ranges::count(reported, "store_failed") == 3);
    REQUIRE(totals.errors.size() == 3);
    CHECK(totals.errors.front().starts_with("s: reduction: "));
    CHECK(totals.errors.front().find("could not be stored") != std::string::npos);
}

TEST_CASE("a middleware that fails where a result arrives is counted as one that failed", "[replay]") {
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["read"].trunc_handler = [](const ToolDetail&) -> TruncResult {
        throw std::runtime_error("the handler is broken");
    };
    const Chain<ChatMessage> chain{ChainConfig{.storage = memory_storage()},
                                   Reduction{ReductionConfig{.skip_clear = true}, std::move(callbacks)}};
    const std::vector<ChatMessage> messages = session(2, 4'000);
    const ReplayTotals totals = replay<ChatMessage>({.id = "s", .messages = messages}, chain);
    CHECK(totals.failed_hooks == 2);
    REQUIRE_FALSE(totals.errors.empty());
    CHECK(totals.errors.front() == "s: reduction: the handler is broken");
}

TEST_CASE("usage in the recording does not move the triggers", "[replay]") {
    std::vector<ChatMessage> messages = session(4, 400);
    for (ChatMessage& m : messages) {
        if (m.role == Role::assistant) m.usage = Usage{.uncached_input = 1'000'000};
    }
    CHECK(replay<ChatMessage>({.id = "s", .messages = messages}, clearing_above(10'000)).commits == 0);
}

TEST_CASE("a stop ends a replay", "[replay]") {
    StopSource stop;
    stop.request_stop();
    const std::vector<ChatMessage> messages = session(1, 10);
    CHECK_THROWS_AS(
        replay<ChatMessage>({.id = "s", .messages = messages}, clearing_above(10'000), {.stop = stop.get_token()}),
        Error);
}

TEST_CASE("totals add up", "[replay]") {
    const std::vector<ChatMessage> messages = session(6, 4'000);
    const ReplayTotals one = replay<ChatMessage>({.id = "s", .messages = messages}, clearing_above(2'000));
    ReplayTotals two = one;
    two += one;
    CHECK(two.trajectories == 2);
    CHECK(two.calls == 2 * one.calls);
    CHECK(two.sent.input == 2 * one.sent.input);
    CHECK(two.sent.peak == one.sent.peak);
    CHECK(two.edits.at("clear") == 2 * one.edits.at("clear"));
    CHECK(two.sent.hit_rate() == one.sent.hit_rate());
}
