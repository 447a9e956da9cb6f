// What fails for one result costs that result only.
#include "support/catch.hpp"
#include "tools.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

ReductionConfig clearing_above(std::int64_t tokens) {
    return {.skip_truncation = true, .max_tokens_for_clear = tokens};
}

void add_tool_round(AnyConversation& c, const std::string& id, const std::string& tool) {
    c.push_back(ChatMessage::assistant("").call(id, tool));
    c.push_back(ChatMessage::result(id, tool, "output of " + id + std::string(2'000, 'x')));
}

/// Results of `good`, `bad`, `good` and, retained, `good`: at 2, 4, 6 and 8.
AnyConversation one_bad_of_four(const MessageType& type) {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    add_tool_round(c, "a", "good");
    add_tool_round(c, "b", "bad");
    add_tool_round(c, "c", "good");
    add_tool_round(c, "d", "good");
    return c;
}

void check_that_only_b_stays(const AnyConversation& c, const Bench& bench, std::string_view why) {
    CHECK(c.report().stages[0].outcome == Outcome::committed);
    CHECK(has(c.text(2), "cleared"));
    CHECK(c.text(4).starts_with("output of b"));
    CHECK(has(c.text(6), "cleared"));
    CHECK(has(c.report().stages[0].details->error, why));
    CHECK(std::ranges::count_if(bench.events, [](const std::string& e) { return e.starts_with("failed: "); }) == 1);
    const auto& candidates = c.report().stages[0].details->candidates;
    CHECK(std::ranges::count(candidates, std::string_view("failed"), &Candidate::rule) == 1);
}

}  // namespace

TEST_CASE("a clear handler that throws keeps its result, and nothing else", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["bad"].clear_handler = [](const ToolDetail&) -> ClearResult {
        throw std::runtime_error("the handler is broken");
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {}, callbacks);
    AnyConversation c = one_bad_of_four(type);
    const std::vector<std::string> before = c.bytes();
    bench.chain.before_model(c);
    check_that_only_b_stays(c, bench, "the handler is broken");
    REQUIRE(c.undo());
    CHECK(c.bytes() == before);
}

TEST_CASE("a handler's arguments that are no JSON object keep that result, and nothing else", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["bad"].clear_handler = [](const ToolDetail&) {
        return ClearResult{
            .need_clear = true, .replacement_arguments = "not JSON", .replacement_parts = {{.text = "short"}}};
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {}, callbacks);
    AnyConversation c = one_bad_of_four(type);
    bench.chain.before_model(c);
    check_that_only_b_stays(c, bench, "");
}

TEST_CASE("a key that no store takes keeps its result, and nothing else", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.gen_clear_offload_file_path = [](const ToolDetail& d) {
        return d.tool == "bad" ? std::string("../../etc/passwd") : "kept/" + std::string(d.call_id);
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {}, callbacks);
    AnyConversation c = one_bad_of_four(type);
    bench.chain.before_model(c);
    check_that_only_b_stays(c, bench, "gen_clear_offload_file_path");
    CHECK(bench.keys() == std::vector<std::string>{"kept/a", "kept/c"});
}

TEST_CASE("a rewriter that throws for one round leaves that round to clearing, and rewrites the others", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const CallbackContext&, const ChatMessage& call,
                                          std::span<const ChatMessage>) {
        if (call.parts.back().tool == "bad") throw std::runtime_error("no idea");
        return std::vector{ChatMessage::user("it read something")};
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {}, callbacks);
    AnyConversation c = one_bad_of_four(type);
    bench.chain.before_model(c);
    CHECK(c.report().stages[0].outcome == Outcome::committed);
    CHECK(c.text(1) == "it read something");
    CHECK(has(c.result("b"), "cleared"));
    CHECK(has(c.report().stages[0].details->error, "no idea"));
}

TEST_CASE("a rewriter's round that breaks a rule of the provider is left out, clearing goes on", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const CallbackContext&, const ChatMessage& call,
                                          std::span<const ChatMessage> results) {
        if (call.parts.back().tool != "bad") return std::vector<ChatMessage>{call, results.front()};
        return std::vector{ChatMessage::result("nobody asked", "bad", "x")};
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {}, callbacks);
    AnyConversation c = one_bad_of_four(type);
    bench.chain.before_model(c);
    CHECK(c.report().stages[0].outcome == Outcome::committed);
    CHECK(has(c.result("a"), "cleared"));
    CHECK_FALSE(c.report().stages[0].details->error.empty());
}

TEST_CASE("of two rounds that break a rule together one stays rewritten", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const CallbackContext&, const ChatMessage& call,
                                          std::span<const ChatMessage>) {
        if (call.parts.back().tool == "good") return std::vector{ChatMessage::user("it read something")};
        return std::vector{ChatMessage::assistant("").call("same", "bad"), ChatMessage::result("same", "bad", "ok")};
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {}, callbacks);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    for (const char* id : {"a", "c"}) {
        add_tool_round(c, id, "bad");
        add_tool_round(c, id + std::string("2"), "good");
    }
    add_tool_round(c, "d", "good");
    bench.chain.before_model(c);
    CHECK(c.report().stages[0].outcome == Outcome::committed);
    CHECK(c.result("same") == "ok");
    CHECK(c.result("c").starts_with("output of c"));
    CHECK(c.text(3) == "it read something");
    CHECK(validate(c.outline(), openai_chat()).empty());
    CHECK(has(c.report().stages[0].details->error, "G3"));
}

TEST_CASE("of many handled results, those stay that a provider refuses, however many they are", "[handlers]") {
    constexpr int rounds = 200;
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["read"].clear_handler = [](const ToolDetail& d) {
        return ClearResult{.need_clear = true,
                           .replacement_parts = {{.text = d.call_id.ends_with("7") ? "\xFF" : "cleared"}}};
    };
    Conversation<> conversation("many");
    conversation.push_back(ChatMessage::user("do"));
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "call" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("").call(id, "read"));
        conversation.push_back(ChatMessage::result(id, "read", std::string(400, 'x')));
    }
    Chain({}, Reduction(clearing_above(100), callbacks)).before_model(conversation);
    for (int i = 0; i + 1 < rounds; ++i) {
        CAPTURE(i);
        const ChatMessage& result = conversation.messages()[static_cast<std::size_t>(2 * i + 2)];
        CHECK(result.parts.front().text == (i % 10 == 7 ? std::string(400, 'x') : "cleared"));
    }
}

TEST_CASE("under propagate the failure of one result is thrown, and nothing is changed", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["bad"].clear_handler = [](const ToolDetail&) -> ClearResult {
        throw std::runtime_error("the handler is broken");
    };
    const Bench bench = Bench::of(type, clearing_above(100), {}, {.on_error = OnError::propagate}, callbacks);
    AnyConversation c = one_bad_of_four(type);
    const std::vector<std::string> before = c.bytes();
    CHECK_THROWS_WITH(bench.chain.before_model(c), "the handler is broken");
    CHECK(c.bytes() == before);
}

TEST_CASE("file names that are no keys are made safe, and differ where they differed", "[reduction]") {
    CHECK(to_key("/tmp/a", "f") == "tmp/a");
    const std::string colon = to_key("logs/2024-05-01T10:20:30.txt", "f");
    const std::string other = to_key("logs/2024-05-01T10;20:30.txt", "f");
    CHECK(colon.starts_with("logs/2024-05-01T102030.txt-"));
    CHECK(colon != other);
    CHECK(to_key("logs/2024-05-01T10:20:30.txt", "f") == colon);
    for (const char* path : {"C:\\logs\\x", "数据/файл", ".hidden/a", "with blank", "a/~", "tab\there"}) {
        CAPTURE(path);
        CHECK(is_valid_key(to_key(path, "f")));
    }
    for (const std::string& path :
         {std::string(), std::string("/"), std::string(".."), std::string("a/../b"), std::string("a//b"),
          std::string("./a"), std::string("a/"), std::string("a\0b", 3)}) {
        CAPTURE(path);
        CHECK_THROWS_AS(to_key(path, "f"), Error);
    }
}

TEST_CASE("with a target and a least gain, clearing goes on until both hold", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    for (const char* id : {"a", "b", "c", "d"}) add_tool_round(c, id, "good");
    const std::int64_t size = c.tokens(chars_counter());
    ReductionConfig config = clearing_above(size - 100);
    config.clear_target_tokens = size - 200;  // one result is enough for this
    config.clear_at_least_tokens = 900;       // and two for this
    const AnyChain chain(type, ChainConfig{}, config);
    CHECK(chain.before_model(c).stages[0].outcome == Outcome::committed);
    CHECK(c.text(4) == plain_placeholder(Language::english));
    CHECK(c.text(6).starts_with("output of c"));
}
