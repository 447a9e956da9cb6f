#include "whittle/message/outline.hpp"

#include "support/catch.hpp"
#include "whittle/message/chat_message.hpp"

#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace whittle;

namespace {

std::vector<MessageInfo> infos_of(const std::vector<ChatMessage>& messages) {
    std::vector<MessageInfo> infos;
    for (const ChatMessage& m : messages) {
        MessageInfo info = describe(m);
        info.serial = infos.size() + 1;
        link_to_round(info, Outline(infos));
        infos.push_back(std::move(info));
    }
    return infos;
}

std::vector<Serial> groups_of(const std::vector<ChatMessage>& messages) {
    std::vector<Serial> groups;
    for (const MessageInfo& info : infos_of(messages)) groups.push_back(info.round_serial);
    return groups;
}

Mark mark_of(Origin origin) { return std::make_shared<const Provenance>(Provenance{.origin = origin}); }

ChatMessage calls(const std::vector<std::string>& ids) {
    ChatMessage message{.role = Role::assistant};
    for (const std::string& id : ids) message.call(id, "tool_" + id);
    return message;
}

ChatMessage result(const std::string& id) { return ChatMessage::result(id, "", "out"); }

}  // namespace

TEST_CASE("a part is described by sizes and flags, not by its text", "[outline]") {
    const PartInfo text = describe(PartView{.text = "  "});
    CHECK(text.text_bytes == 2);
    CHECK(text.is_blank);
    CHECK_FALSE(text.is_invalid_utf8);
    CHECK_FALSE(text.has_object_arguments);

    const PartInfo call = describe(PartView{.kind = PartKind::tool_call, .text = "{}", .call_id = "c", .tool = "ls"});
    CHECK(call.call_id == "c");
    CHECK(call.tool == "ls");
    CHECK(call.has_object_arguments);
    CHECK_FALSE(describe(PartView{.kind = PartKind::tool_call, .text = "[]"}).has_object_arguments);
    CHECK_FALSE(describe(PartView{.kind = PartKind::text, .text = "{}"}).has_object_arguments);
    CHECK(describe(PartView{.kind = PartKind::tool_result, .is_error = true}).is_error);
}

TEST_CASE("invalid UTF-8 is seen in text, id and name", "[outline]") {
    CHECK(describe(PartView{.text = "\xFF"}).is_invalid_utf8);
    CHECK(describe(PartView{.call_id = "\xFF"}).is_invalid_utf8);
    CHECK(describe(PartView{.tool = "\xFF"}).is_invalid_utf8);
}

TEST_CASE("every field of a part is in its fingerprint, and none flows into the next", "[outline]") {
    const PartView base{.kind = PartKind::text, .text = "ab", .call_id = "c"};
    const Hash128 hash = fingerprint(base, {});
    CHECK(fingerprint(base, {}) == hash);
    CHECK(fingerprint(base, {1, 0}) != hash);
    CHECK(fingerprint(PartView{.kind = PartKind::thinking, .text = "ab", .call_id = "c"}, {}) != hash);
    CHECK(fingerprint(PartView{.text = "a", .call_id = "bc"}, {}) != hash);
    CHECK(fingerprint(PartView{.text = "ab", .tool = "c"}, {}) != hash);
    CHECK(fingerprint(PartView{.text = "ab", .call_id = "c", .is_error = true}, {}) != hash);
    CHECK(fingerprint(PartView{.text = "ab", .call_id = "c", .media = {.mime = "m"}}, {}) != hash);
    CHECK(fingerprint(PartView{.text = "ab", .call_id = "c", .media = {.bytes = "m"}}, {}) !=
          fingerprint(PartView{.text = "ab", .call_id = "c", .media = {.url = "m"}}, {}));
    CHECK(fingerprint(PartView{.text = "ab", .call_id = "c", .media = {.width = 1}}, {}) !=
          fingerprint(PartView{.text = "ab", .call_id = "c", .media = {.height = 1}}, {}));
}

TEST_CASE("a message's fingerprint depends on role and order, and describe() gives the same", "[outline]") {
    const ChatMessage ab{Role::user, {Part{PartKind::text, "a"}, Part{PartKind::text, "b"}}};
    const ChatMessage ba{Role::user, {Part{PartKind::text, "b"}, Part{PartKind::text, "a"}}};
    CHECK(fingerprint(ab) != fingerprint(ba));
    CHECK(fingerprint(ChatMessage::user("a")) != fingerprint(ChatMessage::assistant("a")));
    CHECK(fingerprint(ab) == describe(ab).fingerprint);
}

TEST_CASE("a user message is original and has text of its own", "[outline]") {
    CHECK(is_original_user_message(describe(ChatMessage::user("hi"))));
    CHECK_FALSE(is_original_user_message(describe(ChatMessage::user(""))));
    CHECK_FALSE(is_original_user_message(describe(ChatMessage::assistant("hi"))));
    CHECK_FALSE(is_original_user_message(describe(ChatMessage{Role::user, {Part{PartKind::tool_result, "out", "c"}}})));
    MessageInfo summary = describe(ChatMessage::user("so far"));
    summary.mark = mark_of(Origin::summary);
    CHECK_FALSE(is_original_user_message(summary));
}

TEST_CASE("the newest user message is not a nudge after it", "[outline]") {
    std::vector<MessageInfo> infos =
        infos_of({ChatMessage::user("a"), ChatMessage::user("b"), ChatMessage::assistant("c"), ChatMessage::user("n")});
    infos[3].mark = mark_of(Origin::nudge);
    CHECK(Outline(infos).newest_turn_start() == 1u);
    CHECK_FALSE(Outline().newest_turn_start());
}

TEST_CASE("the round is open until the model's next message", "[outline]") {
    const auto open = infos_of({ChatMessage::user("u"), calls({"c"}), result("c"), ChatMessage::user("more")});
    CHECK(Outline(open).open_round_begin() == 1u);
    CHECK(Outline(open).open_round_serial() == 2);

    const auto closed = infos_of({ChatMessage::user("u"), calls({"c"}), result("c"), ChatMessage::assistant("done")});
    CHECK_FALSE(Outline(closed).open_round_begin());
    CHECK(Outline(closed).open_round_serial() == 0);
    CHECK_FALSE(Outline().open_round_begin());
}

TEST_CASE("a message is found by its serial", "[outline]") {
    const auto infos = infos_of({ChatMessage::user("u"), ChatMessage::assistant("a")});
    CHECK(Outline(infos).index_of(2) == 1u);
    CHECK_FALSE(Outline(infos).index_of(3));
}

TEST_CASE("an overlay is read through its pointers", "[outline]") {
    const auto infos = infos_of({ChatMessage::user("u"), calls({"c"}), result("c")});
    const std::vector<const MessageInfo*> picked{&infos[1], &infos[2]};
    const Outline outline{std::span<const MessageInfo* const>(picked)};
    CHECK(outline.size() == 2);
    CHECK(outline[0].serial == 2);
    CHECK(outline.rounds().size() == 1);
    CHECK(Outline(std::span<const MessageInfo* const>()).size() == 0);
}

TEST_CASE("results join the round of their call and take its tool's name", "[groups]") {
    const auto infos = infos_of({ChatMessage::user("u"), calls({"c1", "c2"}), result("c2"), result("c1")});
    CHECK(groups_of({ChatMessage::user("u"), calls({"c1", "c2"}), result("c2"), result("c1")}) ==
          std::vector<Serial>{0, 2, 2, 2});
    CHECK(infos[2].parts[0].tool == "tool_c2");
    CHECK(infos[3].parts[0].tool == "tool_c1");
}

TEST_CASE("a tool name that a result brings is kept", "[groups]") {
    const auto infos = infos_of({calls({"c"}), ChatMessage::result("c", "own", "out")});
    CHECK(infos[1].parts[0].tool == "own");
}

TEST_CASE("media inside a result is named too", "[groups]") {
    ChatMessage shot{Role::tool, {Part{PartKind::media, {}, "c"}}};
    const auto infos = infos_of({calls({"c"}), shot});
    CHECK(infos[1].round_serial == 1);
    CHECK(infos[1].parts[0].tool == "tool_c");
}

TEST_CASE("a user message with results belongs to the round", "[groups]") {
    const ChatMessage answer{Role::user, {Part{PartKind::tool_result, "out", "c"}, Part{PartKind::text, "and now?"}}};
    CHECK(groups_of({ChatMessage::user("u"), calls({"c"}), answer, ChatMessage::user("x")}) ==
          std::vector<Serial>{0, 2, 2, 0});
}

TEST_CASE("a reused id is answered newest first, then older", "[groups]") {
    CHECK(groups_of({calls({"c"}), result("c"), calls({"c"}), result("c")}) == std::vector<Serial>{1, 1, 3, 3});
    CHECK(groups_of({calls({"c"}), calls({"c"}), result("c"), result("c")}) == std::vector<Serial>{1, 2, 2, 1});
    CHECK(groups_of({calls({"c"}), result("c"), result("c")}) == std::vector<Serial>{1, 1, 1});
}

TEST_CASE("a result without a call is in no round", "[groups]") {
    CHECK(groups_of({ChatMessage::user("u"), result("x"), calls({"x"})}) == std::vector<Serial>{0, 0, 3});
}

TEST_CASE("a repair right after a round joins it, anything else does not", "[groups]") {
    std::vector<MessageInfo> infos = infos_of({ChatMessage::user("u"), calls({"c"}), result("c")});
    MessageInfo repair = describe(ChatMessage::user("[image]"));
    repair.serial = 4;
    repair.mark = mark_of(Origin::repair);
    link_to_round(repair, Outline(infos));
    CHECK(repair.round_serial == 2);

    MessageInfo nudge = repair;
    nudge.mark = mark_of(Origin::nudge);
    link_to_round(nudge, Outline(infos));
    CHECK(nudge.round_serial == 0);

    MessageInfo first = repair;
    link_to_round(first, Outline());
    CHECK(first.round_serial == 0);
    link_to_round(first, Outline(std::span<const MessageInfo>(infos).first(1)));
    CHECK(first.round_serial == 0);
}

TEST_CASE("rounds are found by group, also when interleaved", "[outline]") {
    const auto infos = infos_of({calls({"a"}), calls({"b1", "b2"}), result("b2"), result("a"), ChatMessage::user("u"),
                                 result("b1"), calls({"c"})});
    const std::vector<Round> rounds = Outline(infos).rounds();
    REQUIRE(rounds.size() == 3);
    CHECK(rounds[0].round_serial == 1);
    CHECK(rounds[0].results == std::vector<std::size_t>{3});
    CHECK(rounds[1].call_message_index == 1);
    CHECK(rounds[1].results == std::vector<std::size_t>{2, 5});
    CHECK(rounds[2].call_message_index == 6);
    CHECK(rounds[2].results.empty());
    CHECK(Outline().rounds().empty());
}

TEST_CASE("cut points leave every tool round whole", "[outline]") {
    auto infos = infos_of({ChatMessage::user("u"), calls({"a", "b"}), result("b"), result("a"),
                           ChatMessage::assistant("done"), ChatMessage::user("more"), calls({"c"})});
    CHECK(Outline(infos).cut_points() == std::vector<std::size_t>{1, 4, 5, 6});
    // A result that came late holds together what stands between.
    infos = infos_of({calls({"a"}), ChatMessage::user("u"), calls({"b"}), result("b"), result("a"), calls({"c"})});
    CHECK(Outline(infos).cut_points() == std::vector<std::size_t>{5});
    CHECK(Outline().cut_points().empty());
}

TEST_CASE("joining a whole list is the same as joining one by one", "[groups]") {
    std::mt19937 random(23);
    const std::vector<std::string> ids{"a", "b", "c"};
    for (int round = 0; round < 500; ++round) {
        std::vector<MessageInfo> one_by_one;
        std::vector<MessageInfo> at_once;
        for (auto n = random() % 12; n > 0; --n) {
            ChatMessage message;
            for (auto p = random() % 3; p > 0; --p) {
                const auto kind = random() % 3 == 0 ? PartKind::tool_call : PartKind::tool_result;
                message.parts.push_back(
                    Part{kind, "{}", ids[random() % ids.size()], kind == PartKind::tool_call ? "t" : ""});
            }
            MessageInfo info = describe(message);
            info.serial = one_by_one.size() + 1;
            if (random() % 4 == 0) info.mark = mark_of(Origin::repair);
            at_once.push_back(info);
            link_to_round(info, Outline(one_by_one));
            one_by_one.push_back(std::move(info));
        }
        link_rounds(at_once);
        for (std::size_t i = 0; i < at_once.size(); ++i) {
            CHECK(at_once[i].round_serial == one_by_one[i].round_serial);
            for (std::size_t p = 0; p < at_once[i].parts.size(); ++p) {
                CHECK(at_once[i].parts[p].tool == one_by_one[i].parts[p].tool);
            }
        }
    }
}

TEST_CASE("an origin has a name, and the name gives it back", "[provenance]") {
    for (int i = 0; i <= static_cast<int>(Origin::transient); ++i) {
        CHECK(origin_or_original(to_string(static_cast<Origin>(i))) == static_cast<Origin>(i));
    }
    CHECK(to_string(Origin::placeholder) == "placeholder");
    CHECK(origin_or_original("no such word") == Origin::original);
    CHECK(origin_of(nullptr) == Origin::original);
    CHECK(to_string(Role::assistant) == "assistant");
    CHECK(to_string(PartKind::tool_result) == "tool_result");
}
