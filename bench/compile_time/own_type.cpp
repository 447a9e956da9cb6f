#include <whittle/whittle.hpp>

struct Line {
    whittle::ChatMessage message;
};

template <>
struct whittle::message_traits<Line> {
    using Of = message_traits<ChatMessage>;
    static Role role(const Line& m) { return Of::role(m.message); }
    static void for_each_part(const Line& m, auto&& visit) { Of::for_each_part(m.message, visit); }
    static void set_text(Line& m, std::size_t part, std::string_view text) { Of::set_text(m.message, part, text); }
    static void erase_part(Line& m, std::size_t part) { Of::erase_part(m.message, part); }
    static Line make(Role role, std::string_view text) { return {Of::make(role, text)}; }
    static std::vector<Line> make_tool_results(std::span<const ToolResult> results) {
        std::vector<Line> lines;
        for (ChatMessage& m : Of::make_tool_results(results)) lines.push_back({std::move(m)});
        return lines;
    }
};

using namespace whittle;

int main() {
    const auto model = std::make_shared<ScriptedModel<Line>>(std::vector{Line{ChatMessage::assistant("Hello.")}});
    const Chain<Line> chain{ChainConfig{.storage = memory_storage()}, Reduction<Line>{}};
    AgentLoop<Line> loop{model, {}, chain};
    Conversation<Line> conversation("eleven-lines");
    return loop.run(conversation, "Hi.").text == "Hello." ? 0 : 1;
}
