#include "whittle/message/validity.hpp"

#include "support/catch.hpp"
#include "whittle/message/chat_message.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace whittle;

namespace {

using Messages = std::vector<ChatMessage>;
using Rules = std::vector<Rule>;

std::vector<Violation> check(const Messages& messages, const ValidityProfile& profile = openai_chat()) {
    return validate(std::span<const ChatMessage>(messages), profile);
}

Rules rules_broken(const Messages& messages, const ValidityProfile& profile = openai_chat()) {
    Rules rules;
    for (const Violation& violation : check(messages, profile)) rules.push_back(violation.rule);
    return rules;
}

ChatMessage system() { return ChatMessage::system("s"); }
ChatMessage user() { return ChatMessage::user("u"); }
ChatMessage reply() { return ChatMessage::assistant("a"); }
ChatMessage call(const std::string& id, const std::string& arguments = "{}") {
    return ChatMessage{Role::assistant, {}}.call(id, "ls", arguments);
}
ChatMessage calls(const std::string& a, const std::string& b) { return call(a).call(b, "ls"); }
ChatMessage result(const std::string& id) { return ChatMessage::result(id, "ls", "out"); }

}  // namespace

TEST_CASE("a plain tool conversation breaks no rule", "[validity]") {
    const Messages messages{system(), user(), calls("c1", "c2"), result("c2"), result("c1"), reply(), user()};
    CHECK(check(messages).empty());
    CHECK(check(messages, openai_compatible()).empty());
}

TEST_CASE("G1: text, arguments, names and ids are UTF-8", "[validity]") {
    CHECK(rules_broken({ChatMessage::user("\xFF")}) == Rules{Rule::G1_utf8});
    CHECK(rules_broken({user(), call("c\xFF"), result("c\xFF"), reply()}) == Rules{Rule::G1_utf8, Rule::G1_utf8});
}

TEST_CASE("G2: a call has exactly one result", "[validity]") {
    const auto second = check({user(), call("c"), result("c"), result("c"), reply()});
    REQUIRE(second.size() == 1);
    CHECK(second[0] == Violation{Rule::G2_paired, 3, 0, 4, "tool call \"c\" has a second result"});

    const ValidityProfile pairs{.name = "pairs", .rules = {Rule::G2_paired}};
    const auto missing = check({user(), calls("c1", "c2"), result("c1"), reply()}, pairs);
    REQUIRE(missing.size() == 1);
    CHECK(missing[0] == Violation{Rule::G2_paired, 1, 1, 2, "tool call \"c2\" has no result"});

    const auto orphan = check({user(), result("x"), reply()}, pairs);
    REQUIRE(orphan.size() == 1);
    CHECK(orphan[0] == Violation{Rule::G2_paired, 1, 0, 2, "the result for tool call \"x\" has no call before it"});
}

TEST_CASE("G2: a result before its call is an orphan, and the call lacks one", "[validity]") {
    const ValidityProfile pairs{.name = "pairs", .rules = {Rule::G2_paired}};
    CHECK(rules_broken({user(), result("c"), call("c"), reply()}, pairs) == Rules{Rule::G2_paired, Rule::G2_paired});
}

TEST_CASE("G2: several text blocks and media with one id in a message are one result", "[validity]") {
    ChatMessage blocks = result("c");
    blocks.parts.push_back(Part{PartKind::tool_result, "more", "c"});
    blocks.parts.push_back(Part{PartKind::media, {}, "c"});
    CHECK(check({user(), call("c"), blocks, reply()}).empty());
}

TEST_CASE("G2: the open round may lack results but not have two or a stranger's", "[validity]") {
    CHECK(check({user(), calls("c1", "c2")}).empty());
    CHECK(check({user(), calls("c1", "c2"), result("c2")}).empty());
    CHECK(rules_broken({user(), calls("c1", "c2"), result("c2"), result("c2")}) == Rules{Rule::G2_paired});
    const Rules stranger = rules_broken({user(), call("c"), result("x")});
    CHECK(std::ranges::count(stranger, Rule::G2_paired) == 1);
}

TEST_CASE("G3: a call id is used once", "[validity]") {
    const auto found = check({user(), call("c"), result("c"), call("c"), result("c"), reply()});
    REQUIRE(found.size() == 1);
    CHECK(found[0] == Violation{Rule::G3_unique_ids, 3, 0, 4, "tool call id \"c\" was used before"});
}

TEST_CASE("G4: arguments are an object", "[validity]") {
    for (const char* arguments : {"", "[]", "1", "{\"a\":"}) {
        CHECK(rules_broken({user(), call("c", arguments), result("c"), reply()}) == Rules{Rule::G4_object_arguments});
    }
}

TEST_CASE("G7: a list has a user message", "[validity]") {
    const auto empty = check({});
    REQUIRE(empty.size() == 1);
    CHECK(empty[0] == Violation{Rule::G7_has_user, 0, 0, 0, "the list is empty"});
    const auto without = check({system(), reply()});
    REQUIRE(without.size() == 1);
    CHECK(without[0] == Violation{Rule::G7_has_user, 2, 0, 0, "the list has no user message"});
    CHECK(check({ChatMessage{Role::user, {Part{PartKind::media}}}}).empty());
    const ChatMessage only_results{Role::user, {Part{PartKind::tool_result, "out", "c"}}};
    CHECK(rules_broken({call("c"), only_results}) == Rules{Rule::G7_has_user});
}

TEST_CASE("G8: names and ids keep to alphabet and length", "[validity]") {
    const auto named = [](const std::string& tool, const std::string& id, const ValidityProfile& profile) {
        return rules_broken({user(), ChatMessage{Role::assistant, {}}.call(id, tool), result(id), reply()}, profile);
    };
    const Rules broken{Rule::G8_names};
    CHECK(named("", "c", openai_chat()) == broken);
    CHECK(named("a b", "c", openai_chat()) == broken);
    CHECK(named("a.b", "c", openai_chat()) == broken);
    CHECK(named(std::string(64, 'a'), "c", openai_chat()).empty());
    CHECK(named(std::string(65, 'a'), "c", openai_chat()) == broken);
    CHECK(named("ls", "", openai_chat()) == broken);
    CHECK(named("ls", "any id: 1", openai_chat()).empty());

    ValidityProfile strict = openai_chat();
    strict.call_id_alphabet = true;
    strict.max_call_id = 4;
    CHECK(named("ls", "a-_9", strict).empty());
    CHECK(named("ls", "a-_90", strict) == broken);
    CHECK(named("ls", "a b", strict) == broken);
}

TEST_CASE("OC1: results follow their call before any other role", "[validity]") {
    CHECK(rules_broken({user(), call("c"), user()}) == Rules{Rule::OC1_results_follow});
    CHECK(rules_broken({user(), calls("c1", "c2"), result("c1"), user(), result("c2"), reply()}) ==
          Rules{Rule::OC1_results_follow, Rule::OC2_result_after_call});
    CHECK(rules_broken({user(), call("c"), reply()}) == Rules{Rule::G2_paired, Rule::OC1_results_follow});
}

TEST_CASE("OC1: a repair does not close the open round", "[validity]") {
    const Messages messages{user(), calls("c1", "c2"), result("c1"), ChatMessage::user("[image]")};
    std::vector<MessageInfo> infos;
    for (const ChatMessage& m : messages) {
        infos.push_back(describe(m));
        infos.back().serial = infos.size();
    }
    link_rounds(infos);
    CHECK(validate(Outline(infos), openai_chat()).size() == 1);
    infos[3].mark = std::make_shared<const Provenance>(Provenance{.origin = Origin::repair});
    CHECK(validate(Outline(infos), openai_chat()).empty());
}

TEST_CASE("OC1 and OC2 take a user message with results for a tool message", "[validity]") {
    const ChatMessage answer{Role::user, {Part{PartKind::tool_result, "out", "c"}, Part{PartKind::text, "and?"}}};
    CHECK(check({user(), call("c"), answer, reply()}).empty());
}

TEST_CASE("OC2: a tool message answers the call before it", "[validity]") {
    CHECK(rules_broken({user(), ChatMessage{Role::tool, {Part{PartKind::text, "out"}}}, reply()}) ==
          Rules{Rule::OC2_result_after_call});
    const ValidityProfile order{.name = "order", .rules = {Rule::OC2_result_after_call}};
    const auto found = check({user(), call("c"), reply(), result("c")}, order);
    REQUIRE(found.size() == 1);
    CHECK(found[0] == Violation{Rule::OC2_result_after_call, 3, 0, 4,
                                "the result for tool call \"c\" does not stand right after its call"});
    CHECK(rules_broken({user(), call("a"), result("a"), call("b"), result("a")}, order) ==
          Rules{Rule::OC2_result_after_call});
}

TEST_CASE("OC3: an assistant message says or calls something", "[validity]") {
    const Rules broken{Rule::OC3_content};
    CHECK(rules_broken({user(), ChatMessage{Role::assistant, {}}}) == broken);
    CHECK(rules_broken({user(), ChatMessage::assistant("")}) == broken);
    CHECK(rules_broken({user(), ChatMessage{Role::assistant, {Part{PartKind::thinking, "hm"}}}}) == broken);
    CHECK(rules_broken({user(), ChatMessage{Role::assistant, {Part{PartKind::other}}}}).empty());
}

TEST_CASE("OC6: compatible servers ask for more", "[validity]") {
    const ValidityProfile& strict = openai_compatible();
    CHECK(rules_broken({user(), reply()}, strict) == Rules{Rule::OC6_last_role});
    CHECK(rules_broken({system(), reply(), user()}, strict) == Rules{Rule::OC6_alternation});
    CHECK(rules_broken({system(), user(), reply(), system(), user()}, strict) == Rules{Rule::OC6_system_first});
    CHECK(rules_broken({system(), system(), user()}, strict) == Rules{Rule::OC6_system_first});
    ChatMessage shot = result("c");
    shot.parts.push_back(Part{PartKind::media, {}, "c"});
    CHECK(rules_broken({user(), call("c"), shot}, strict) == Rules{Rule::OC6_text_only_results});
    CHECK(rules_broken({user(), reply(), reply(), user()}, strict).empty());  // the assistant's neighbours are merged
    CHECK(rules_broken({user(), user(), reply(), user()}, strict) == Rules{Rule::OC6_user_turns});
    CHECK(rules_broken({user(), call("c"), result("c"), user()}, strict) == Rules{Rule::OC6_user_turns});
    CHECK(check({system(), reply(), system(), user(), reply()}).empty());  // OpenAI itself does not mind
}

TEST_CASE("violations come in list order, one for each fact", "[validity]") {
    const auto found = check({user(), call("c", "[]"), user(), ChatMessage::user("\xFF"), result("x")});
    std::vector<std::size_t> places;
    for (const Violation& v : found) places.push_back(v.message_index);
    CHECK(std::ranges::is_sorted(places));
    CHECK(rules_broken({user(), call("c", "[]"), user(), ChatMessage::user("\xFF"), result("x")}) ==
          Rules{Rule::G4_object_arguments, Rule::OC1_results_follow, Rule::G1_utf8, Rule::G2_paired,
                Rule::OC2_result_after_call});
}

TEST_CASE("a violation shows hostile ids short and as UTF-8", "[validity]") {
    const ValidityProfile pairs{.name = "pairs", .rules = {Rule::G2_paired}};
    const auto found = check({user(), result("\xFF" + std::string(1'000'000, 'x'))}, pairs);
    REQUIRE(found.size() == 1);
    CHECK(found[0].text ==
          "the result for tool call \"\xEF\xBF\xBD" + std::string(63, 'x') + "...\" has no call before it");
}

TEST_CASE("only what was not there before is new", "[validity]") {
    const Violation old{Rule::G2_paired, 3, 0, 7, "tool call \"a\" has no result"};
    Violation moved = old;
    moved.message_index = 1;
    moved.text = "worded otherwise";
    Violation other_message = old;
    other_message.serial = 8;
    Violation other_rule = old;
    other_rule.rule = Rule::G1_utf8;

    CHECK(new_violations({old}, {moved}).empty());
    CHECK(new_violations({old}, {}).empty());
    CHECK(new_violations({}, {old}) == std::vector{old});
    CHECK(new_violations({old}, {other_message, other_rule}) == std::vector{other_message, other_rule});
}

TEST_CASE("a second violation of a rule in the same message is new", "[validity]") {
    const Violation a{Rule::G2_paired, 3, 0, 7, "tool call \"a\" has no result"};
    const Violation b{Rule::G2_paired, 3, 1, 7, "tool call \"b\" has no result"};
    CHECK(new_violations({b}, {a, b}) == std::vector{a});
    CHECK(new_violations({a, b}, {a, b}).empty());
}

TEST_CASE("profiles and rules are found by name", "[validity]") {
    CHECK(find_validity_profile("openai_chat") == &openai_chat());
    CHECK(find_validity_profile("openai_compatible") == &openai_compatible());
    CHECK(find_validity_profile("nobody") == nullptr);
    CHECK(find_validity_profile("anthropic") == &anthropic_messages());
    CHECK(find_validity_profile("anthropic_thinking") == &anthropic_thinking());
    CHECK(find_validity_profile("gemini") == &gemini_chat());
    CHECK(validity_profiles().size() == 5);
    CHECK(to_string(Rule::G2_paired) == "G2");
    CHECK(to_string(Rule::OC1_results_follow) == "OC1");
    CHECK(severity_of(Rule::G1_utf8) == Severity::refused);
    CHECK(to_string(static_cast<Rule>(99)) == "unknown");
    CHECK(openai_chat().rules.size() == 11);
    CHECK(openai_compatible().rules.size() == 16);
}

TEST_CASE("G8: OpenAI takes call ids of 40 characters and no more", "[validity]") {
    for (const std::size_t length : {1U, 40U, 41U, 46U}) {
        const std::string id(length, 'c');
        CAPTURE(length);
        CHECK(rules_broken({user(), call(id), result(id)}, openai_chat()) ==
              (length <= 40 ? Rules{} : Rules{Rule::G8_names}));
    }
}
