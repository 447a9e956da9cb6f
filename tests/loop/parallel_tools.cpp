#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace whittle;

namespace {

/// A place where threads wait for a count. Nobody waits for ever: a test that would hang fails instead.
class Meeting {
public:
    void arrive() {
        const std::lock_guard lock(mutex_);
        ++arrived_;
        changed_.notify_all();
    }
    [[nodiscard]] bool wait_for(int count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return arrived_ >= count; });
    }
    [[nodiscard]] bool arrive_and_wait_for(int count) {
        arrive();
        return wait_for(count);
    }

private:
    std::mutex mutex_{};
    std::condition_variable changed_{};
    int arrived_ = 0;
};

/// A model that asks for `calls` (each its own tool's name as id) and then answers.
std::shared_ptr<ScriptedModel<ChatMessage>> asks_for(const std::vector<std::string>& tools) {
    ChatMessage message = ChatMessage::assistant("");
    for (std::size_t i = 0; i < tools.size(); ++i) message.call("call_" + std::to_string(i), tools[i], "{}");
    return std::make_shared<ScriptedModel<ChatMessage>>(std::vector{message, ChatMessage::assistant("done")});
}

Tool tool(std::string name, std::function<std::string()> work) {
    return text_tool(std::move(name), "", "{}", [work = std::move(work)](std::string_view) { return work(); });
}

std::string text_at(const Conversation<>& c, std::size_t message) { return text_of(c.messages()[message], 0); }

void require_valid(const Conversation<>& c) { REQUIRE(validate(c.messages(), openai_chat()).empty()); }

}  // namespace

TEST_CASE("tools of one reply run at the same time, and their results come in call order", "[loop]") {
    Meeting meeting;
    const Tool meet = tool("meet", [&] { return std::string(meeting.arrive_and_wait_for(4) ? "met" : "alone"); });
    AgentLoop<> loop(asks_for({"meet", "meet", "meet", "meet"}), {meet}, Chain<>(ChainConfig{}), {.tool_threads = 4});
    Conversation<> c;
    REQUIRE(loop.run(c, "go").outcome == RunOutcome::answered);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(c.messages()[2 + i].parts[0].call_id == "call_" + std::to_string(i));
        CHECK(text_at(c, 2 + i) == "met");
    }
    require_valid(c);
}

TEST_CASE("a tool that ends first is told first, but its result keeps its place", "[loop]") {
    Meeting quick_ended;
    const Tool slow = tool("slow", [&] { return std::string(quick_ended.wait_for(1) ? "slow" : "never"); });
    const Tool quick = tool("quick", [] { return std::string("quick"); });
    std::vector<std::string> ends;
    LoopCallbacks callbacks{.on_tool_end = [&](const ToolContext& context, const ToolResult&) {
        ends.push_back(context.tool);
        quick_ended.arrive();
    }};
    AgentLoop<> loop(asks_for({"slow", "quick"}), {slow, quick}, Chain<>(ChainConfig{}), {.tool_threads = 2},
                     callbacks);
    Conversation<> c;
    REQUIRE(loop.run(c, "go").outcome == RunOutcome::answered);
    CHECK(ends == std::vector<std::string>{"quick", "slow"});
    CHECK(text_at(c, 2) == "slow");
    CHECK(text_at(c, 3) == "quick");
}

TEST_CASE("never more tools run than there are threads", "[loop]") {
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    const Tool count = tool("count", [&] {
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --running;
        return std::string("ok");
    });
    AgentLoop<> loop(asks_for(std::vector<std::string>(40, "count")), {count}, Chain<>(ChainConfig{}),
                     {.tool_threads = 3});
    Conversation<> c;
    REQUIRE(loop.run(c, "go").outcome == RunOutcome::answered);
    CHECK(c.size() == 43);
    CHECK(most <= 3);
}

TEST_CASE("callbacks come on the loop's thread; tools leave it only if there are several threads", "[loop]") {
    const int threads = GENERATE(1, 2);
    std::mutex mutex;
    std::set<std::thread::id> of_tools;
    std::set<std::thread::id> of_callbacks;
    const Tool note = tool("note", [&] {
        const std::lock_guard lock(mutex);
        of_tools.insert(std::this_thread::get_id());
        return std::string("ok");
    });
    LoopCallbacks callbacks{
        .on_tool_start = [&](const ToolContext&) { of_callbacks.insert(std::this_thread::get_id()); },
        .on_tool_end = [&](const ToolContext&, const ToolResult&) { of_callbacks.insert(std::this_thread::get_id()); }};
    AgentLoop<> loop(asks_for({"note", "note", "note"}), {note}, Chain<>(ChainConfig{}), {.tool_threads = threads},
                     callbacks);
    Conversation<> c;
    REQUIRE(loop.run(c, "go").outcome == RunOutcome::answered);
    CHECK(of_callbacks == std::set{std::this_thread::get_id()});
    CHECK(of_tools.contains(std::this_thread::get_id()) == (threads == 1));
}

TEST_CASE("a stop reaches all tools that run and keeps the others from starting", "[loop]") {
    StopSource stop;
    Meeting meeting;
    Tool waits{.name = "waits", .invoke = [&](const ToolContext& context, PartSink& out) -> ToolOutcome {
                   if (meeting.arrive_and_wait_for(2)) stop.request_stop();
                   out.write(context.stop.stop_requested() ? "stopped" : "not told");
                   return {};
               }};
    AgentLoop<> loop(asks_for({"waits", "waits", "waits"}), {waits}, Chain<>(ChainConfig{}), {.tool_threads = 2});
    Conversation<> c;
    CHECK(loop.run(c, "go", stop.get_token()).outcome == RunOutcome::stopped);
    REQUIRE(c.size() == 5);
    CHECK(text_at(c, 2) == "stopped");
    CHECK(text_at(c, 3) == "stopped");
    CHECK(text_at(c, 4).starts_with("not run"));
    require_valid(c);
}

TEST_CASE("a tool that throws does not stop the others", "[loop]") {
    const int threads = GENERATE(1, 2, 4);
    const Tool good = tool("good", [] { return std::string("fine"); });
    const Tool bad = tool("bad", []() -> std::string { throw Error(Errc::not_found, "no such file"); });
    AgentLoop<> loop(asks_for({"good", "bad", "good", "bad"}), {good, bad}, Chain<>(ChainConfig{}),
                     {.tool_threads = threads});
    Conversation<> c;
    CHECK(loop.run(c, "go").outcome == RunOutcome::answered);
    CHECK(text_at(c, 2) == "fine");
    CHECK(text_at(c, 3) == "bad failed: no such file");
    CHECK(text_at(c, 4) == "fine");
    CHECK(c.messages()[5].parts[0].is_error);
}

TEST_CASE("under propagate the first failure in call order ends the run after all results are kept", "[loop]") {
    struct FailsAfter final : Middleware<> {
        std::string_view name() const noexcept override { return "fails_after"; }
        ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
            ToolOutcome outcome = next(context, out);
            if (context.tool != "good") throw Error(Errc::callback_failed, "after " + context.tool);
            return outcome;
        }
    };
    const int threads = GENERATE(1, 2, 4);
    Meeting second;
    const Tool good = tool("good", [] { return std::string("fine"); });
    const Tool first_bad = tool("first", [&] {
        if (threads > 1) (void)second.wait_for(1);
        return std::string("one");
    });
    const Tool second_bad = tool("second", [&] {
        second.arrive();
        return std::string("two");
    });
    AgentLoop<> loop(asks_for({"first", "second", "good"}), {good, first_bad, second_bad},
                     Chain{ChainConfig{.on_error = OnError::propagate}, FailsAfter{}}, {.tool_threads = threads});
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(result.error == "after first");
    REQUIRE(c.size() == 5);
    CHECK(text_at(c, 2).starts_with("one"));
    CHECK(text_at(c, 3).starts_with("two"));
    CHECK(text_at(c, 4) == "fine");
    require_valid(c);
}

TEST_CASE("a callback that throws keeps further tools from starting; those that run are waited for", "[loop]") {
    const bool at_start = GENERATE(true, false);
    std::atomic<int> finished = 0;
    const Tool work = tool("work", [&] {
        ++finished;
        return std::string("ok");
    });
    int calls = 0;
    const auto fail_at_second = [&] {
        if (++calls == 2) throw Error(Errc::callback_failed, "watcher");
    };
    LoopCallbacks callbacks;
    if (at_start) callbacks.on_tool_start = [&](const ToolContext&) { fail_at_second(); };
    if (!at_start) callbacks.on_tool_end = [&](const ToolContext&, const ToolResult&) { fail_at_second(); };
    AgentLoop<> loop(asks_for(std::vector<std::string>(10, "work")), {work}, Chain<>(ChainConfig{}),
                     {.tool_threads = 2}, callbacks);
    Conversation<> c;
    const RunResult result = loop.run(c, "go");
    CHECK(result.outcome == RunOutcome::failed);
    CHECK(result.error == "watcher");
    REQUIRE(c.size() == 12);
    CHECK(finished < 10);
    for (int i = 0; i < 10; ++i) {
        const std::string text = text_at(c, static_cast<std::size_t>(2 + i));
        CHECK((i < finished ? text == "ok" : text.starts_with("not run")));
    }
    require_valid(c);
}

TEST_CASE("the messages are the same with any number of threads", "[loop]") {
    const auto run = [](int threads) {
        const Tool echo{.name = "echo", .invoke = [](const ToolContext& context, PartSink& out) -> ToolOutcome {
                            out.write(context.key_safe_call_id);
                            out.push({.kind = PartKind::text, .text = context.call_id});
                            return {.is_error = context.call_id == "call_3"};
                        }};
        Tool direct = tool("direct", [] { return std::string("!"); });
        direct.return_direct = true;
        AgentLoop<> loop(asks_for({"echo", "direct", "unknown", "echo", "direct", "echo"}), {echo, direct},
                         Chain<>(ChainConfig{}), {.tool_threads = threads});
        Conversation<> c("same");
        const RunResult result = loop.run(c, "go");
        CHECK(result.outcome == RunOutcome::return_direct);
        CHECK(result.text == "!!");
        return std::vector<ChatMessage>(c.messages().begin(), c.messages().end());
    };
    const auto sequential = run(1);
    CHECK(sequential.size() == 8);
    for (const int threads : {2, 3, 64}) CHECK(run(threads) == sequential);
}

TEST_CASE("results are shortened the same with any number of threads, and all originals are stored", "[loop]") {
    const auto run = [](int threads) {
        const auto storage = memory_storage();
        const Tool stream{.name = "stream", .invoke = [](const ToolContext& context, PartSink& out) -> ToolOutcome {
                              for (int i = 0; i < 500; ++i)
                                  out.write(context.key_safe_call_id + std::to_string(i) + "\n");
                              return {};
                          }};
        std::atomic<int> events = 0;
        const ChainCallbacks<> watch{.on_event = [&](const Event&) { ++events; }};
        AgentLoop<> loop(asks_for(std::vector<std::string>(8, "stream")), {stream},
                         Chain{ChainConfig{.storage = storage}, watch, Reduction{{.max_length_for_trunc = 1'000}}},
                         {.tool_threads = threads});
        Conversation<> c("same");
        CHECK(loop.run(c, "go").outcome == RunOutcome::answered);
        CHECK(events == 8);
        std::string all;
        for (std::size_t i = 0; i < 8; ++i) {
            CHECK(text_at(c, 2 + i).size() < 1'300);
            all += text_at(c, 2 + i) + storage->get("same/trunc/call_" + std::to_string(i)).value_or("absent");
        }
        return all;
    };
    const std::string sequential = run(1);
    for (const int threads : {2, 8}) CHECK(run(threads) == sequential);
}
