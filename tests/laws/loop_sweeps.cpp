// In an agent loop the model, a tool, a callback or the store fails at the n-th call, for every n.
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "support/laws_snapshot.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr int readings = 6;

/// Which call of what fails; 0: none.
struct Fault {
    int model = 0;
    int tool = 0;
    int store = 0;
    int start = 0;  ///< on_tool_start
    int end = 0;    ///< on_tool_end
};

struct Calls {
    int model = 0;
    int tool = 0;
    int start = 0;
    int end = 0;
};

void fail_at(int& calls, int nth) {
    if (++calls == nth) throw std::runtime_error("injected failure");
}

/// Asks for `readings` of them, then answers; it goes by what it is shown.
Reply<ChatMessage> next_reply(const ModelRequest<ChatMessage>& request) {
    const auto asked = std::ranges::count(request.messages, Role::assistant, &ChatMessage::role);
    if (asked == readings) return {ChatMessage::assistant("done")};
    return {ChatMessage::assistant("").call("call_" + std::to_string(asked), "read")};
}

struct Session {
    explicit Session(const Fault& fault) : storage(std::make_shared<FaultyStorage>(memory_storage(), fault.store)) {
        const auto model =
            std::make_shared<ScriptedModel<ChatMessage>>([this, fault](const ModelRequest<ChatMessage>& request) {
                fail_at(calls.model, fault.model);
                return next_reply(request);
            });
        const Tool read = text_tool("read", "reads", "{}", [this, fault](std::string_view) {
            fail_at(calls.tool, fault.tool);
            return std::string(900, 'r');
        });
        LoopCallbacks callbacks;
        callbacks.on_tool_start = [this, fault](const ToolContext&) { fail_at(calls.start, fault.start); };
        callbacks.on_tool_end = [this, fault](const ToolContext&, const ToolResult&) { fail_at(calls.end, fault.end); };
        ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 300};
        Chain<ChatMessage> chain{ChainConfig{.storage = storage}, Reduction<ChatMessage>{config}};
        loop = std::make_unique<AgentLoop<ChatMessage>>(model, std::vector<Tool>{read}, chain, LoopConfig{}, callbacks);
    }

    [[nodiscard]] bool is_valid() const { return validate(conversation.messages(), openai_chat()).empty(); }

    std::vector<std::string> originals() {
        while (conversation.undo()) {
        }
        return all_bytes(conversation.messages());
    }

    Calls calls{};
    std::shared_ptr<FaultyStorage> storage;
    std::unique_ptr<AgentLoop<ChatMessage>> loop{};
    Conversation<ChatMessage> conversation{"laws"};
};

std::vector<std::string> undisturbed() {
    Session session({});
    REQUIRE(session.loop->run(session.conversation, "go").outcome == RunOutcome::answered);
    REQUIRE(session.conversation.journal().size() > 1);
    return session.originals();
}

}  // namespace

TEST_CASE("whichever model call fails, the run can go on and ends as if nothing had happened", "[sweep]") {
    const auto expected = undisturbed();
    for (int n = 1; n <= readings + 1; ++n) {
        Session session({.model = n});
        const RunResult failed = session.loop->run(session.conversation, "go");
        INFO("model call " << n);
        CHECK(failed.outcome == RunOutcome::failed);
        CHECK(failed.error == "injected failure");
        CHECK(session.is_valid());
        CHECK(session.conversation.size() == static_cast<std::size_t>(2 * n - 1));
        CHECK(session.loop->run(session.conversation).outcome == RunOutcome::answered);
        CHECK(session.originals() == expected);
    }
}

TEST_CASE("whichever tool call fails, the model is told and the run goes on", "[sweep]") {
    for (int n = 1; n <= readings; ++n) {
        Session session({.tool = n});
        INFO("tool call " << n);
        CHECK(session.loop->run(session.conversation, "go").outcome == RunOutcome::answered);
        CHECK(session.is_valid());
        while (session.conversation.undo()) {
        }
        const ChatMessage& result = session.conversation.messages()[static_cast<std::size_t>(2 * n)];
        CHECK(result.parts[0].is_error);
        CHECK(result.parts[0].text == "read failed: injected failure");
    }
}

TEST_CASE("whichever call of a loop callback fails, the run fails without a dangling call", "[sweep]") {
    for (int n = 1; n <= readings; ++n) {
        for (const Fault& fault : {Fault{.start = n}, Fault{.end = n}}) {
            Session session(fault);
            INFO("callback call " << n << (fault.end > 0 ? " of on_tool_end" : " of on_tool_start"));
            CHECK(session.loop->run(session.conversation, "go").outcome == RunOutcome::failed);
            CHECK(session.is_valid());
            CHECK(session.loop->run(session.conversation).outcome == RunOutcome::answered);
            CHECK(session.is_valid());
        }
    }
}

TEST_CASE("whichever call of the store fails, the run answers and nothing is lost", "[sweep]") {
    const auto expected = undisturbed();
    bool is_reached = true;
    int swept = 0;
    for (int n = 1; is_reached; ++n) {
        Session session({.store = n});
        INFO("store call " << n);
        CHECK(session.loop->run(session.conversation, "go").outcome == RunOutcome::answered);
        is_reached = session.storage->calls() >= n;
        swept += is_reached ? 1 : 0;
        CHECK(session.is_valid());
        if (is_reached) CHECK(session.originals() == expected);
    }
    CHECK(swept >= readings);
}
