#include "whittle/conversation/detail/object_names.hpp"

#include "support/catch.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/conversation/transaction.hpp"

#include <string>

using namespace whittle;

namespace {

MessageInfo call(const std::string& id, const std::string& tool) {
    MessageInfo info{.serial = 1, .role = Role::assistant};
    info.parts.push_back({.kind = PartKind::tool_call, .call_id = id, .tool = tool});
    return info;
}

Conversation<> with_two_rounds() {
    Conversation<> c("names");
    c.push_back(ChatMessage::user("do"));
    for (const std::string id : {"call_0123456789abcdef", "call_fedcba9876543210"}) {
        c.push_back(ChatMessage::assistant("").call(id, "read"));
        c.push_back(ChatMessage::result(id, "read", "text of " + id));
    }
    return c;
}

/// Every id, name and tool that is the same in two of the messages 1 to 4 is held once.
void check_shared(const Conversation<>& c) {
    const auto part = [&](std::size_t i) -> const PartInfo& { return c.outline()[i].parts.front(); };
    for (const std::size_t i : {1u, 3u}) {
        CHECK(part(i).call_id.shares_with(part(i + 1).call_id));
        CHECK(part(i).key_safe_call_id.shares_with(part(i).call_id));
        CHECK(part(i).key_safe_call_id.shares_with(part(i + 1).key_safe_call_id));
        CHECK(part(i).tool.shares_with(part(i + 1).tool));
    }
    CHECK(part(1).tool.shares_with(part(3).tool));
}

}  // namespace

TEST_CASE("object names are the safe and free call ids themselves, others in a safe and numbered form",
          "[object_names]") {
    ObjectNames names;
    const SharedString id = "call_1";
    CHECK(names.assign(id).shares_with(id));
    CHECK(names.assign("call_1") == "call_1-2");
    CHECK(names.assign("CALL_1") == "CALL_1-3");
    CHECK(names.assign("Call_2") == "Call_2");
    CHECK(names.assign("call_2") == "call_2-2");
    CHECK(names.assign(std::string(64, 'a')) == std::string(64, 'a'));
    CHECK(names.assign(std::string(64, 'A')) == std::string(62, 'A') + "-2");
    for (const std::string& unsafe : {std::string(65, 'a'), std::string("../x"), std::string()}) {
        const SharedString name = names.assign(unsafe);
        CHECK(name == to_safe_name(unsafe));
        CHECK(is_safe_name(names.assign(unsafe)));
    }
}

TEST_CASE("a name in use is not given, one that was given back is", "[object_names]") {
    ObjectNames names;
    names.take("Call_1");
    MessageInfo info = call("call_1", "read");
    names.assign_to(info);
    CHECK(info.parts.front().key_safe_call_id == "call_1-2");
    names.release(info);
    MessageInfo again = call("call_1", "read");
    names.assign_to(again);
    CHECK(again.parts.front().key_safe_call_id == "call_1-2");
}

TEST_CASE("calls of one tool share its name, up to 256 tools", "[object_names]") {
    ObjectNames names;
    MessageInfo first = call("a", "read");
    names.assign_to(first);
    for (int i = 0; i < 255; ++i) {
        MessageInfo other = call("b" + std::to_string(i), "tool" + std::to_string(i));
        names.assign_to(other);
    }
    MessageInfo second = call("c", "read");
    names.assign_to(second);
    CHECK(second.parts.front().tool.shares_with(first.parts.front().tool));
    MessageInfo late = call("d", "late");
    names.assign_to(late);
    MessageInfo later = call("e", "late");
    names.assign_to(later);
    CHECK(later.parts.front().tool == "late");
    CHECK_FALSE(later.parts.front().tool.shares_with(late.parts.front().tool));
}

TEST_CASE("messages hold equal ids and names once: appended, edited, undone and loaded", "[object_names]") {
    Conversation<> c = with_two_rounds();
    check_shared(c);
    {
        auto edit = c.edit("test");
        edit.set_text(2, 0, "short", {.reason = "test"});
        edit.commit();
    }
    REQUIRE(text_of(c.messages()[2], 0) == "short");
    check_shared(c);
    REQUIRE(c.undo());
    check_shared(c);
    check_shared(Conversation<>::from_state(c.state()));
}
