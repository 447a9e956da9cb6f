// The pure function over a plain list does what the middleware does.
#include "pruning_talk.hpp"
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "whittle/token_saving/steps.hpp"

#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <AgentMessage M>
std::vector<M> three_turns() {
    std::vector<M> messages;
    const auto add = [&](const ChatMessage& m) {
        for (M& built : Builder<M>::build(m)) messages.push_back(std::move(built));
    };
    for (int turn = 0; turn < 3; ++turn) {
        const std::string id = "c" + std::to_string(turn);
        add(ChatMessage::user("turn " + id));
        add(ChatMessage::assistant("").call(id, turn == 0 ? "skill" : "read", R"({"path":"a"})"));
        add(ChatMessage::result(id, turn == 0 ? "skill" : "read", output(id)));
        add(ChatMessage::assistant("done " + id));
    }
    return messages;
}

template <AgentMessage M>
bool shows(const std::vector<M>& messages, const std::string& text) {
    bool found = false;
    for (const M& m : messages) {
        message_traits<M>::for_each_part(
            m, [&](const PartView& part) { found = found || part.text.find(text) != std::string_view::npos; });
    }
    return found;
}

}  // namespace

TEST_CASE("old tool outputs of a plain list are pruned, and the list stays as it is, on every message type",
          "[pruning]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (ToolMessage<M>) {
            INFO(Builder<M>::name);
            const std::vector<M> messages = three_turns<M>();
            const PruningConfig last_turn{.skip_boundary_turns = 1};
            const std::vector<M> all = prune_tool_outputs(std::span<const M>(messages), {}, last_turn);
            CHECK(all.size() == messages.size());
            CHECK(shows(messages, "output of c0"));
            CHECK_FALSE(shows(all, "output of c0"));
            CHECK_FALSE(shows(all, "output of c1"));
            CHECK(shows(all, "output of c2"));
            CHECK(shows(all, std::string(tool_output_compacted)));

            const std::vector<M> kept = prune_tool_outputs(std::span<const M>(messages), {"skill"}, last_turn);
            CHECK(shows(kept, "output of c0"));
            CHECK_FALSE(shows(kept, "output of c1"));
            CHECK(shows(prune_tool_outputs(std::span<const M>(messages)), "output of c1"));

            CHECK(build_steps_from_messages(std::span<const M>(messages)).size() == 6);
        }
    });
}

TEST_CASE("pruning a plain list says which setting is wrong", "[pruning]") {
    const std::vector<ChatMessage> messages{ChatMessage::user("hi")};
    CHECK_THROWS_AS(prune_tool_outputs(std::span<const ChatMessage>(messages), {}, {.skip_boundary_turns = -1}), Error);
    CHECK(prune_tool_outputs(std::span<const ChatMessage>(messages)) == messages);
    CHECK(prune_tool_outputs(std::span<const ChatMessage>()).empty());
}
