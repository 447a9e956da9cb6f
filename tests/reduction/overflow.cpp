#include "support/catch.hpp"
#include "tools.hpp"
#include "whittle/reduction/reduction.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// One round of four parallel reads; nothing is old, so nothing can be cleared.
AnyConversation parallel_reads(const MessageType& type, std::size_t bytes, const std::string& arguments = "{}") {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    ChatMessage calls = ChatMessage::assistant("");
    for (const char* id : {"a", "b", "c", "d"}) calls.call(id, "read", arguments);
    c.push_back(calls);
    for (const char* id : {"a", "b", "c", "d"})
        c.push_back(ChatMessage::result(id, "read", id + std::string(bytes, 'x')));
    return c;
}

ReductionConfig config() { return {.max_tokens_for_clear = 1'000'000}; }

}  // namespace

TEST_CASE("on overflow the results of the newest round are shortened, and come back with undo", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, config());
    AnyConversation c = parallel_reads(type, 40'000);
    CHECK(bench.chain.on_overflow(c, {.context_limit_tokens = 20'000, .requested_tokens = 40'100}));
    CHECK(c.tokens(chars_counter()) <= 20'000);
    for (std::size_t i = 2; i < 6; ++i) CHECK(c.text(i).find("conv/trunc/") != std::string::npos);
    CHECK(bench.storage->get("conv/trunc/c") == "c" + std::string(40'000, 'x'));
    CHECK(validate(c.outline(), openai_chat()).empty());
    CHECK(bench.chain.context_window(c) == 20'000);
    REQUIRE(c.undo());
    CHECK(c.text(4) == "c" + std::string(40'000, 'x'));
}

TEST_CASE("on overflow old rounds go first, and the newest is left alone if that is enough", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, config());
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    for (const char* id : {"a", "b"}) {
        c.push_back(ChatMessage::assistant("").call(id, "read"));
        c.push_back(ChatMessage::result(id, "read", id + std::string(40'000, 'x')));
    }
    CHECK(bench.chain.on_overflow(c, {.context_limit_tokens = 15'000, .requested_tokens = 20'100}));
    CHECK(c.text(2).find("conv/clear/a") != std::string::npos);
    CHECK(c.text(4) == "b" + std::string(40'000, 'x'));
}

TEST_CASE("pins and protected tools stay whole even on overflow", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, config(), {}, {.protected_tools = {"read"}});
    AnyConversation c = parallel_reads(type, 40'000);
    CHECK_FALSE(bench.chain.on_overflow(c, {.context_limit_tokens = 20'000, .requested_tokens = 40'100}));
    const Bench other = Bench::of(type, config());
    AnyConversation d = parallel_reads(type, 40'000);
    d.pin(d.outline()[2].serial);
    CHECK(other.chain.on_overflow(d, {.context_limit_tokens = 20'000, .requested_tokens = 40'100}));
    CHECK(d.text(2) == "a" + std::string(40'000, 'x'));
    CHECK(d.text(3).size() < 40'000);
}

TEST_CASE("a result that was shortened before is shortened again without a second object", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 30'000, .max_tokens_for_clear = 1'000'000});
    AnyConversation c = bench.push(bench.run("a", {std::string(90'000, 'x')}));
    CHECK(bench.chain.on_overflow(c, {.context_limit_tokens = 4'000, .requested_tokens = 8'000}));
    CHECK(c.tokens(chars_counter()) <= 4'000);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(c.text(2) == std::string(90'000, 'x'));
}

TEST_CASE("the provider's own numbers scale the goal, for its tokens are not ours", "[overflow]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, config());
    AnyConversation c = parallel_reads(type, 40'000);
    const std::int64_t ours = c.tokens(chars_counter());
    CHECK(bench.chain.on_overflow(c, {.context_limit_tokens = 2 * ours, .requested_tokens = 4 * ours}));
    CHECK(c.tokens(chars_counter()) <= ours / 2);
}

TEST_CASE("clearing what was truncated names the object that is there and writes none", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 2'000, .max_tokens_for_clear = 100});
    AnyConversation c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    c.push_back(ChatMessage::result("b", "tool", "fine"));
    for (int i = 0; i < 10; ++i) bench.chain.before_model(c);
    CHECK(c.text(2).find("Old tool result cleared") != std::string::npos);
    CHECK(c.text(2).find("conv/trunc/a") != std::string::npos);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    c.restore_and_pin(c.outline()[2].serial);
    CHECK(c.text(2) == std::string(9'000, 'x'));
}

TEST_CASE("clearing a truncated result of several parts stores no notice as if it were an original", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_texts);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 2'000, .max_tokens_for_clear = 100});
    AnyConversation c = bench.push(bench.run("a", {std::string(9'000, 'x'), std::string(9'000, 'y'), "short"}));
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    c.push_back(ChatMessage::result("b", "tool", "fine"));
    for (int i = 0; i < 10; ++i) bench.chain.before_model(c);
    CHECK(c.text(2).find("cleared") != std::string::npos);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(c.text(2, 1) == std::string(9'000, 'y'));
    CHECK(c.text(2, 2) == "short");
}

TEST_CASE("what a call reads back is not truncated again but paged, and cleared without a second object",
          "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 2'000, .max_tokens_for_clear = 100});
    AnyConversation c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    c.push_back(ChatMessage::assistant("").call("r", "read_file", R"({"deep":[{"path":"conv/trunc/a"}]})"));
    const auto calls = bench.chain.pending_tool_calls(c);
    REQUIRE(calls.size() == 1);
    const ToolReturn page = bench.run(calls[0], {Part{.text = std::string(1'900, 'x')}});
    CHECK(page.result.parts[0].text == std::string(1'900, 'x'));
    CHECK(page.read_back == std::vector<std::string>{"conv/trunc/a"});
    const std::string too_much = bench.run(calls[0], {Part{.text = std::string(9'000, 'x')}}).result.parts[0].text;
    CHECK(too_much.starts_with(std::string(2'000, 'x') + "\n\n[The first 2000 of 9000 bytes"));
    CHECK(too_much.find("smaller range. Full text: conv/trunc/a") != std::string::npos);
    c.push_tool_results(page);
    CHECK(c.read_backs() == 1);
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    const std::size_t objects = bench.keys().size();
    bench.chain.before_model(c);
    CHECK(c.text(4).find("conv/trunc/a") != std::string::npos);
    CHECK(bench.keys().size() == objects);
    c.restore_and_pin(c.outline()[4].serial);
    CHECK(c.text(4) == std::string(1'900, 'x'));
}

TEST_CASE("a reference of another conversation, or one that nobody stored, gets no exemption", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_arguments);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 2'000});
    AnyConversation other(type, "other");
    bench.storage->put_if_absent("other/trunc/a", "secret");
    AnyConversation c = bench.push(bench.run("a", {std::string(9'000, 'x')}));
    for (const char* arguments : {R"({"path":"other/trunc/a"})", R"({"path":"conv/trunc/b"})", "no json", ""}) {
        c.push_back(ChatMessage::assistant("").call("r", "cat", arguments));
        const auto calls = bench.chain.pending_tool_calls(c);
        const ToolReturn back = bench.run(calls.back(), {Part{.text = std::string(9'000, 'y')}});
        CHECK(back.read_back.empty());
        CHECK(back.result.parts[0].text.find("cat result truncated") != std::string::npos);
        c.push_tool_results(back);
    }
}

TEST_CASE("a chain warns once if what it stores could not be read back", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    std::vector<std::string> warnings;
    const EventSink on_event = [&](const Event& event) {
        if (event.kind == "warning") warnings.emplace_back(event.text);
    };
    const auto chain_with = [&](std::shared_ptr<Storage> storage) {
        return AnyChain(type, ChainConfig{.storage = std::move(storage)}, {.skip_truncation = true}, {}, on_event);
    };
    const std::vector<ToolSpec> offered{{.name = "read_offloaded", .description = {}}};
    for (int i = 0; i < 2; ++i) {
        AnyConversation c(type);
        const AnyChain none = chain_with(nullptr);
        none.before_model(c);
        const AnyChain with_reader = chain_with(memory_storage());
        with_reader.before_model(c, {.tools = offered});
    }
    CHECK(warnings.empty());
    const AnyChain blind = chain_with(memory_storage());
    for (int i = 0; i < 3; ++i) {
        AnyConversation c(type);
        blind.before_model(c);
    }
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("reduction.read_file_tool_name") != std::string::npos);
}

TEST_CASE("a request that is known to be above a known window is made to fit before it is sent", "[overflow]") {
    std::vector<std::string> events;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) {
        if (event.kind == "above_window") events.emplace_back(event.kind);
    };
    ChainConfig chain_config{.profile = {.context_window = 20'000, .output_reserve = 2'000},
                             .storage = memory_storage()};
    const Chain<> chain{chain_config, callbacks, Reduction<>{config()}};
    Conversation<> c("batch");
    c.push_back(ChatMessage::user("go"));
    ChatMessage calls = ChatMessage::assistant("");
    for (const char* id : {"a", "b", "c", "d"}) calls.call(id, "read", "{}");
    c.push_back(calls);
    for (const char* id : {"a", "b", "c", "d"})
        c.push_back(ChatMessage::result(id, "read", id + std::string(40'000, 'x')));
    const std::vector<ChatMessage> before(c.messages().begin(), c.messages().end());
    const Report& report = chain.before_model(c);
    CHECK(report.changed());
    CHECK(report.hook == Hook::before_model);
    CHECK(report.tokens_before > 40'000);
    CHECK(report.tokens_after <= 18'000);
    CHECK(report.stages.back().hook == Hook::on_overflow);
    CHECK(events.empty());
    CHECK_FALSE(chain.before_model(c).changed());
    while (c.undo()) {
    }
    CHECK(std::vector<ChatMessage>(c.messages().begin(), c.messages().end()) == before);
    // What may not be touched is told once, and not tried again.
    c.pin(c.outline()[5].serial);
    for (std::size_t i = 2; i < 5; ++i) c.pin(c.outline()[i].serial);
    CHECK_FALSE(chain.before_model(c).changed());
    CHECK_FALSE(chain.before_model(c).changed());
    CHECK(events == std::vector<std::string>{"above_window"});
    // Without a window nobody knows, and a dry run only says what ordinary stages would do.
    Conversation<> unknown = c.fork("unknown");
    for (std::size_t i = 2; i < 6; ++i) unknown.unpin(unknown.outline()[i].serial);
    chain_config.profile.context_window = 0;
    CHECK_FALSE(Chain<>(chain_config, {}, {std::make_shared<Reduction<>>(config())}).before_model(unknown).changed());
}
