// What repair does about each kind of damage, and as a stage of a chain. Generated histories: repair_generated.cpp.
#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace whittle;

namespace {

using List = std::vector<ChatMessage>;

Conversation<> conversation_of(const List& messages) {
    Conversation<> c("repair");
    for (const ChatMessage& m : messages) c.push_back(m);
    return c;
}

ChatMessage call(const std::string& id, const std::string& arguments = "{}") {
    return ChatMessage::assistant().call(id, "read", arguments);
}

ChatMessage result(const std::string& id, const std::string& text = "text") {
    return ChatMessage::result(id, "read", text);
}

/// "role call_id" of every message.
std::vector<std::string> shape(const Conversation<>& c) {
    std::vector<std::string> lines;
    for (const ChatMessage& m : c.messages()) {
        std::string line(to_string(m.role));
        for (const Part& part : m.parts) line += part.call_id.empty() ? "" : " " + part.call_id;
        lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> codes(const RepairResult& r) {
    std::vector<std::string> all;
    for (const Repair& repair : r.repairs) all.emplace_back(repair.code);
    return all;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a history that breaks no rule is left alone", "[repair]") {
    Conversation<> c =
        conversation_of({ChatMessage::user("q"), call("a"), result("a"), ChatMessage::assistant("done")});
    const std::uint64_t version = c.version();
    CHECK(c.repair(openai_chat()).outcome == Outcome::not_due);
    CHECK(c.version() == version);
    CHECK(c.journal().empty());
}

TEST_CASE("missing results are written directly behind their calls", "[repair]") {
    Conversation<> c = conversation_of({ChatMessage::user("q"), call("a"), ChatMessage::assistant("went on"), call("b"),
                                        ChatMessage::user("again"), ChatMessage::assistant("done")});
    const RepairResult r = c.repair(openai_chat());
    CHECK(codes(r) == Lines{"missing_result", "missing_result"});
    CHECK(shape(c) ==
          Lines{"user", "assistant a", "tool a", "assistant", "assistant b", "tool b", "user", "assistant"});
    const Part& written = c.messages()[2].parts[0];
    CHECK(written.is_error);
    CHECK(written.tool == "read");
    CHECK(written.text == "[No result: it is missing from the history. Call the tool again if the result is needed.]");
    CHECK(origin_of(c.outline()[2].mark) == Origin::repair);
    CHECK(c.outline()[2].mark->reason == "missing_result");
    CHECK(c.outline()[2].round_serial == c.outline()[1].round_serial);
}

TEST_CASE("a result for the second of two calls is written behind that of the first", "[repair]") {
    ChatMessage both = call("a");
    both.call("b", "read");
    Conversation<> c = conversation_of({ChatMessage::user("q"), both, result("a"), ChatMessage::user("next")});
    c.repair(openai_chat(), {.language = Language::chinese});
    CHECK(shape(c) == Lines{"user", "assistant a b", "tool a", "tool b", "user"});
    CHECK(c.messages()[3].parts[0].text.find("没有结果") != std::string::npos);
}

TEST_CASE("calls that still run stay open", "[repair]") {
    ChatMessage both = call("a");
    both.call("b", "read");
    Conversation<> c = conversation_of({ChatMessage::user("q"), result("nobody"), both, result("b")});
    const RepairResult r = c.repair(openai_chat());
    CHECK(codes(r) == Lines{"orphan_result"});
    CHECK(shape(c) == Lines{"user", "assistant a b", "tool b"});
    CHECK(r.remaining.empty());
}

TEST_CASE("a running call with arguments that no tool can take is answered", "[repair]") {
    Conversation<> c = conversation_of({ChatMessage::user("q"), call("a", "not json")});
    c.repair(openai_chat());
    CHECK(c.messages()[1].parts[0].text == "{}");
    CHECK(origin_of(mark_of(c.outline()[1], 0)) == Origin::repair);
    CHECK(shape(c) == Lines{"user", "assistant a", "tool a"});
    REQUIRE(c.undo());
    CHECK(c.messages()[1].parts[0].text == "not json");
}

TEST_CASE("orphans and second results go, displaced results return to their call", "[repair]") {
    const List broken{ChatMessage::user("q"),        result("gone"),      call("a"),
                      ChatMessage::user("between"),  result("a", "mine"), result("a", "again"),
                      ChatMessage::assistant("done")};
    Conversation<> c = conversation_of(broken);
    const Serial displaced = c.outline()[4].serial;
    const RepairResult r = c.repair(openai_chat());
    CHECK(codes(r) == Lines{"orphan_result", "moved_result", "duplicate_result"});
    CHECK(shape(c) == Lines{"user", "assistant a", "tool a", "user", "assistant"});
    CHECK(c.messages()[2] == broken[4]);
    CHECK(c.outline()[2].serial == displaced);
    CHECK(origin_of(c.outline()[2].mark) == Origin::original);
    REQUIRE(c.undo());
    CHECK(std::ranges::equal(c.messages(), broken));
}

TEST_CASE("a result is never given to a later call, where its id was used twice", "[repair]") {
    Conversation<> c = conversation_of({ChatMessage::user("q"), result("a", "of a lost call"), call("a"),
                                        ChatMessage::user("next"), call("a"), result("a", "second")});
    c.repair(openai_chat());
    CHECK(shape(c) == Lines{"user", "assistant a", "tool a", "user", "assistant a_2", "tool a_2"});
    CHECK(c.messages()[2].parts[0].is_error);
    CHECK(c.messages()[5].parts[0].text == "second");
}

TEST_CASE("ids that every round uses again become different, and clearing still works", "[repair]") {
    List messages{ChatMessage::user("q")};
    for (int round = 0; round < 4; ++round) {
        messages.push_back(call("call_0"));
        messages.push_back(result("call_0", std::string(2'000, 'r')));
    }
    Conversation<> c = conversation_of(messages);
    ChainConfig config;
    config.repair = true;
    const Chain chain{config, Reduction<>{{.skip_truncation = true, .max_tokens_for_clear = 100}}};
    const Report& report = chain.before_model(c);
    REQUIRE(report.stages.size() == 2);
    CHECK(report.stages[0].middleware == "repair");
    CHECK(report.stages[0].outcome == Outcome::committed);
    CHECK(report.stages[0].details->repairs.size() == 3);
    CHECK(report.stages[0].details->violations_left == 0);
    CHECK(to_text(report).find("(duplicate_id)") != std::string::npos);
    CHECK(report.find("reduction")->outcome == Outcome::committed);
    CHECK(shape(c) == Lines{"user", "assistant call_0", "tool call_0", "assistant call_0_2", "tool call_0_2",
                            "assistant call_0_3", "tool call_0_3", "assistant call_0_4", "tool call_0_4"});
    CHECK(c.messages()[4].parts[0].text.size() < 300);
    CHECK(chain.before_model(c).stages[0].outcome == Outcome::not_due);
}

TEST_CASE("a chain repairs only where it is asked to, and a dry run repairs nothing", "[repair]") {
    for (const bool dry_run : {false, true}) {
        Conversation<> c = conversation_of({ChatMessage::user("q"), result("nobody")});
        ChainConfig config;
        config.repair = dry_run;
        config.dry_run = dry_run;
        const Report& report = Chain<>(config).before_model(c);
        CHECK(report.stages.size() == (dry_run ? 1U : 0U));
        if (dry_run) CHECK(report.stages[0].outcome == Outcome::planned);
        CHECK(c.size() == 2);
    }
}

TEST_CASE("before a request the assistant does not have the last word, at rest it may", "[repair]") {
    Conversation<> c = conversation_of({ChatMessage::user("q"), ChatMessage::assistant("a")});
    CHECK(c.repair(openai_compatible()).outcome == Outcome::nothing);
    CHECK(c.repair(openai_compatible(), {.for_request = true}).committed());
    CHECK(text_of(c.messages()[2]) == "Continue.");
    CHECK_FALSE(is_original_user_message(c.outline()[2]));
}

TEST_CASE("a reply that the model may go on with keeps the last word unless it ends in white space", "[repair]") {
    for (const bool ends_in_space : {false, true}) {
        Conversation<> c = conversation_of({ChatMessage::user("q"), call("a"), ChatMessage::user("well?"),
                                            ChatMessage::assistant(ends_in_space ? "It is " : "It is")});
        CHECK(c.repair(anthropic_messages(), {.for_request = true}).committed());  // a has no result
        CHECK(shape(c).back() == (ends_in_space ? "user" : "assistant"));
    }
}

TEST_CASE("before a request a round that is answered in part is answered whole", "[repair]") {
    Conversation<> c = conversation_of({ChatMessage::user("q"), call("a").call("b", "read"), result("a")});
    CHECK(c.repair(anthropic_messages()).outcome == Outcome::not_due);  // b may still run
    CHECK(codes(c.repair(anthropic_messages(), {.for_request = true})) == Lines{"missing_result"});
    CHECK(shape(c) == Lines{"user", "assistant a b", "tool a", "tool b"});
    CHECK(c.repair(anthropic_messages(), {.for_request = true}).outcome == Outcome::not_due);

    Conversation<> running = conversation_of({ChatMessage::user("q"), call("a")});
    CHECK(running.repair(anthropic_messages(), {.for_request = true}).outcome == Outcome::not_due);
}

TEST_CASE("tool names that the provider takes stay, others keep what they can", "[repair]") {
    const auto call_of = [](const char* id, const char* tool) { return ChatMessage::assistant().call(id, tool); };
    Conversation<> c = conversation_of({ChatMessage::user("q"), call_of("a", "fs.read"), result("a"),
                                        call_of("b", "9 lives.x"), result("b"), ChatMessage::user("on")});
    c.repair(gemini_chat());
    CHECK(c.messages()[1].parts[0].tool == "fs.read");
    CHECK(c.messages()[3].parts[0].tool == "_9_lives.x");
    CHECK(validate(c.messages(), gemini_chat()).empty());
}

TEST_CASE("a result of several parts is named by its first one, where the provider asks for its call's name",
          "[repair]") {
    const auto repaired = [](const char* first, const char* second) {
        ChatMessage answer = ChatMessage::result("a", first, "1");
        answer.parts.push_back(ChatMessage::result("a", second, "2").parts[0]);
        Conversation<> c = conversation_of({ChatMessage::user("q"), result("x"), call("a"), answer});
        c.repair(gemini_chat());
        CHECK(validate(c.messages(), gemini_chat()).empty());
        return Lines{c.messages()[2].parts[0].tool, c.messages()[2].parts[1].tool};
    };
    CHECK(repaired("read", "other") == Lines{"read", "other"});  // no rule asks about it
    CHECK(repaired("other", "else") == Lines{"read", "read"});
    CHECK(repaired("", "other") == Lines{"", "other"});
}

TEST_CASE("an empty conversation is not repaired", "[repair]") {
    Conversation<> c("empty");
    CHECK(c.repair(openai_chat()).repairs.empty());
    CHECK(c.size() == 0);
}

TEST_CASE("a late system message keeps its text in a user message", "[repair]") {
    Conversation<> c =
        conversation_of({ChatMessage::system("rules"), ChatMessage::user("q"), ChatMessage::assistant("a"),
                         ChatMessage::system("more"), ChatMessage::user("next")});
    c.repair(openai_compatible());
    CHECK(shape(c) == Lines{"system", "user", "assistant", "user", "assistant", "user"});
    CHECK(text_of(c.messages()[3]) == "more");
    CHECK(text_of(c.messages()[4]) == "Noted.");  // two messages of the user do not stand in a row there
}

TEST_CASE("thinking that is not UTF-8 goes whole, other text keeps what is valid", "[repair]") {
    ChatMessage m{Role::assistant, {{PartKind::thinking, "\xC3("}, {PartKind::text, "a\xFF"}}};
    Conversation<> c = conversation_of({ChatMessage::user("q"), m});
    c.repair(openai_chat());
    REQUIRE(c.messages()[1].parts.size() == 1);
    CHECK(c.messages()[1].parts[0].text == "a\xEF\xBF\xBD");
}

TEST_CASE("a repair in front of thinking is an edit of its prefix", "[repair]") {
    Conversation<> c = conversation_of({ChatMessage::user("q"),
                                        result("nobody"),
                                        {Role::assistant, {{PartKind::thinking, "t"}, {PartKind::text, "a"}}}});
    c.repair(openai_chat());
    CHECK(c.thinking_prefix_edited());
    REQUIRE(c.undo());
    CHECK_FALSE(c.thinking_prefix_edited());
}

TEST_CASE("a middleware may not be called repair in a chain that repairs", "[repair]") {
    ChainConfig config;
    config.repair = true;
    CHECK_THROWS_AS(Chain(config, Reduction<>{{}, {}, "repair"}), Error);
}

TEST_CASE("a history repaired before it goes on", "[repair]") {
    std::vector<ChatMessage> saved{ChatMessage::user("read it"), call("call_1"), ChatMessage::user("well?")};
    Conversation<> conversation("restored");
    for (ChatMessage& m : saved) conversation.push_back(std::move(m));
    const RepairResult repaired = conversation.repair(openai_chat());
    for (const Repair& repair : repaired.repairs) {
        // repair.code: "missing_result"; repair.text: what was done
        CHECK(repair.code == "missing_result");
    }
    CHECK(repaired.remaining.empty());
}
