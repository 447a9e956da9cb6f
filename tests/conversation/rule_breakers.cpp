// Units of a transaction that break a rule of the provider, and those that stay.
#include "support/catch.hpp"
#include "whittle/conversation/transaction.hpp"

#include <string>
#include <vector>

using namespace whittle;

namespace {

/// Results at 2, 4 and 6, and a newer request.
Conversation<> three_closed_rounds() {
    Conversation<> conversation("edit_groups");
    conversation.push_back(ChatMessage::user("do"));
    for (const char* id : {"a", "b", "c"}) {
        conversation.push_back(ChatMessage::assistant("").call(id, "read"));
        conversation.push_back(ChatMessage::result(id, "read", std::string(400, 'x')));
    }
    conversation.push_back(ChatMessage::assistant("done"));
    conversation.push_back(ChatMessage::user("more"));
    return conversation;
}

Transaction<ChatMessage> edit_with_rules(Conversation<>& conversation) {
    EditEnvironment environment;
    environment.validity = &openai_chat();
    return conversation.edit("test", environment);
}

}  // namespace

TEST_CASE("the edit group next to what it broke is taken back, the others are committed", "[transaction]") {
    Conversation<> conversation = three_closed_rounds();
    auto edit = edit_with_rules(conversation);
    std::vector<EditGroup> edit_groups;
    edit_groups.push_back(edit.begin_edit_group());
    edit.set_text(6, 0, "short", {});
    edit_groups.push_back(edit.begin_edit_group());
    edit.erase(4, {});  // its call has no result then
    CHECK_THROWS_AS(edit.commit(), Error);
    CHECK(edit.drop_invalid_edit_groups(edit_groups) == std::vector<EditGroup>{edit_groups[1]});
    CHECK(edit.commit().committed());
    CHECK(conversation.messages()[4].parts[0].text == std::string(400, 'x'));
    CHECK(conversation.messages()[6].parts[0].text == "short");
}

TEST_CASE("edit groups that break no rule all stay, and none is taken that is not asked about", "[transaction]") {
    Conversation<> conversation = three_closed_rounds();
    auto edit = edit_with_rules(conversation);
    const EditGroup harmless = edit.begin_edit_group();
    edit.set_text(2, 0, "short", {});
    CHECK(edit.drop_invalid_edit_groups({harmless}).empty());
    const EditGroup breaking = edit.begin_edit_group();
    edit.erase(4, {});
    CHECK(edit.drop_invalid_edit_groups({harmless}) == std::vector<EditGroup>{harmless});
    CHECK_THROWS_AS(edit.commit(), Error);
    CHECK(edit.drop_invalid_edit_groups({breaking}) == std::vector<EditGroup>{breaking});
    CHECK(edit.commit().outcome == Outcome::nothing);
}

TEST_CASE("a shorter text in the very message that a rule names stays, and what broke the rule goes", "[transaction]") {
    Conversation<> conversation = three_closed_rounds();
    auto edit = edit_with_rules(conversation);
    const Provenance cut{.origin = Origin::placeholder, .reason = "cut"};
    std::vector<EditGroup> edit_groups;
    edit_groups.push_back(edit.begin_edit_group());
    edit.set_text(2, 0, "short", cut);
    edit_groups.push_back(edit.begin_edit_group());
    edit.set_text(4, 0, "short", cut);
    edit_groups.push_back(edit.begin_edit_group());
    edit.erase(3, {});  // the result at 4 has no call then
    CHECK(edit.drop_invalid_edit_groups(edit_groups) == std::vector<EditGroup>{edit_groups[2]});
    CHECK(edit.commit().committed());
    CHECK(conversation.messages()[2].parts[0].text == "short");
    CHECK(conversation.messages()[4].parts[0].text == "short");
}

TEST_CASE("a text that breaks a rule by itself is taken back, the erased round beside it stays out", "[transaction]") {
    Conversation<> conversation = three_closed_rounds();
    auto edit = edit_with_rules(conversation);
    std::vector<EditGroup> edit_groups;
    edit_groups.push_back(edit.begin_edit_group());
    edit.replace_range(1, 3, {}, {});
    edit_groups.push_back(edit.begin_edit_group());
    edit.set_text(2, 0, "\xFF", {});
    CHECK(edit.drop_invalid_edit_groups(edit_groups) == std::vector<EditGroup>{edit_groups[1]});
    CHECK(edit.commit().committed());
    CHECK(conversation.size() == 7);
    CHECK(conversation.messages()[2].parts[0].text == std::string(400, 'x'));
}
