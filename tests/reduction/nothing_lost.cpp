// Results that only part of was stored, that another middleware shortened, or that somebody's function fails on.
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "tools.hpp"
#include "whittle/base/text.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Makes the newest round an old one, and clears.
void clear(const Bench& bench, AnyConversation& c) {
    c.push_back(ChatMessage::assistant("").call("next", "tool"));
    bench.chain.before_model(c, {.tools = bench.tools});
}

ReductionConfig limits(std::int64_t bytes) { return {.max_length_for_trunc = bytes, .max_tokens_for_clear = 100}; }

}  // namespace

TEST_CASE("a long text that another truncation shortened keeps its end and its place", "[truncation]") {
    Bench outer(limits(1'000));
    CollectingSink seen;
    outer.chain.wrap_tool(outer.context("a"), seen, [&](const ToolContext&, PartSink& out) {
        out.write(std::string(60'000, 'x') + "the end");
        out.mark_stored({.key = "elsewhere/a", .by = "inner", .storage = outer.storage});
        return ToolOutcome{};
    });
    const auto stored = seen.take_stored();
    REQUIRE(stored.size() == 1);
    CHECK(stored[0].by == "inner");
    const std::string shown = seen.take()[0].text;
    CHECK(has(shown, "elsewhere/a"));
    CHECK(shown.ends_with("the end"));
    CHECK(outer.keys().empty());
}

TEST_CASE("a counter that throws costs nothing of a result", "[truncation]") {
    const auto broken = counter_from("broken", [](std::string_view text) -> std::int64_t {
        return text.size() > 2'000 ? throw std::runtime_error("no vocabulary") : 1;
    });
    Bench bench(limits(1'000));
    for (const bool streams : {false, true}) {
        ToolContext call = bench.context("a");
        call.counter = broken;
        const std::string whole(5'000, 'x');
        CHECK(bench.run_text(call, whole, streams).result.parts.at(0).text == whole);
        CHECK(has(bench.events.back(), "no vocabulary"));
    }
}

TEST_CASE("clearing stores those parts of a result that no object holds", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_media);
    const Bench bench = Bench::of(type, limits(1'000));
    const ToolContext call = bench.context("a");
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "PNG"}};
    CollectingSink seen;
    ToolOutcome outcome = bench.chain.wrap_tool(call, seen, [&](const ToolContext&, PartSink& out) {
        out.write(std::string(5'000, 'x'));
        out.push(image);
        out.push({.text = "a short remark" + std::string(300, '.')});
        return ToolOutcome{};
    });
    AnyConversation c = bench.push(collect_tool_return(call, seen, std::move(outcome)));
    clear(bench, c);
    CHECK(has(c.text(2), "conv/trunc/a, conv/clear/a"));
    const std::string rest = *bench.storage->get("conv/clear/a");
    CHECK(has(rest, "a short remark"));
    CHECK(has(rest, "image/png"));
    CHECK_FALSE(has(rest, "xxxx"));
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(c.text(2) == std::string(5'000, 'x'));
    CHECK(c.message(2).parts.size() == 3);
}

TEST_CASE("a tool that is no reader may name an object and give something else: that is stored", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, limits(4'000));
    AnyConversation c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    c.push_back(ChatMessage::assistant("").call("d", "diff", R"({"a":"conv/trunc/a"})"));
    const auto calls = bench.chain.pending_tool_calls(c);
    c.push_tool_results(bench.run(calls.at(0), {Part{.text = "the difference" + std::string(900, '.')}}));
    CHECK(c.read_backs() == 0);
    clear(bench, c);
    CHECK(bench.storage->get("conv/clear/d") == "the difference" + std::string(900, '.'));
}

TEST_CASE("a page of a larger reading is not stored again, and undo gives the whole reading", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, limits(2'000));
    AnyConversation c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    c.push_back(ChatMessage::assistant("").call("r", "read_file", R"({"path":"conv/trunc/a"})"));
    const auto calls = bench.chain.pending_tool_calls(c);
    c.push_tool_results(bench.run(calls.at(0), {Part{.text = std::string(9'000, 'x')}}));
    CHECK(has(c.text(4), "The first 2000 of 9000 bytes"));
    clear(bench, c);
    CHECK(has(c.text(4), "conv/trunc/a"));
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(c.text(4) == std::string(9'000, 'x'));
}

TEST_CASE("a handler that merges the parts of one result leaves the next ones of the message alone", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_texts);
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["one"].clear_handler = [](const ToolDetail&) {
        return ClearResult{.need_clear = true, .replacement_parts = {{.text = "merged"}}};
    };
    const Bench bench = Bench::of(type, limits(50'000), {}, {}, callbacks);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant("").call("1", "one").call("2", "two").call("3", "three"));
    ChatMessage results = ChatMessage::result("1", "one", "A1" + std::string(900, 'a'));
    for (const auto& [id, tool, content] : {std::tuple("1", "one", "A2"), {"2", "two", "B1"}, {"3", "three", "C1"}}) {
        results.parts.push_back(
            {.kind = PartKind::tool_result, .text = content + std::string(900, 'x'), .call_id = id, .tool = tool});
    }
    c.push_back(results);
    const std::vector<std::string> before = c.bytes();
    clear(bench, c);
    CHECK(c.text(2, 0) == "merged");
    CHECK(bench.storage->get("conv/clear/2") == "B1" + std::string(900, 'x'));
    CHECK(bench.storage->get("conv/clear/3") == "C1" + std::string(900, 'x'));
    REQUIRE(c.undo());
    std::vector<std::string> after = c.bytes();
    after.pop_back();  // the call that made the round an old one
    CHECK(after == before);
}

TEST_CASE("on overflow each text names its own object", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_texts);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 9'000, .max_tokens_for_clear = 1'000'000});
    const ToolContext call = bench.context("a");
    CollectingSink seen;
    ToolOutcome outcome = bench.chain.wrap_tool(call, seen, [&](const ToolContext&, PartSink& out) {
        out.write(std::string(20'000, 'x'));
        out.push({.text = std::string(20'000, 'y')});
        return ToolOutcome{};
    });
    AnyConversation c = bench.push(collect_tool_return(call, seen, std::move(outcome)));
    CHECK(bench.chain.on_overflow(c, {.context_limit_tokens = 1'200, .requested_tokens = 2'300}));
    CHECK(has(c.text(2, 0), "conv/trunc/a -") == false);
    CHECK(has(c.text(2, 0), "Full text: conv/trunc/a]"));
    CHECK(has(c.text(2, 1), "Full text: conv/trunc/a-2]"));
}

TEST_CASE("what was lost when it came in is never stored as if it were whole", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionConfig config = limits(1'000);
    config.max_bytes_without_store = 6'000;
    const auto inner = memory_storage();
    const Bench bench = Bench::of(type, config, {}, {.storage = std::make_shared<FaultyStorage>(inner, 1)});
    AnyConversation c = bench.push(bench.run_text("a", std::string(20'000, 'x'), true));
    REQUIRE(has(c.text(2), "could not be stored"));
    clear(bench, c);
    CHECK(c.text(2) == std::string(plain_placeholder(Language::english)));
    CHECK(keys_in(*inner).empty());
}

TEST_CASE("raw bytes come back also if the key function fails", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.gen_trunc_offload_file_path = [](const ToolDetail&) -> std::string { throw std::runtime_error("E"); };
    const Bench bench = Bench::of(type, limits(1'000), {}, {}, callbacks);
    AnyConversation c = bench.push(bench.run("a", {"ab\xFF\xFE"}));
    CHECK(c.text(2) == "ab\uFFFD\uFFFD");
    REQUIRE(c.undo());
    CHECK(c.text(2) == (type.keeps_bytes ? "ab\xFF\xFE" : "ab\uFFFD\uFFFD"));
}

TEST_CASE("a host's context without a store loses nothing that fits under the cap", "[truncation]") {
    for (const bool streams : {false, true}) {
        Bench bench(limits(1'000));
        ToolContext call = bench.context("a");
        call.storage = nullptr;
        const std::string whole(5'000, 'x');
        CHECK(bench.run_text(call, whole, streams).result.parts.at(0).text == whole);
        CHECK(has(bench.events.back(), "could not be stored"));
    }
}

TEST_CASE("a result that stays whole since its store failed is no placeholder", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench =
        Bench::of(type, limits(1'000), {}, {.storage = std::make_shared<FaultyStorage>(memory_storage(), 1)});
    AnyConversation c = bench.push(bench.run("a", {std::string(5'000, 'x')}));
    CHECK(c.text(2) == std::string(5'000, 'x'));
    CHECK_FALSE(c.outline()[2].parts[0].mark);
    CHECK(c.journal_size() == 0);
}

TEST_CASE("overflow leaves tools whole that truncation leaves whole", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE(type);
    for (const bool excluded : {false, true}) {
        ReductionConfig config = limits(50'000);
        if (excluded) config.trunc_exclude_tools = {"tool"};
        if (!excluded) config.tool_config["tool"].skip_truncation = true;
        const Bench bench = Bench::of(type, config);
        AnyConversation c = bench.push(bench.run("a", {std::string(40'000, 'x')}));
        CHECK_FALSE(bench.chain.on_overflow(c, {.context_limit_tokens = 5'000, .requested_tokens = 10'100}));
        CHECK(c.text(2) == std::string(40'000, 'x'));
    }
}

TEST_CASE("a rewriter does not run where clearing is off, a tool's own switch aside", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const auto&...) { return std::vector<ChatMessage>{}; };
    ReductionConfig config = limits(50'000);
    config.skip_clear = true;
    config.tool_config["grep"].skip_clear = false;
    const Bench bench = Bench::of(type, config, {}, {}, callbacks);
    AnyConversation c = bench.push(bench.run("a", {std::string(4'000, 'x')}));
    clear(bench, c);
    CHECK(c.size() == 4);
}

TEST_CASE("a rewriter that frees too little changes nothing", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const auto&...) { return std::vector<ChatMessage>{}; };
    ReductionConfig config = limits(50'000);
    config.clear_at_least_tokens = 5'000;
    const Bench bench = Bench::of(type, config, {}, {}, callbacks);
    AnyConversation c = bench.push(bench.run("a", {std::string(4'000, 'x')}));
    clear(bench, c);
    CHECK(c.size() == 4);
    CHECK(c.report().stages[0].outcome == Outcome::too_small);
}

TEST_CASE("a handler's object without a key gets a free one, also in a shared folder", "[handlers]") {
    ReductionConfig config = limits(50'000);
    config.root_dir = "shared";
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["tool"].trunc_handler = [](const ToolDetail& detail) {
        return TruncResult{.need_trunc = true,
                           .replacement_parts = {{.text = "short"}},
                           .need_offload = true,
                           .offload_content = detail.result_parts[0].text};
    };
    Bench bench(config, {}, {}, callbacks);
    CHECK(bench.run("a", {"one"}).stored.at(0).key == "shared/trunc/a");
    CHECK(bench.run("a", {"two"}).stored.at(0).key == "shared/trunc/a-2");
}

TEST_CASE("streams name the reader, excluded ones pass, handled ones are replaced", "[truncation]") {
    Bench bench(limits(1'000), "read_file");
    CHECK(has(bench.run_text("a", std::string(9'000, 'x'), true).result.parts[0].text, "with read_file"));
    ReductionConfig excluded = limits(1'000);
    excluded.trunc_exclude_tools = {"tool"};
    CHECK(Bench(excluded).run_text("a", std::string(9'000, 'x'), true).result.parts[0].text == std::string(9'000, 'x'));
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["tool"].trunc_handler = [](const ToolDetail&) {
        return TruncResult{.need_trunc = true,
                           .replacement_parts = {{.text = "truncated"}},
                           .need_offload = true,
                           .offload_content = "full content"};
    };
    Bench handled(limits(1'000), {}, {}, callbacks);
    CHECK(handled.run_text("a", "a stream", true).result.parts[0].text == "truncated");
    CHECK(handled.storage->get("conv/trunc/a") == "full content");
}
