// A middleware of one's own: old assistant chatter is cut to its first sentence, once the request is large.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

// [middleware]
template <AgentMessage M = ChatMessage>
class ShortenChatter final : public Middleware<M> {
public:
    explicit ShortenChatter(std::int64_t limit_tokens) : limit_tokens_(limit_tokens) {}

    std::string_view name() const noexcept override { return "shorten_chatter"; }

    void before_model(Turn<M>& turn) override {
        turn.report.count = turn.context_tokens();
        turn.report.threshold = limit_tokens_;
        turn.report.outcome = Outcome::not_due;
        if (turn.report.count <= limit_tokens_) return;
        auto edit = turn.edit();
        for (std::size_t i = 0; i < edit.outline().size(); ++i) shorten(edit, i);
        edit.commit();  // verified, stored and journalled; nothing happens unless it saves tokens
    }

private:
    void shorten(Transaction<M>& edit, std::size_t i) {
        const MessageInfo& info = edit.outline()[i];
        if (info.role != Role::assistant || info.parts.size() != 1 || info.parts[0].kind != PartKind::text) return;
        if (!edit.may_edit(i)) return;
        if (mark_of(info, 0)) return;  // done already
        const std::string text = text_of(edit.messages()[i], 0);
        const auto end = text.find(". ");
        if (end != std::string::npos)
            edit.set_text(i, 0, text.substr(0, end + 1), {.origin = Origin::placeholder, .reason = "shorten"});
    }

    std::int64_t limit_tokens_;
};
// [/middleware]

int main() {
    const Chain chain{ChainConfig{}, ShortenChatter<>{100}};
    Conversation conversation("chatter");
    for (const char* question : {"What is a heap?", "And a stack?"}) {
        conversation.push_back(ChatMessage::user(question));
        conversation.push_back(ChatMessage::assistant("It is a place for data. " + std::string(300, '~')));
    }
    conversation.push_back(ChatMessage::user("Thanks."));
    std::cout << to_text(chain.before_model(conversation));
    for (const ChatMessage& m : conversation.messages()) std::cout << to_string(m.role) << ": " << text_of(m) << '\n';
    conversation.undo();
    std::cout << "after undo: " << conversation.tokens(chars_counter()) << " tokens\n";
}
