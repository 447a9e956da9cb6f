#include "support/catch.hpp"
#include "tools.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// One round of four parallel reads; nothing is old, so nothing can be cleared.
Conversation<> parallel_reads(std::size_t bytes, const std::string& arguments = "{}") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("go"));
    ChatMessage calls = ChatMessage::assistant("");
    for (const char* id : {"a", "b", "c", "d"}) calls.call(id, "read", arguments);
    c.push_back(calls);
    for (const char* id : {"a", "b", "c", "d"})
        c.push_back(ChatMessage::result(id, "read", id + std::string(bytes, 'x')));
    return c;
}

ReductionConfig config() { return {.max_tokens_for_clear = 1'000'000}; }

std::string text(const Conversation<>& c, std::size_t message) { return c.messages()[message].parts[0].text; }

}  // namespace

TEST_CASE("DE28: on overflow the results of the newest round are shortened, and come back with undo", "[overflow]") {
    Bench bench(config());
    Conversation<> c = parallel_reads(40'000);
    CHECK(bench.chain.on_overflow(c, {.limit = 20'000, .used = 40'100}));
    CHECK(c.tokens(chars()) <= 20'000);
    for (std::size_t i = 2; i < 6; ++i) CHECK(text(c, i).find("conv/trunc/") != std::string::npos);
    CHECK(bench.storage->get("conv/trunc/c") == "c" + std::string(40'000, 'x'));
    CHECK(validate(c.outline(), openai_chat()).empty());
    CHECK(bench.chain.context_window(c) == 20'000);
    REQUIRE(c.undo());
    CHECK(text(c, 4) == "c" + std::string(40'000, 'x'));
}

TEST_CASE("on overflow old rounds go first, and the newest is left alone if that is enough", "[overflow]") {
    Bench bench(config());
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("go"));
    for (const char* id : {"a", "b"}) {
        c.push_back(ChatMessage::assistant("").call(id, "read"));
        c.push_back(ChatMessage::result(id, "read", id + std::string(40'000, 'x')));
    }
    CHECK(bench.chain.on_overflow(c, {.limit = 15'000, .used = 20'100}));
    CHECK(text(c, 2).find("conv/clear/a") != std::string::npos);
    CHECK(text(c, 4) == "b" + std::string(40'000, 'x'));
}

TEST_CASE("pins and protected tools stay whole even on overflow", "[overflow]") {
    Bench bench(config(), {}, {.protected_tools = {"read"}});
    Conversation<> c = parallel_reads(40'000);
    CHECK_FALSE(bench.chain.on_overflow(c, {.limit = 20'000, .used = 40'100}));
    Bench other(config());
    Conversation<> d = parallel_reads(40'000);
    d.pin(d.outline()[2].serial);
    CHECK(other.chain.on_overflow(d, {.limit = 20'000, .used = 40'100}));
    CHECK(text(d, 2) == "a" + std::string(40'000, 'x'));
    CHECK(text(d, 3).size() < 40'000);
}

TEST_CASE("a result that was shortened before is shortened again without a second object", "[overflow]") {
    Bench bench({.max_length_for_trunc = 30'000, .max_tokens_for_clear = 1'000'000});
    Conversation<> c = bench.push(bench.run("a", {std::string(90'000, 'x')}));
    CHECK(bench.chain.on_overflow(c, {.limit = 4'000, .used = 8'000}));
    CHECK(c.tokens(chars()) <= 4'000);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(text(c, 2) == std::string(90'000, 'x'));
}

TEST_CASE("the provider's own numbers scale the goal, for its tokens are not ours", "[overflow]") {
    Bench bench(config());
    Conversation<> c = parallel_reads(40'000);
    const std::int64_t ours = c.tokens(chars());
    CHECK(bench.chain.on_overflow(c, {.limit = 2 * ours, .used = 4 * ours}));
    CHECK(c.tokens(chars()) <= ours / 2);
}

// ---- truncation and clearing together

TEST_CASE("D21: clearing what was truncated names the object that is there and writes none", "[reduction]") {
    Bench bench({.max_length_for_trunc = 2'000, .max_tokens_for_clear = 100});
    Conversation<> c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    c.push_back(ChatMessage::result("b", "tool", "fine"));
    for (int i = 0; i < 10; ++i) bench.chain.before_model(c);
    CHECK(text(c, 2).find("Old tool result cleared") != std::string::npos);
    CHECK(text(c, 2).find("conv/trunc/a") != std::string::npos);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    c.restore(c.outline()[2].serial);
    CHECK(text(c, 2) == std::string(9'000, 'x'));
}

TEST_CASE("clearing a truncated result of several parts stores no notice as if it were an original", "[reduction]") {
    Bench bench({.max_length_for_trunc = 2'000, .max_tokens_for_clear = 100});
    Conversation<> c = bench.push(bench.run("a", {std::string(9'000, 'x'), std::string(9'000, 'y'), "short"}));
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    c.push_back(ChatMessage::result("b", "tool", "fine"));
    for (int i = 0; i < 10; ++i) bench.chain.before_model(c);
    CHECK(text(c, 2).find("cleared") != std::string::npos);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(c.messages()[2].parts[1].text == std::string(9'000, 'y'));
    CHECK(c.messages()[2].parts[2].text == "short");
}

TEST_CASE("D15: what a call reads back is not truncated again but paged, and cleared without a second object",
          "[reduction]") {
    Bench bench({.max_length_for_trunc = 2'000, .max_tokens_for_clear = 100});
    Conversation<> c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    c.push_back(ChatMessage::assistant("").call("r", "read_file", R"({"deep":[{"path":"conv/trunc/a"}]})"));
    const auto calls = bench.chain.prepare_tools(c);
    REQUIRE(calls.size() == 1);
    const ToolReturn page = bench.run(calls[0], {Part{.text = std::string(1'900, 'x')}});
    CHECK(page.result.parts[0].text == std::string(1'900, 'x'));
    CHECK(page.read_back == std::vector<std::string>{"conv/trunc/a"});
    const std::string too_much = bench.run(calls[0], {Part{.text = std::string(9'000, 'x')}}).result.parts[0].text;
    CHECK(too_much.starts_with(std::string(2'000, 'x') + "\n\n[The first 2000 of 9000 bytes"));
    CHECK(too_much.find("smaller range of conv/trunc/a") != std::string::npos);
    c.push_tool_results(std::vector{page});
    CHECK(c.read_backs() == 1);
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    const std::size_t objects = bench.keys().size();
    bench.chain.before_model(c);
    CHECK(text(c, 4).find("conv/trunc/a") != std::string::npos);
    CHECK(bench.keys().size() == objects);
    c.restore(c.outline()[4].serial);
    CHECK(text(c, 4) == std::string(1'900, 'x'));
}

TEST_CASE("a reference of another conversation, or one that nobody stored, gets no exemption", "[reduction]") {
    Bench bench({.max_length_for_trunc = 2'000});
    Conversation<> other("other");
    bench.storage->put_if_absent("other/trunc/a", "secret");
    Conversation<> c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    for (const char* arguments : {R"({"path":"other/trunc/a"})", R"({"path":"conv/trunc/b"})", "no json", ""}) {
        c.push_back(ChatMessage::assistant("").call("r", "cat", arguments));
        const auto calls = bench.chain.prepare_tools(c);
        const ToolReturn back = bench.run(calls.back(), {Part{.text = std::string(9'000, 'y')}});
        CHECK(back.read_back.empty());
        CHECK(back.result.parts[0].text.find("cat result truncated") != std::string::npos);
        c.push_tool_results(std::vector{back});
    }
}

TEST_CASE("a chain warns once if what it stores could not be read back", "[reduction]") {
    std::vector<std::string> warnings;
    const ChainCallbacks<> callbacks{.on_event = [&](const Event& event) {
        if (event.kind == "warning") warnings.emplace_back(event.text);
    }};
    const auto chain_with = [&](std::shared_ptr<Storage> storage) {
        return Chain<>(ChainConfig{.storage = std::move(storage)}, callbacks,
                       {std::make_shared<Reduction<>>(ReductionConfig{.skip_truncation = true})});
    };
    const std::vector<ToolSpec> reader{{.name = "read_offloaded", .description = {}}};
    for (int i = 0; i < 2; ++i) {
        Conversation<> c;
        const Chain<> none = chain_with(nullptr);
        none.before_model(c);
        const Chain<> with_reader = chain_with(memory_storage());
        with_reader.before_model(c, {.tools = reader});
    }
    CHECK(warnings.empty());
    const Chain<> blind = chain_with(memory_storage());
    for (int i = 0; i < 3; ++i) {
        Conversation<> c;
        blind.before_model(c);
    }
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("reduction.read_file_tool_name") != std::string::npos);
}
