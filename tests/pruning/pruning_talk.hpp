// Conversations to prune, and what a stage of pruning made of them.
#pragma once

#include "whittle/pruning/pruning.hpp"

#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

using Indices = std::vector<std::size_t>;

inline std::string output(const std::string& id, std::size_t bytes = 2'000) {
    return "output of " + id + "\n" + std::string(bytes, 'x');
}

inline void add_round(Conversation<>& c, const std::string& id, const std::string& tool, bool failed = false) {
    c.push_back(ChatMessage::assistant().call(id, tool, R"({"path":"src/)" + id + R"(.cpp"})"));
    c.push_back(ChatMessage::result(id, tool, output(id), failed));
}

/// The example of the specification: roles user, assistant, tool, user, assistant, tool, assistant, tool, user,
/// assistant, with read_file at 2, skill at 5 and edit_file at 7.
inline Conversation<> example() {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("read it"));
    add_round(c, "a", "read_file");
    c.push_back(ChatMessage::user("now edit it"));
    add_round(c, "b", "skill");
    add_round(c, "c", "edit_file");
    c.push_back(ChatMessage::user("thanks"));
    c.push_back(ChatMessage::assistant("You are welcome."));
    return c;
}

/// `turns` times a user message and a round, results at 2, 5, 8, ...; the last round is closed by a reply.
inline Conversation<> talk(int turns) {
    Conversation<> c("conv");
    for (int i = 0; i < turns; ++i) {
        c.push_back(ChatMessage::user("go on"));
        add_round(c, "c" + std::to_string(i), "read_file");
    }
    c.push_back(ChatMessage::assistant("done"));
    return c;
}

inline Indices pruned(const Conversation<>& c) {
    Indices found;
    for (std::size_t i = 0; i < c.size(); ++i) {
        const Mark& mark = mark_of(c.outline()[i], 0);
        if (mark && mark->reason == pruned_reason) found.push_back(i);
    }
    return found;
}

inline std::string text(const Conversation<>& c, std::size_t message) { return c.messages()[message].parts[0].text; }

inline const Report& prune(Conversation<>& c, const PruningConfig& config = {}, ChainConfig chain = {},
                           const HookRequest<>& request = {}) {
    return Chain<>(std::move(chain), Pruning<>(config)).before_model(c, request);
}

inline Outcome outcome(const Report& report) { return report.find("pruning")->outcome; }

inline const std::vector<ToolSpec> reader{{.name = "read_offloaded"}};

}  // namespace whittle::testing
