// Tools that write while they run, and how a stop reaches them.
#include "support/catch.hpp"
#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace whittle;

namespace {

std::shared_ptr<ScriptedModel<ChatMessage>> asks_twice_for(const std::string& name) {
    return std::make_shared<ScriptedModel<ChatMessage>>(std::vector{
        ChatMessage::assistant("").call("a", name, "{}").call("b", name, "{}"), ChatMessage::assistant("done")});
}

/// Passes everything on and keeps what came, piece by piece.
struct Watcher final : Middleware<> {
    struct Sink final : PartSink {
        Sink(PartSink& next, std::vector<std::string>& pieces) : out(next), seen(pieces) {}
        void write(std::string_view text) override {
            seen.emplace_back(text);
            out.write(text);
        }
        void push(Part part) override { out.push(std::move(part)); }
        void mark_stored(StoredPart stored) override { out.mark_stored(std::move(stored)); }
        PartSink& out;
        std::vector<std::string>& seen;
    };
    explicit Watcher(std::vector<std::string>& pieces) : seen(&pieces) {}
    std::string_view name() const noexcept override { return "watcher"; }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        Sink sink(out, *seen);
        return next(context, sink);
    }
    std::vector<std::string>* seen;
};

}  // namespace

TEST_CASE("a tool's result passes the middlewares while the tool runs", "[loop]") {
    std::vector<std::string> pieces;
    std::vector<std::size_t> seen_by_then;
    const Tool stream{.name = "stream", .invoke = [&](const ToolContext&, PartSink& out) -> ToolOutcome {
                          for (int i = 0; i < 3; ++i) {
                              out.write(std::to_string(i));
                              seen_by_then.push_back(pieces.size());
                          }
                          return {};
                      }};
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        std::vector{ChatMessage::assistant("").call("a", "stream", "{}"), ChatMessage::assistant("done")});
    AgentLoop<> loop(model, {stream}, Chain{ChainConfig{}, Watcher{pieces}});
    Conversation<> c;
    REQUIRE(loop.run(c, "go").outcome == RunOutcome::answered);
    CHECK(seen_by_then == std::vector<std::size_t>{1, 2, 3});
    CHECK(text_of(c.messages()[2], 0) == "012");
}

TEST_CASE("a streaming tool sees the stop while it writes; what it wrote is its result", "[loop]") {
    StopSource stop;
    const Tool endless{.name = "endless", .invoke = [&](const ToolContext& context, PartSink& out) -> ToolOutcome {
                           for (int line = 1; !context.stop.stop_requested(); ++line) {
                               out.write("line " + std::to_string(line) + "\n");
                               if (line == 3) stop.request_stop();
                           }
                           return {};
                       }};
    AgentLoop<> loop(asks_twice_for("endless"), {endless}, Chain<>(ChainConfig{}));
    Conversation<> c;
    CHECK(loop.run(c, "go", stop.get_token()).outcome == RunOutcome::stopped);
    CHECK(text_of(c.messages()[2], 0) == "line 1\nline 2\nline 3\n");
    CHECK(text_of(c.messages()[3], 0).starts_with("not run"));
    CHECK(validate(c.messages(), openai_chat()).empty());
}

TEST_CASE("a stop from another thread ends tools that wait for it, on every thread", "[loop]") {
    StopSource stop;
    std::latch started(2);
    const Tool waits{.name = "waits", .invoke = [&](const ToolContext& context, PartSink& out) -> ToolOutcome {
                         out.write("began");
                         started.count_down();
                         while (!context.stop.stop_requested()) std::this_thread::yield();
                         throw Error(Errc::cancelled, "wait: stopped");
                     }};
    const detail::JoiningThread stopper([&] {
        started.wait();
        stop.request_stop();
    });
    AgentLoop<> loop(asks_twice_for("waits"), {waits}, Chain<>(ChainConfig{}), {.tool_threads = 2});
    Conversation<> c;
    CHECK(loop.run(c, "go", stop.get_token()).outcome == RunOutcome::stopped);
    REQUIRE(c.size() == 4);
    for (const std::size_t i : {2U, 3U}) {
        CHECK(c.messages()[i].parts[0].text == "began");
        CHECK(c.messages()[i].parts[1].text == "waits failed: wait: stopped");
        CHECK(c.messages()[i].parts[1].is_error);
    }
    CHECK(validate(c.messages(), openai_chat()).empty());
}

TEST_CASE("a run that was stopped goes on where it was", "[loop]") {
    StopSource stop;
    int runs = 0;
    const Tool once{.name = "once", .invoke = [&](const ToolContext&, PartSink& out) -> ToolOutcome {
                        if (++runs == 1) stop.request_stop();
                        out.write("ran");
                        return {};
                    }};
    AgentLoop<> loop(asks_twice_for("once"), {once}, Chain<>(ChainConfig{}));
    Conversation<> c;
    CHECK(loop.run(c, "go", stop.get_token()).outcome == RunOutcome::stopped);
    CHECK(runs == 1);
    CHECK(loop.run(c).outcome == RunOutcome::answered);
    CHECK(text_of(c.messages().back()) == "done");
}
