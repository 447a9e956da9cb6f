// The rules of Anthropic and Gemini, and those about provenance, tools and limits.
#include "support/catch.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

using Messages = std::vector<ChatMessage>;
using Rules = std::vector<Rule>;

std::vector<MessageInfo> infos_of(const Messages& messages) {
    std::vector<MessageInfo> infos;
    for (const ChatMessage& m : messages) {
        infos.push_back(describe(m));
        infos.back().serial = infos.size();
    }
    link_rounds(infos);
    return infos;
}

std::vector<Violation> check(const Messages& messages, const ValidityProfile& profile) {
    return validate(std::span<const ChatMessage>(messages), profile);
}

Rules rules_broken(const Messages& messages, const ValidityProfile& profile = anthropic_messages()) {
    Rules rules;
    for (const Violation& violation : check(messages, profile)) rules.push_back(violation.rule);
    return rules;
}

Rules gemini_breaks(const Messages& messages) { return rules_broken(messages, gemini_chat()); }
Rules thinking_breaks(const Messages& messages) { return rules_broken(messages, anthropic_thinking()); }

ChatMessage user(const std::string& text = "u") { return ChatMessage::user(text); }
ChatMessage reply(const std::string& text = "a") { return ChatMessage::assistant(text); }
ChatMessage call(const std::string& id) { return ChatMessage{Role::assistant, {}}.call(id, "ls"); }
ChatMessage calls(const std::string& a, const std::string& b) { return call(a).call(b, "ls"); }
ChatMessage result(const std::string& id) { return ChatMessage::result(id, "ls", "out"); }

Part text(const std::string& s) { return Part{PartKind::text, s}; }
Part thought() { return Part{PartKind::thinking, "hm"}; }
Part result_part(const std::string& id) { return Part{PartKind::tool_result, "out", id}; }
ChatMessage from_user(std::vector<Part> parts) { return {Role::user, std::move(parts)}; }

/// A call whose message starts with thinking.
ChatMessage thoughtful(const std::string& id) {
    ChatMessage m{Role::assistant, {thought()}};
    return m.call(id, "ls");
}

Part image(int side = 10, std::size_t bytes = 3) {
    Part part{PartKind::media};
    part.media = Media{"image/png", std::string(bytes, 'b'), {}, side, 1};
    return part;
}

Mark mark_of(Origin origin) { return std::make_shared<const Provenance>(Provenance{.origin = origin}); }

}  // namespace

TEST_CASE("every profile takes a plain tool conversation that ends with the user", "[validity]") {
    const Messages messages{ChatMessage::system("s"),
                            user(),
                            ChatMessage{thoughtful("c1")}.call("c2", "ls"),
                            result("c1"),
                            result("c2"),
                            reply(),
                            user()};
    for (const ValidityProfile* profile : validity_profiles()) {
        CAPTURE(profile->name);
        CHECK(check(messages, *profile).empty());
    }
}

TEST_CASE("A1: the user speaks first, and system messages stand in front", "[validity]") {
    CHECK(rules_broken({ChatMessage::system("s"), reply(), user()}) == Rules{Rule::A1_user_first});
    CHECK(rules_broken({user(), user(), reply(), reply(), user()}).empty());  // neighbours are merged
    CHECK(rules_broken({ChatMessage::system("s"), ChatMessage::system("s"), user()}).empty());
    CHECK(rules_broken({user(), ChatMessage::system("late"), reply()}) == Rules{Rule::A1_system_first});
    CHECK(severity_of(Rule::A1_system_first) == Severity::silent);
}

TEST_CASE("A2: all results stand in the next message of the user", "[validity]") {
    const ValidityProfile only{.name = "A2", .rules = {Rule::A2_results_next}};
    const auto found = check({user(), calls("c1", "c2"), result("c1"), reply(), result("c2")}, only);
    REQUIRE(found.size() == 1);
    CHECK(found[0] ==
          Violation{Rule::A2_results_next, 1, 1, 2, "the result of tool call \"c2\" is not in the next message"});
    CHECK(rules_broken({user(), call("c"), user("never mind")}) == Rules{Rule::A2_results_next});
}

TEST_CASE("A2: tool messages in a row, and results beside text, are one message of the user", "[validity]") {
    CHECK(rules_broken({user(), calls("c1", "c2"), result("c2"), result("c1"), user("and?"), reply()}).empty());
    CHECK(rules_broken(
              {user(), calls("c1", "c2"), from_user({result_part("c1"), result_part("c2"), text("and?")}), reply()})
              .empty());
    CHECK(rules_broken({user(), call("c1"), call("c2"), result("c1"), result("c2"), reply()}).empty());
}

TEST_CASE("A2: running calls may lack results until the user says something", "[validity]") {
    CHECK(rules_broken({user(), calls("c1", "c2"), result("c1")}).empty());
    CHECK(rules_broken({user(), calls("c1", "c2"), from_user({result_part("c1")})}).empty());
    CHECK(rules_broken({user(), calls("c1", "c2"), from_user({result_part("c1"), text("and?")})}) ==
          Rules{Rule::A2_results_next});
}

TEST_CASE("A3: results come before anything else that the user says", "[validity]") {
    const auto found =
        check({user(), call("c"), from_user({text("wait"), result_part("c")}), reply()}, anthropic_messages());
    REQUIRE(found.size() == 1);
    CHECK(found[0] ==
          Violation{Rule::A3_results_first, 2, 1, 3, "the result for tool call \"c\" stands behind other content"});
    CHECK(rules_broken({user(), call("c"), user("wait"), result("c"), reply()}) == Rules{Rule::A3_results_first});
    CHECK(rules_broken({user(), calls("a", "b"), from_user({result_part("a"), image(), result_part("b")}), reply()}) ==
          Rules{Rule::A3_results_first});
}

TEST_CASE("A3: media and opaque items of a result are no other content", "[validity]") {
    Part shot = image();
    shot.call_id = "a";
    const Part opaque{PartKind::other, "?", "a"};
    CHECK(
        rules_broken({user(), calls("a", "b"), from_user({opaque, result_part("a"), shot, result_part("b")}), reply()})
            .empty());
}

TEST_CASE("A3: a result that begins with media or an opaque item is late behind other content too", "[validity]") {
    Part shot = image();
    shot.call_id = "c";
    const Part opaque{PartKind::other, "?", "c"};
    for (const std::vector<Part>& result : {std::vector{shot}, {shot, result_part("c")}, {opaque, result_part("c")}}) {
        std::vector<Part> parts{text("wait")};
        parts.insert(parts.end(), result.begin(), result.end());
        const auto found = check({user(), call("c"), from_user(parts), reply()}, anthropic_messages());
        REQUIRE(found.size() == 1);
        CHECK(found[0].rule == Rule::A3_results_first);
        CHECK(found[0].part_index == 1);
    }
}

TEST_CASE("A4: a result answers the assistant message right before it", "[validity]") {
    const ValidityProfile only{.name = "A4", .rules = {Rule::A4_result_of_previous}};
    CHECK(rules_broken({user(), call("a"), result("a"), reply(), user(), result("a"), reply()}, only) ==
          Rules{Rule::A4_result_of_previous});
    CHECK(rules_broken({from_user({result_part("a")}), reply()}, only) == Rules{Rule::A4_result_of_previous});
    CHECK(rules_broken({user(), ChatMessage{Role::tool, {}}, reply()}) == Rules{Rule::A4_result_of_previous});
}

TEST_CASE("A5: no text is blank and no message without content", "[validity]") {
    CHECK(rules_broken({user(" \n"), reply()}) == Rules{Rule::A5_blank_text});
    CHECK(rules_broken({user(), reply(""), user()}) == Rules{Rule::A5_blank_text});
    CHECK(rules_broken({user(), ChatMessage{Role::assistant, {}}, user()}) == Rules{Rule::A5_blank_text});
    CHECK(rules_broken({user(), ChatMessage{Role::assistant, {}}}).empty());  // the last reply may be empty
    CHECK(rules_broken({user(), call("c"), ChatMessage::result("c", "ls", ""), reply()}).empty());
}

TEST_CASE("A5: a last assistant message does not end in white space", "[validity]") {
    CHECK(rules_broken({user(), reply("so ")}) == Rules{Rule::A5_prefill_trailing_space});
    CHECK(rules_broken({user(), reply("so"), reply("far\n")}) == Rules{Rule::A5_prefill_trailing_space});
    CHECK(rules_broken({user(), reply("so "), user()}).empty());
    CHECK(rules_broken({user(), reply("so ").call("c", "ls")}).empty());
}

TEST_CASE("A6: in the open tool loop thinking stands before the calls", "[validity]") {
    ChatMessage late = thoughtful("c");
    late.parts.push_back(thought());
    CHECK(thinking_breaks({user(), late, result("c")}) == Rules{Rule::A6_thinking_before_calls});
    CHECK(thinking_breaks({user(), late, result("c"), reply(), user()}).empty());  // a closed loop
    CHECK(rules_broken({user(), late, result("c")}).empty());
}

TEST_CASE("A7: the open tool loop starts with thinking, its later steps need not", "[validity]") {
    const auto found = check({user(), call("c"), result("c")}, anthropic_thinking());
    REQUIRE(found.size() == 1);
    CHECK(found[0] == Violation{Rule::A7_thinking_first, 1, 0, 2, "the open tool loop does not start with thinking"});
    CHECK(thinking_breaks({user(), thoughtful("a"), result("a"), call("b"), result("b")}).empty());
    CHECK(thinking_breaks({user(), call("a"), result("a"), thoughtful("b"), result("b")}) ==
          Rules{Rule::A7_thinking_first});
    CHECK(thinking_breaks({user(), call("a"), result("a"), reply(), user()}).empty());
    CHECK(thinking_breaks({user(), call("a"), result("a"), reply(), user(), thoughtful("b"), result("b")}).empty());
    ChatMessage compacted = thoughtful("c");
    compacted.parts.insert(compacted.parts.begin(), Part{PartKind::other, "{}"});
    CHECK(thinking_breaks({user(), compacted, result("c")}).empty());
}

TEST_CASE("the open tool loop reaches back to the newest user message that answers no call", "[validity]") {
    const auto open_loop_begin = [](const Messages& messages) { return Outline(infos_of(messages)).open_loop_begin(); };
    CHECK_FALSE(open_loop_begin({}).has_value());
    CHECK_FALSE(open_loop_begin({user(), call("a"), result("a"), reply()}).has_value());
    CHECK(open_loop_begin({user(), call("a"), result("a"), call("b")}) == 1);
    CHECK(open_loop_begin({user(), reply("I look"), call("a"), result("a")}) == 1);  // the server merges the two
    CHECK(open_loop_begin({user(), call("a"), result("a"), user("faster"), call("b")}) == 1);
    CHECK(open_loop_begin({user(), call("a"), from_user({result_part("a"), text("faster")}), call("b")}) == 1);
    CHECK(open_loop_begin({user(), reply(), user(), ChatMessage{Role::tool, {}}, call("b")}) == 4);  // answers nothing
    CHECK(open_loop_begin({user(), call("a"), result("a"), reply(), user(), call("b"), result("b"), call("c")}) == 5);
}

TEST_CASE("A10: images keep to the limits for number, bytes and pixels", "[validity]") {
    ValidityProfile small = anthropic_messages();
    small.limits = {.max_images = 3,
                    .max_image_base64_bytes = 8,
                    .max_image_side = 100,
                    .many_images_threshold = 1,
                    .max_side_with_many_images = 50};
    const auto texts = [&](const std::vector<Part>& parts) {
        std::vector<std::string> sentences;
        for (const Violation& v : check({from_user(parts)}, small)) {
            CHECK(v.rule == Rule::A10_images);
            sentences.push_back(v.text);
        }
        return sentences;
    };
    CHECK(texts({image(100, 6)}).empty());
    CHECK(texts({image(101)}) == std::vector<std::string>{"an image is 101 pixels long, the limit is 100"});
    CHECK(texts({image(1, 7)}) == std::vector<std::string>{"an image has 12 bytes as base64, the limit is 8"});
    CHECK(texts({image(50), image(51)}) ==
          std::vector<std::string>{"an image is 51 pixels long, the limit for so many images is 50"});
    const auto many = check({from_user({image(), image(), image(), image()})}, small);
    REQUIRE(many.size() == 1);
    CHECK(many[0] == Violation{Rule::A10_images, 1, 0, 0, "the list has 4 images, the limit is 3"});
    CHECK(rules_broken({from_user({image(8'001)})}) == Rules{Rule::A10_images});
}

TEST_CASE("media in a request takes its base64, and a link its own length", "[validity]") {
    const auto bytes_of = [](Media media) {
        Part part{PartKind::media};
        part.media = std::move(media);
        return describe(view_of(part)).media_base64_bytes;
    };
    CHECK(bytes_of({.mime = "image/png", .bytes = "1234"}) == 8);
    CHECK(bytes_of({.mime = "image/png", .url = "data:image/png;base64,AAAA"}) == 4);
    CHECK(bytes_of({.mime = "image/png", .url = "https://x"}) == 9);
    CHECK(bytes_of({.mime = "image/png", .url = "data:"}) == 5);
}

TEST_CASE("G11: texts and media keep to the bytes of a request", "[validity]") {
    ValidityProfile small = anthropic_messages();
    small.limits.max_request_bytes = 10;
    CHECK(rules_broken({user("123456"), reply("1234")}, small).empty());
    CHECK(rules_broken({from_user({text("1234567"), image()})}, small) == Rules{Rule::G11_request_bytes});
    small.limits.max_request_bytes = 0;
    CHECK(rules_broken({user(std::string(100, 'x'))}, small).empty());
}

TEST_CASE("G6: what middlewares write never speaks as the assistant", "[validity]") {
    std::vector<MessageInfo> infos = infos_of({user(), reply(), user()});
    const auto rules = [&] { return validate(Outline(infos), openai_chat()).size(); };
    for (const Origin origin : {Origin::summary, Origin::skills, Origin::nudge}) {
        infos[1].mark = mark_of(origin);
        CHECK(rules() == 1);
        infos[1].mark = {};
        infos[0].mark = mark_of(origin);
        CHECK(rules() == 0);
    }
    infos[1].mark = mark_of(Origin::placeholder);
    CHECK(rules() == 0);
    infos[1].parts[0].mark = mark_of(Origin::summary);
    const auto found = validate(Outline(infos), openai_chat());
    REQUIRE(found.size() == 1);
    CHECK(found[0] == Violation{Rule::G6_no_invented_claim, 1, 0, 2, "a summary speaks as the assistant"});
}

TEST_CASE("G9: tools that the history calls are in the request, where its tools are given", "[validity]") {
    const std::vector<MessageInfo> infos =
        infos_of({user(), calls("a", "b"), result("a"), result("b"), call("c"), result("c"), reply()});
    const std::array<ToolSpec, 1> others{ToolSpec{.name = "cat"}};
    const std::array<ToolSpec, 2> all{ToolSpec{.name = "cat"}, ToolSpec{.name = "ls"}};
    CHECK(validate(Outline(infos), openai_chat()).empty());
    CHECK(validate(Outline(infos), openai_chat(), all).empty());
    const auto found = validate(Outline(infos), openai_chat(), others);
    REQUIRE(found.size() == 1);  // once for each tool
    CHECK(found[0] == Violation{Rule::G9_tools_defined, 1, 0, 2, "tool \"ls\" is not in the request"});
    CHECK(validate(Outline(infos), openai_chat(), std::span<const ToolSpec>()).size() == 1);
}

TEST_CASE("G8: providers differ in the alphabet of names", "[validity]") {
    const auto named = [](const std::string& tool, const ValidityProfile& profile) {
        return rules_broken({user(), ChatMessage{Role::assistant, {}}.call("c", tool),
                             ChatMessage::result("c", tool, "out"), reply(), user()},
                            profile);
    };
    const Rules broken{Rule::G8_names};
    CHECK(named(std::string(128, 'a'), anthropic_messages()).empty());
    CHECK(named(std::string(129, 'a'), anthropic_messages()) == broken);
    CHECK(named("a.b", anthropic_messages()) == broken);
    CHECK(named("a.b:c", gemini_chat()).empty());
    CHECK(named("_a", gemini_chat()).empty());
    CHECK(named("1a", gemini_chat()) == broken);
    CHECK(rules_broken({user(), call("no good"), result("no good"), reply()}) == broken);
    CHECK(gemini_breaks({user(), call("any id"), result("any id"), reply(), user()}).empty());
}

TEST_CASE("GM1 and GM2: the user speaks first and last, and calls come after the user", "[validity]") {
    CHECK(gemini_breaks({user(), reply()}) == Rules{Rule::GM1_user_first_and_last});
    CHECK(gemini_breaks({reply(), user()}) == Rules{Rule::GM1_user_first_and_last});
    CHECK(gemini_breaks({user(), reply(), reply(), user(), user()}).empty());
    CHECK(gemini_breaks({call("c"), result("c"), user()}) ==
          Rules{Rule::GM1_user_first_and_last, Rule::GM2_call_after_user});
    CHECK(gemini_breaks({reply(), call("c"), result("c"), user()}) ==
          Rules{Rule::GM1_user_first_and_last, Rule::GM2_call_after_user});
}

TEST_CASE("GM3: the next turn holds the results of all calls, in their order and alone", "[validity]") {
    const Rules broken{Rule::GM3_responses_match};
    CHECK(gemini_breaks({user(), calls("a", "b"), from_user({result_part("a"), result_part("b")}), user()}).empty());
    CHECK(gemini_breaks({user(), calls("a", "b"), result("b"), result("a")}) == broken);
    CHECK(gemini_breaks({user(), call("a"), ChatMessage::result("a", "cat", "out")}) == broken);
    CHECK(gemini_breaks({user(), call("a"), from_user({result_part("a"), text("and?")})}) == broken);
    CHECK(gemini_breaks({user(), call("a"), result("a"), user("and?")}).empty());  // a turn of its own
    CHECK(gemini_breaks({user(), calls("a", "b"), result("a")}).empty());          // still running
    CHECK(gemini_breaks({user(), calls("a", "b"), result("a"), user()}) == broken);

    const ValidityProfile only{.name = "GM3", .rules = broken};
    CHECK(rules_broken({user(), calls("a", "b"), result("a"), user(), result("b"), reply()}, only).size() == 2);
    CHECK(rules_broken({user(), call("a"), result("a"), result("a"), reply()}, only) == broken);
    CHECK(rules_broken({result("a"), user()}, only) == broken);
}

TEST_CASE("GM6: no text part is empty", "[validity]") {
    CHECK(gemini_breaks({user(""), user()}) == Rules{Rule::GM6_empty_parts});
    CHECK(gemini_breaks({user(" "), user()}).empty());
    CHECK(gemini_breaks({user(), ChatMessage{Role::assistant, {}}, user()}) == Rules{Rule::GM6_empty_parts});
}

TEST_CASE("limits of one's own replace the shipped ones", "[validity]") {
    // [limits]
    whittle::ValidityProfile mine = whittle::anthropic_messages();
    mine.name = "a gateway that takes 20 images";
    mine.limits.max_images = 20;
    mine.limits.max_request_bytes = 20 * 1024 * 1024;
    mine.rules.push_back(whittle::Rule::OC6_last_role);  // for models that take no prefill
    // [/limits]
    const std::vector<Part> images(21, image());
    CHECK(rules_broken({from_user(images)}).empty());
    CHECK(rules_broken({from_user(images), reply()}, mine) == Rules{Rule::OC6_last_role, Rule::A10_images});
}

TEST_CASE("every rule has an id of its own, and every profile names rules that exist, each once", "[validity]") {
    std::vector<std::string_view> ids;
    for (int i = 0; i <= static_cast<int>(Rule::GM6_empty_parts); ++i) ids.push_back(to_string(static_cast<Rule>(i)));
    CHECK(std::ranges::count(ids, "unknown") == 0);
    std::ranges::sort(ids);
    CHECK(std::ranges::adjacent_find(ids) == ids.end());
    for (const ValidityProfile* profile : validity_profiles()) {
        Rules rules = profile->rules;
        std::ranges::sort(rules);
        CHECK(std::ranges::adjacent_find(rules) == rules.end());
    }
}
