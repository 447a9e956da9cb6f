#include "agent/recorder.hpp"

#include "scratch.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"

#include <whittle/base/error.hpp>

#include <string>
#include <vector>

using whittle::PartKind;
using whittle::ToolContext;
using whittle::ToolResult;
using whittle::openai::Message;

namespace {

ToolContext call(const std::string& id) { return {.call_id = id, .key_safe_call_id = id, .tool = "read"}; }

ToolResult result(const std::string& id, const std::string& text) {
    return {id, "read", {{.kind = PartKind::text, .text = text}}, false};
}

agent::Recorder recorder() { return {{}, "id", "", {}, whittle::chars_counter()}; }

std::vector<std::string> texts(const agent::Recorder& recorded) {
    std::vector<std::string> texts;
    for (const Message& message : recorded.messages()) texts.push_back(message.json().at("content"));
    return texts;
}

}  // namespace

TEST_CASE("results that end in any order are recorded in that of the calls", "[agent]") {
    agent::Recorder recorded = recorder();
    for (const char* id : {"a", "b", "c"}) recorded.expect(call(id));
    recorded.add_result(call("b"), result("b", "two"), {});
    CHECK(texts(recorded).empty());
    recorded.add_result(call("a"), result("a", "one"), {});
    CHECK(texts(recorded) == std::vector<std::string>{"one", "two"});
    recorded.add_result(call("c"), result("c", "three"), {});
    CHECK(texts(recorded) == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("what the tool gave is recorded, not what was left of it; the reason of a failure stays", "[agent]") {
    agent::OriginalResults originals;
    whittle::CollectingSink shown;
    const auto gives = [](const ToolContext&, whittle::PartSink& out) -> whittle::ToolOutcome {
        out.write("all ");
        out.write("of it");
        return {};
    };
    const auto throws = [](const ToolContext&, whittle::PartSink& out) -> whittle::ToolOutcome {
        out.write("half");
        throw whittle::Error(whittle::Errc::not_found, "the rest");
    };
    agent::Recorder recorded = recorder();
    recorded.expect(call("a"));
    recorded.expect(call("b"));
    recorded.expect(call("c"));
    (void)originals.wrap_tool(call("a"), shown, gives);
    CHECK_THROWS(originals.wrap_tool(call("b"), shown, throws));
    auto original = originals.take(call("a"));
    REQUIRE(original);
    CHECK(original->bytes == 9);
    recorded.add_result(call("a"), result("a", "al"), std::move(original));
    recorded.add_result(call("b"), result("b", "read failed: the rest"), originals.take(call("b")));
    CHECK_FALSE(originals.take(call("c")));
    recorded.add_result(call("c"), result("c", "no such tool"), originals.take(call("c")));
    const auto& messages = recorded.messages();
    REQUIRE(messages.size() == 3);
    CHECK(whittle::text_of(messages[0], 0) == "all of it");
    CHECK(whittle::text_of(messages[1], 0) == "half");
    CHECK(whittle::text_of(messages[1], 1) == "read failed: the rest");
    CHECK(whittle::text_of(messages[2], 0) == "no such tool");
}

TEST_CASE("a resumed session keeps a finished tool round at its end, and no unfinished one", "[agent]") {
    const Scratch scratch;
    const auto loaded = [&](const std::string& messages) {
        scratch.write("s.jsonl", R"({"id":"s","messages":[{"role":"user","content":"?"})" + messages + "]}\n");
        return agent::load_session(scratch / "s.jsonl").size();
    };
    const auto call = [](const std::string& id) {
        return R"({"id":")" + id + R"(","type":"function","function":{"name":"t","arguments":"{}"}})";
    };
    const std::string calls =
        R"(,{"role":"assistant","content":"","tool_calls":[)" + call("a") + "," + call("b") + "]}";
    const std::string first = R"(,{"role":"tool","tool_call_id":"a","content":"one"})";
    const std::string second = R"(,{"role":"tool","tool_call_id":"b","content":"two"})";
    CHECK(loaded("") == 1);
    CHECK(loaded(calls) == 1);
    CHECK(loaded(calls + first) == 1);
    CHECK(loaded(calls + first + second) == 4);
    CHECK(loaded(calls + first + second + R"(,{"role":"assistant","content":"done"})") == 5);
    scratch.write("s.jsonl", "");
    CHECK(whittle::testing::errc_of([&] { (void)agent::load_session(scratch / "s.jsonl"); }) ==
          whittle::Errc::invalid_argument);
}
