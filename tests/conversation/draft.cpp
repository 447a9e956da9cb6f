// A middleware whose work is plain code: it knows no message type.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/openai/openai.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

/// Puts its size in place of each long text, says so at the end, and takes a second note back.
void shorten_texts(HookTurn& turn, Draft& edit) {
    for (std::size_t i = 0; i < edit.outline().size(); ++i) {
        std::vector<std::size_t> sizes;
        edit.visit_parts(i, [&](const PartView& part) { sizes.push_back(part.text.size()); });
        for (std::size_t p = 0; p < sizes.size(); ++p) {
            if (sizes[p] < 100 || !edit.may_edit(i, p)) continue;
            edit.begin_edit_group();
            edit.set_text(i, p, std::to_string(sizes[p]) + " bytes", {.origin = Origin::placeholder, .reason = "old"});
        }
    }
    const Provenance note{.origin = Origin::nudge, .reason = "note"};
    edit.begin_edit_group();
    edit.insert_text(edit.outline().size(), Role::user, turn.conversation_id() + " was shortened", note);
    const EditGroup second = edit.begin_edit_group();
    edit.insert_text(1, Role::user, "not wanted", note);
    edit.drop_edit_group(second);
}

template <AgentMessage M>
class Shorten final : public Middleware<M> {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "shorten"; }
    void before_model(Turn<M>& turn) override {
        auto edit = turn.edit();
        shorten_texts(turn, edit);
        edit.commit();
    }
};

/// Keeps what the messages say, and what they said before the commits of the journal.
template <AgentMessage M>
class Recall final : public Middleware<M> {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "recall"; }
    void before_model(Turn<M>& turn) override { read(turn); }

    std::vector<std::string> said{};
    std::vector<std::string> replaced{};

private:
    void read(HookTurn& turn) {
        for (std::size_t i = 0; i < turn.outline().size(); ++i)
            turn.visit_parts(i, [&](const PartView& part) { said.emplace_back(part.text); });
        turn.visit_replaced([&](const ReplacedMessage& message) {
            replaced.push_back(message.record.by + " " + std::to_string(message.info.serial) + ": " +
                               turn.text_of(message, 0));
        });
    }
};

template <AgentMessage M>
std::vector<std::string> texts_of(const Conversation<M>& conversation) {
    std::vector<std::string> texts;
    for (const M& message : conversation.messages()) texts.push_back(text_of(message));
    return texts;
}

}  // namespace

TEMPLATE_TEST_CASE("a middleware over HookTurn and Draft serves every message type", "[chain]", ChatMessage,
                   openai::Message, anthropic::Message, testing::PlainMessage) {
    Conversation<TestType> conversation("talk");
    const std::string answer(400, 'a');
    conversation.push_back(message_traits<TestType>::make(Role::user, "go"));
    conversation.push_back(message_traits<TestType>::make(Role::assistant, answer));
    conversation.push_back(message_traits<TestType>::make(Role::user, "and now?"));
    const std::vector<std::string> before = texts_of(conversation);

    const Chain<TestType> chain{ChainConfig{}, Shorten<TestType>{}};
    const Report& report = chain.before_model(conversation);

    CHECK(report.stages.back().outcome == Outcome::committed);
    CHECK(texts_of(conversation) == std::vector<std::string>{"go", "400 bytes", "and now?", "talk was shortened"});
    CHECK(origin_of(conversation.outline()[3].mark) == Origin::nudge);
    REQUIRE(conversation.undo());
    CHECK(texts_of(conversation) == before);
}

TEMPLATE_TEST_CASE("a hook reads the messages and what commits replaced without their type", "[chain]", ChatMessage,
                   openai::Message, anthropic::Message, testing::PlainMessage) {
    Conversation<TestType> conversation("talk");
    conversation.push_back(message_traits<TestType>::make(Role::user, "go"));
    conversation.push_back(message_traits<TestType>::make(Role::assistant, std::string(400, 'a')));
    conversation.push_back(message_traits<TestType>::make(Role::user, "and now?"));
    const auto recall = std::make_shared<Recall<TestType>>();
    const Chain<TestType> chain{ChainConfig{}, Shorten<TestType>{}, recall};

    chain.before_model(conversation);

    CHECK(recall->said == std::vector<std::string>{"go", "400 bytes", "and now?", "talk was shortened"});
    CHECK(recall->replaced == std::vector<std::string>{"shorten 2: " + std::string(400, 'a')});
}
