#include "whittle/conversation/conversation.hpp"

#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"

#include <string>
#include <vector>

using namespace whittle;

namespace {

ChatMessage call(const std::string& id) { return ChatMessage::assistant("").call(id, "ls"); }

ToolReturn truncated(const std::string& id, std::shared_ptr<Storage> storage) {
    const std::string key = "c/trunc/" + id;
    storage->put_if_absent(key, "whole " + id);
    return {{id, "ls", {{.text = "head..."}}}, {{0, key, "reduction", storage}}};
}

}  // namespace

TEST_CASE("every user message starts a turn until the host begins one itself", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("a"));
    c.push_back(ChatMessage::assistant("b"));
    c.push_back(ChatMessage::user("c"));
    CHECK(c.turn_number() == 2);
    c.begin_turn();
    c.push_back(ChatMessage::user("d"));
    c.push_back(ChatMessage::user("e"));
    CHECK(c.turn_number() == 3);
    CHECK(c.outline()[4].turn == 3);
}

TEST_CASE("notes of a run end with it, others stay and are copied by fork", "[conversation]") {
    Conversation<> c;
    c.notes("m").set("once", std::int64_t{1}, NoteScope::run);
    c.notes("m").set("always", std::string("x"));
    c.begin_run();
    CHECK_FALSE(c.notes("m").integer("once"));
    CHECK(c.fork("f").notes("m").text("always") == "x");
    CHECK_FALSE(c.notes("other").text("always"));
}

TEST_CASE("a usage anchors the count with system text and tools on both sides", "[conversation]") {
    const std::string system(400, 's');
    Conversation<> c;
    SECTION("the counter was there first") { (void)c.context(chars_counter(), system, {}); }
    SECTION("the counter was there, but no request yet") { (void)c.tokens(chars_counter()); }
    SECTION("the counter comes later") {}
    c.push_back(ChatMessage::user(std::string(40, 'u')));
    c.push_back(ChatMessage::assistant(std::string(40, 'a')), Usage{.uncached_input = 500, .output = 20});
    c.push_back(ChatMessage::user(std::string(80, 'v')));
    const ContextCount count = c.context(chars_counter(), system, {});
    CHECK(count.anchored);
    CHECK(count.estimate == 140);
    CHECK(count.total == 520 + 20);
}

TEST_CASE("an edit after the usage makes it useless for a counter that comes later", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("one"));
    c.push_back(ChatMessage::assistant(std::string(400, 'a')), Usage{.uncached_input = 900});
    c.push_back(ChatMessage::user("two"));
    (void)c.context(chars_counter(), {}, {});
    auto edit = c.edit("test");
    edit.erase(1, {.reason = "test"});
    REQUIRE(edit.commit().committed());
    CHECK(c.context(chars_counter(), {}, {}).total ==
          900 - 4 * 100);  // at most four for one of ours; the rest is overhead
    CHECK_FALSE(c.context(pessimistic_counter(), {}, {}).anchored);
    REQUIRE(c.undo());
    CHECK(c.context(chars_counter(), {}, {}).total == 900);
    CHECK_FALSE(c.context(estimate_counter(), {}, {}).anchored);
}

TEST_CASE("a counter that comes while edits are planned counts these too", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user(std::string(300, 'u')));
    c.push_back(ChatMessage::assistant(std::string(300, 'a')));
    c.push_back(ChatMessage::user("x"));
    auto edit = c.edit("test");
    edit.set_text(1, 0, "short", {.reason = "test"});
    (void)c.tokens(pessimistic_counter());
    edit.commit();
    CHECK(c.tokens(pessimistic_counter()) == 100 + 2 + 1);
    CHECK(c.tokens(estimate_counter()) > 0);
    CHECK(c.outline()[1].tokens_by_counter.size() == 3);
}

TEST_CASE("a result that came in shortened can be restored and undone, also among equal ids", "[conversation]") {
    const auto storage = memory_storage();
    Conversation<> c;
    c.push_back(ChatMessage::user("do"));
    c.push_back(call("a").call("b", "ls"));
    c.push_tool_results(std::vector{truncated("a", storage), ToolReturn{.result = {"b", "ls", {{.text = "out"}}}}});
    REQUIRE(c.journal().size() == 1);
    CHECK(origin_of(c.outline()[2].parts[0].mark) == Origin::placeholder);
    c.restore_and_pin(3);
    CHECK(c.messages()[2].parts[0].text == "whole a");
    CHECK_THROWS_AS(c.restore_and_pin(3), Error);
    REQUIRE(c.undo());
    CHECK(c.messages()[2].parts[0].text == "head...");
    REQUIRE(c.undo());
    CHECK(c.messages()[2].parts[0].text == "whole a");
    CHECK(c.outline()[2].pinned);
    CHECK_FALSE(c.undo());
}

TEST_CASE("hostile, empty and repeated call ids get safe names of their own", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("do"));
    const std::vector<std::string> ids{"../../etc/passwd",       "",    "",    "Call", "call",
                                       std::string(10'240, 'x'), "a/b", "\xff"};
    ChatMessage calls = ChatMessage::assistant("");
    for (const std::string& id : ids) calls.call(id, "ls");
    c.push_back(calls);
    const Chain<> chain{ChainConfig{}};
    const auto contexts = chain.pending_tool_calls(c);
    REQUIRE(contexts.size() == ids.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(contexts[i].call_id == ids[i]);
        CHECK(is_safe_name(contexts[i].key_safe_call_id));
        names.push_back(ascii_lower(contexts[i].key_safe_call_id));
    }
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
    std::vector<ToolResult> results;
    for (const std::string& id : ids) results.push_back({id, "ls", {{.text = "out"}}});
    c.push_tool_results(results);
    CHECK(chain.pending_tool_calls(c).empty());
}

TEST_CASE("sync keeps rounds together when the host edits a call", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("do"));
    c.push_back(call("a"));
    c.push_back(ChatMessage::result("a", "ls", "out"));
    c.push_back(ChatMessage::assistant("done"));
    std::vector<ChatMessage> host(c.messages().begin(), c.messages().end());
    host[1].parts.push_back({.text = "thinking aloud"});
    const SyncResult result = c.sync(host);
    CHECK(result.diverged);
    CHECK(result.removed_or_replaced == 1);
    REQUIRE(c.outline().rounds().size() == 1);
    CHECK(c.outline().rounds()[0].results == std::vector<std::size_t>{2});
    CHECK(c.outline()[2].serial == 3);
}

TEST_CASE("apply_to refuses a list that cannot be the one of that version, and leaves it alone", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("do"));
    const auto version = c.version();
    std::vector<ChatMessage> host{ChatMessage::user("do"), ChatMessage::user("more")};
    const auto before = host;
    CHECK_THROWS_AS(c.apply_to(host, version), Error);
    CHECK(host == before);
    auto loaded = Conversation<>::from_state(c.state());
    CHECK_THROWS_AS(loaded.replacements_since(0), Error);
    CHECK(loaded.replacements_since(loaded.version()).empty());
}

TEST_CASE("sync says how many of our messages the host no longer has", "[conversation]") {
    Conversation<> c;
    for (const char* text : {"a", "b", "c", "d"}) c.push_back(ChatMessage::user(text));
    const std::vector<ChatMessage> host{c.messages()[0], c.messages()[3]};
    const SyncResult result = c.sync(host);
    CHECK(result.diverged);
    CHECK(result.common_prefix == 1);
    CHECK(result.removed_or_replaced == 2);
    CHECK(c.size() == 2);
}

TEST_CASE("a message is not restored where alone it would break a rule", "[conversation]") {
    Conversation<> c;
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant("Let me look at it now.").call("x", "ls"));
    c.push_back(ChatMessage::result("x", "ls", "a.txt"));
    c.push_back(ChatMessage::assistant("One file."));
    auto edit = c.edit("cut");
    edit.erase_part(1, 1, {.reason = "cut"});
    edit.erase(2, {.reason = "cut"});
    REQUIRE(edit.commit().committed());
    try {
        c.restore_and_pin(2);
        FAIL("restored a call without its result");
    } catch (const Error& e) {
        CHECK(e.errc() == Errc::invalid_history);
        CHECK(std::string(e.what()).find("undo journal entry 1") != std::string::npos);
    }
    REQUIRE(c.undo());
    CHECK(c.size() == 4);
}

TEST_CASE("a plan does not survive a push that failed half-way, since messages have moved", "[conversation]") {
    int calls = 0;
    const auto counter = counter_from("once", [&](std::string_view text) {
        if (text == "second" && ++calls == 1) throw Error(Errc::callback_failed, "counter");
        return static_cast<std::int64_t>(text.size());
    });
    Conversation<> c;
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant("a long text that can be cut"));
    c.push_back(ChatMessage::assistant().call("x", "ls").call("y", "ls"));
    CHECK(c.tokens(counter) > 0);
    auto edit = c.edit("cut");
    edit.set_text(1, 0, "cut", {.reason = "cut"});
    const std::vector<ToolResult> results{{"x", "ls", {{.text = "first"}}}, {"y", "ls", {{.text = "second"}}}};
    CHECK_THROWS_AS(c.push_tool_results(results), Error);
    CHECK(c.size() == 3);
    CHECK_THROWS_AS(edit.commit(), Error);
    CHECK(c.journal().empty());
}
