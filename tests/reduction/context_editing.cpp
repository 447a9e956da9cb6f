// The rows CE and DE of the scenarios: what other systems' context editing does, ours by its own options.
#include "support/catch.hpp"
#include "tools.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

void add_search(AnyConversation& c, const std::string& id, const std::string& output) {
    c.push_back(ChatMessage::assistant("").call(id, "search", R"({"query":"foo"})"));
    c.push_back(ChatMessage::result(id, "search", output));
}

AnyConversation searches(const MessageType& type, const std::vector<std::string>& outputs) {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    for (std::size_t i = 0; i < outputs.size(); ++i) add_search(c, "call-" + std::to_string(i + 1), outputs[i]);
    return c;
}

ReductionConfig clear_above(std::int64_t tokens) { return {.max_tokens_for_clear = tokens}; }

bool is_cleared(const AnyConversation& c, std::size_t message) {
    const Mark& mark = c.outline()[message].parts[0].mark;
    return mark && mark->reason == "clear";
}

}  // namespace

TEST_CASE("at or below the trigger nothing changes", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = searches(type, {"12345", "x"});
    const std::int64_t tokens = c.tokens(chars_counter());
    Bench::of(type, clear_above(tokens)).chain.before_model(c);
    CHECK(c.journal_size() == 0);
    CHECK(c.report().stages[0].outcome == Outcome::not_due);
}

TEST_CASE("of three long results two are cleared and the newest stays", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c =
        searches(type, {repeat("tool-output-a", 50), repeat("tool-output-b", 50), repeat("tool-output-c", 50)});
    Bench::of(type, clear_above(50)).chain.before_model(c);
    CHECK(is_cleared(c, 2));
    CHECK(is_cleared(c, 4));
    CHECK(c.text(6) == repeat("tool-output-c", 50));
}

TEST_CASE("of two, one is cleared, and the report names the middleware and the rule", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = searches(type, {std::string(1'000, 'a'), std::string(1'000, 'b')});
    const Bench bench = Bench::of(type, clear_above(100));
    const Report& report = bench.chain.before_model(c);
    REQUIRE(report.stages.size() == 1);
    CHECK(report.stages[0].middleware == "reduction");
    REQUIRE(report.stages[0].details->candidates.size() == 1);
    CHECK(report.stages[0].details->candidates[0].rule == "old_round");
    CHECK(is_cleared(c, 2));
    CHECK_FALSE(is_cleared(c, 4));
}

TEST_CASE("what is cleared stays as it is", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = searches(type, {std::string(1'000, 'a'), std::string(1'000, 'b')});
    const Bench bench = Bench::of(type, clear_above(100));
    bench.chain.before_model(c);
    const std::string placeholder = c.text(2);
    add_search(c, "call-3", std::string(1'000, 'c'));
    bench.chain.before_model(c);
    CHECK(c.text(2) == placeholder);
    CHECK(is_cleared(c, 4));
    CHECK(bench.keys() == std::vector<std::string>{"conv/clear/call-1", "conv/clear/call-2"});
}

TEST_CASE("a least gain is met by clearing as much as there is", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = searches(type, {std::string(5'000, 'a'), std::string(5'000, 'b'), std::string(5'000, 'c')});
    ReductionConfig config = clear_above(100);
    config.clear_at_least_tokens = 2'000;
    Bench::of(type, config).chain.before_model(c);
    CHECK(is_cleared(c, 2));
    CHECK(is_cleared(c, 4));
    CHECK_FALSE(is_cleared(c, 6));
}

TEST_CASE("two middlewares run in order and the second sees the first's work", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = searches(type, {std::string(4'000, 'a'), std::string(4'000, 'b')});
    const auto make = [](std::int64_t tokens) {
        return ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = tokens};
    };
    const AnyChain chain(
        type, ChainConfig{},
        std::vector<AnyStage>{{.config = make(100), .name = "first"}, {.config = make(1'500), .name = "second"}});
    const Report& report = chain.before_model(c);
    CHECK(report.stages[0].outcome == Outcome::committed);
    CHECK(report.stages[1].outcome == Outcome::not_due);
    CHECK(report.stages[1].count < 1'500);
}

TEST_CASE("the original of a cleared result is found in the store and by restoring", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = searches(type, {std::string(1'000, 'a'), std::string(1'000, 'b')});
    const Bench bench = Bench::of(type, clear_above(100));
    bench.chain.before_model(c);
    CHECK(bench.storage->get("conv/clear/call-1") == std::string(1'000, 'a'));
    c.restore_and_pin(c.outline()[2].serial);
    CHECK(c.text(2) == std::string(1'000, 'a'));
}

TEST_CASE("a result above the limit is stored and shown shortened, one below is not", "[context_editing]") {
    ReductionConfig config = clear_above(1'000'000);
    config.max_tokens_for_trunc = 1'000;
    Bench bench(config);
    CHECK(bench.run("small", {std::string(1'000, 's')}).stored.empty());
    CHECK(bench.run("large", {std::string(5'000, 'l')}).stored[0].key == "conv/trunc/large");
}

TEST_CASE("a call id with other characters gets a safe name", "[context_editing]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 1'000});
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant("").call("test/call.id", "tool"));
    const auto calls = bench.chain.pending_tool_calls(c);
    REQUIRE(calls.size() == 1);
    const ToolReturn back = bench.run(calls[0], {Part{.text = std::string(5'000, 'x')}});
    REQUIRE(back.stored.size() == 1);
    CHECK(is_valid_key(back.stored[0].key));
    CHECK(back.stored[0].key.starts_with("conv/trunc/testcall.id-"));
}

TEST_CASE("beside an image a long text is shortened; a large image alone changes nothing", "[context_editing]") {
    Bench bench({.max_length_for_trunc = 1'000});
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = std::string(50'000, 'p')}};
    const ToolReturn back = bench.run("a", {Part{.text = std::string(5'000, 'x')}, image});
    CHECK(back.result.parts[0].text.size() < 2'000);
    CHECK(back.result.parts[1] == image);
    CHECK(bench.run("b", {Part{.text = "small"}, image}).stored.empty());
}
