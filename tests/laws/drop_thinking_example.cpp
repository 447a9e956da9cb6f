// The middleware of docs/chain.md that drops thinking.
#include "support/catch.hpp"
#include "support/laws.hpp"
#include "whittle/whittle.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <AgentMessage M = ChatMessage>
class DropOldThinking final : public Middleware<M> {
public:
    std::string_view name() const noexcept override { return "drop_old_thinking"; }

    void before_model(Turn<M>& turn) override {
        auto edit = turn.edit();
        for (std::size_t i = edit.outline().size(); i-- > 0;) {  // from the end: erasing moves what stands behind
            if (edit.may_edit(i) && edit.outline()[i].has(PartKind::thinking)) drop(edit, i);
        }
        edit.commit();
    }

private:
    static void drop(Transaction<M>& edit, std::size_t i) {
        const auto is_thinking = [](const PartInfo& part) { return part.kind == PartKind::thinking; };
        if (std::ranges::all_of(edit.outline()[i].parts, is_thinking)) return edit.erase(i, {.reason = "old_thinking"});
        for (std::size_t p = edit.outline()[i].parts.size(); p-- > 0;) {
            if (is_thinking(edit.outline()[i].parts[p])) edit.erase_part(i, p, {.reason = "old_thinking"});
        }
    }
};

/// Thinks and calls a tool three times, then answers.
Reply<ChatMessage> think_and_read(int call) {
    const std::string number = std::to_string(call);
    ChatMessage m{Role::assistant, {{PartKind::thinking, "a thought of some length, number " + number}}};
    if (call % 4 == 0) {
        m.parts.push_back({PartKind::text, "an answer"});
        return {m};
    }
    return {m.call("c" + number, "read", "{}")};
}

std::ptrdiff_t count_thoughts(const Conversation<>& c) {
    std::ptrdiff_t count = 0;
    for (const ChatMessage& m : c.messages()) count += std::ranges::count(m.parts, PartKind::thinking, &Part::kind);
    return count;
}

}  // namespace

WHITTLE_LAWS("dropping the thinking of closed tool loops",
             [](auto type) { return DropOldThinking<MessageOf<decltype(type)>>{}; })

TEST_CASE("a middleware that asks may_edit drops thinking and never fails, in a run of one turn either", "[laws]") {
    std::vector<Outcome> outcomes;
    ChainCallbacks<> callbacks;
    callbacks.on_report = [&](const Report& report) {
        if (report.hook == Hook::before_model) outcomes.push_back(report.stages.at(0).outcome);
    };
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [call = 0](const ModelRequest<ChatMessage>&) mutable { return think_and_read(++call); });
    const Tool read = text_tool("read", "Reads.", R"({"type":"object"})", [](std::string_view) { return "text"; });
    AgentLoop loop{model, {read}, Chain{ChainConfig{}, callbacks, DropOldThinking<>{}}};
    Conversation<> c("thoughts");
    CHECK(loop.run(c, "first").outcome == RunOutcome::answered);
    CHECK(outcomes == std::vector<Outcome>(4, Outcome::nothing));
    CHECK(count_thoughts(c) == 4);
    CHECK(loop.run(c, "second").outcome == RunOutcome::answered);
    CHECK(std::ranges::find(outcomes, Outcome::failed) == outcomes.end());
    CHECK(count_thoughts(c) == 4);  // those of the second turn
    CHECK(c.undo());
    CHECK(count_thoughts(c) == 8);
}
