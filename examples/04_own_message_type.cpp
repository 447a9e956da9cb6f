// A message type of one's own: five small functions, and every middleware works on it.
#include <whittle/whittle.hpp>

#include <iostream>

// [type]
namespace robot {
struct Line {
    bool from_robot = false;
    std::string text;
};
}  // namespace robot

template <>
struct whittle::message_traits<robot::Line> {
    static Role role(const robot::Line& line) { return line.from_robot ? Role::assistant : Role::user; }
    static void for_each_part(const robot::Line& line, auto&& visit) {
        if (!line.text.empty()) visit(PartView{.kind = PartKind::text, .text = line.text});
    }
    static void set_text(robot::Line& line, std::size_t, std::string_view text) { line.text = text; }
    static void erase_part(robot::Line& line, std::size_t) { line.text.clear(); }
    static robot::Line make(Role role, std::string_view text) { return {role == Role::assistant, std::string(text)}; }
};
static_assert(whittle::AgentMessage<robot::Line>);
// [/type]

int main() {
    using namespace whittle;
    Conversation<robot::Line> conversation("robot");
    conversation.push_back({false, "Fetch the red box."});
    conversation.push_back({true, "I see a red box. " + std::string(100, '.')});
    conversation.push_back({false, "Good."});

    // [edit]
    auto edit = conversation.edit("example");
    edit.set_text(1, 0, "I see a red box.", {.origin = Origin::placeholder, .reason = "shorten"});
    const CommitResult result = edit.commit();
    // [/edit]
    std::cout << result.tokens_before << " -> " << result.tokens_after << " tokens, first change at message "
              << *result.first_changed << '\n';
    std::cout << validate<robot::Line>(conversation.messages(), openai_chat()).size() << " violations\n";
}
